/*
 * The calls into a store: what is checked before any backend sees a call, what
 * is derived from its answer, and the context of every error. The contract is
 * in store.h.
 */
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/trace.h"
#include "base/url.h"

#define KEY_BYTES                                                              \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

#define KEY_RULE                                                               \
    "segments of [A-Za-z0-9._-], joined by '/', none with a '.' first, at "    \
    "most 256 bytes"

/* How much of a URL a message shows, so that its reason is not cut off. */
#define SHOWN "%.160s"

void lks_store_init(struct lks_store *store,
                    const struct lks_store_ops *ops,
                    const struct lks_env *env,
                    const char *url_format,
                    ...)
{
    va_list args;

    assert(ops != NULL);
    assert(env != NULL);

    store->ops = ops;
    store->env = env;
    store->pid = lks_env_pid(env);
    for (int kind = 0; kind < LKS_REQUEST_COUNT; kind++)
        atomic_init(&store->request_counts[kind], 0);
    va_start(args, url_format);
    vsnprintf(store->url, sizeof(store->url), url_format, args);
    va_end(args);
}

static bool is_prefix_or_key(const char *text, bool whole)
{
    const char *segment = text;

    if (strnlen(text, LKS_KEY_SIZE_MAX + 1) > LKS_KEY_SIZE_MAX)
        return false;

    for (;;) {
        size_t size = strspn(segment, KEY_BYTES);

        if (segment[0] == '.')
            return false;
        if (segment[size] == '\0')
            return size > 0 || !whole;
        if (segment[size] != '/' || size == 0)
            return false;
        segment += size + 1;
    }
}

bool lks_key_is_valid(const char *key)
{
    return is_prefix_or_key(key, true);
}

bool lks_key_prefix_is_valid(const char *prefix)
{
    return is_prefix_or_key(prefix, false);
}

enum lks_status lks_store_connect(const char *url,
                                  const struct lks_env *env,
                                  const struct lks_options *options,
                                  struct lks_store **out_store,
                                  struct lks_error *error)
{
    struct lks_url parsed;
    enum lks_status status;
    bool durable;

    assert(env != NULL);
    assert(out_store != NULL);

    status = lks_url_parse(url, &parsed, error);
    if (status != LKS_OK)
        return status;

    switch (parsed.kind) {
    case LKS_URL_MEM:
        return lks_store_mem_open(parsed.authority, env, out_store, error);
    case LKS_URL_FILE:
        durable = lks_options_number(options, LKS_OPTION_DURABILITY) == 0;
        return lks_store_file_open(parsed.path, env, durable, out_store, error);
    case LKS_URL_S3:
        break;
    }
    return lks_store_s3_open(parsed.authority, parsed.path, env, options,
                             out_store, error);
}

void lks_store_close(struct lks_store *store)
{
    /* In a child after fork(), everything in it is the parent's. */
    if (store == NULL || store->pid != lks_env_pid(store->env))
        return;
    store->ops->close(store);
}

static enum lks_status refuse_key(const char *key, struct lks_error *error)
{
    return lks_error_set(error, LKS_INVALID, "'%.100s' is not a key: %s", key,
                         KEY_RULE);
}

/* What holds for every call, before the backend is asked. */
static enum lks_status begin(struct lks_store *store,
                             struct lks_call *call,
                             struct lks_error *error)
{
    int64_t pid = lks_env_pid(store->env);

    call->date_ms = INT64_MIN;
    call->throttled = false;
    call->object_size = 0;
    call->etag[0] = '\0';
    call->modified_ms = 0;
    call->request_count = 0;

    if (store->pid != pid)
        return lks_error_set(error, LKS_INVALID,
                             "the store was opened by process %" PRId64
                             " and cannot be used in its child %" PRId64
                             " after fork()",
                             store->pid, pid);
    if (lks_cancelled(call->cancel))
        return lks_error_set(error, LKS_CANCELLED, "cancelled");
    return LKS_OK;
}

static enum lks_status begin_key(struct lks_store *store,
                                 const char *key,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    if (!lks_key_is_valid(key))
        return refuse_key(key, error);
    return begin(store, call, error);
}

static enum lks_status begin_prefix(struct lks_store *store,
                                    const char *prefix,
                                    struct lks_call *call,
                                    struct lks_error *error)
{
    if (!lks_key_prefix_is_valid(prefix))
        return refuse_key(prefix, error);
    return begin(store, call, error);
}

static void count_requests(struct lks_store *store,
                           enum lks_request kind,
                           const struct lks_call *call)
{
    atomic_fetch_add_explicit(&store->request_counts[kind], call->request_count,
                              memory_order_relaxed);
}

static void trace(const struct lks_store *store,
                  const char *operation,
                  const char *key,
                  uint64_t size,
                  enum lks_status status)
{
    LKS_TRACE(LKS_AREA_STORE, "%s %s/%s size=%" PRIu64 " %s", operation,
              store->url, key, size, lks_status_name(status));
}

enum lks_status lks_store_stat(struct lks_store *store,
                               const char *key,
                               struct lks_call *call,
                               struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    enum lks_status status;

    call = call != NULL ? call : &unasked;
    status = begin_key(store, key, call, error);
    if (status == LKS_OK)
        status = store->ops->stat(store, key, call, error);
    count_requests(store, LKS_REQUEST_STAT, call);
    trace(store, "stat", key, call->object_size, status);
    if (status != LKS_OK)
        lks_error_prefix(error, status, "stat " SHOWN "/%s", store->url, key);
    return status;
}

enum lks_status lks_store_get(struct lks_store *store,
                              const char *key,
                              uint64_t offset,
                              void *data,
                              size_t size,
                              size_t *out_size,
                              struct lks_call *call,
                              struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    enum lks_status status;
    size_t got = 0;

    assert(data != NULL || size == 0);
    assert(size <= INT64_MAX);

    call = call != NULL ? call : &unasked;
    if (size == 0) {
        status = lks_store_stat(store, key, call, error);
        if (status == LKS_OK)
            *out_size = 0;
        return status;
    }

    status = begin_key(store, key, call, error);
    if (status == LKS_OK && offset > (uint64_t)INT64_MAX - size)
        status = lks_error_set(error, LKS_INVALID, "no object is so large");
    if (status == LKS_OK)
        status =
            store->ops->get(store, key, offset, data, size, &got, call, error);
    count_requests(store, LKS_REQUEST_GET, call);
    trace(store, "get", key, got, status);
    if (status != LKS_OK)
        return lks_error_prefix(error, status,
                                "get " SHOWN "/%s bytes %" PRIu64 "-%" PRIu64,
                                store->url, key, offset, offset + size - 1);
    assert(got <= size);
    *out_size = got;
    return LKS_OK;
}

enum lks_status lks_store_get_exact(struct lks_store *store,
                                    const char *key,
                                    uint64_t offset,
                                    void *data,
                                    size_t size,
                                    struct lks_call *call,
                                    struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    enum lks_status status;
    size_t got = 0;

    call = call != NULL ? call : &unasked;
    status = lks_store_get(store, key, offset, data, size, &got, call, error);
    if (status != LKS_OK || got == size)
        return status;
    return lks_error_set(error, LKS_CORRUPT,
                         "get " SHOWN "/%s bytes %" PRIu64 "-%" PRIu64
                         ": the object has only %" PRIu64 " bytes",
                         store->url, key, offset, offset + size - 1,
                         call->object_size);
}

/* The part of an object that a first read left, into the buffer's end. */
static enum lks_status get_rest(struct lks_store *store,
                                const char *key,
                                uint64_t offset,
                                struct lks_buf *buf,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct lks_call first = *call;
    uint64_t rest = first.object_size - offset;
    enum lks_status status;

    if (rest > buf->size_max - buf->size)
        return lks_error_set(error, LKS_CORRUPT,
                             "get " SHOWN "/%s: its %" PRIu64
                             " bytes are more than the %zu it may have",
                             store->url, key, first.object_size, buf->size_max);
    status = lks_buf_reserve(buf, (size_t)rest, error);
    if (status != LKS_OK)
        return status;
    status = lks_store_get_exact(store, key, offset, buf->data + buf->size,
                                 (size_t)rest, call, error);
    call->request_count += first.request_count;
    call->throttled |= first.throttled;
    if (status != LKS_OK)
        return status;
    if (strcmp(first.etag, call->etag) != 0)
        return lks_error_set(error, LKS_CORRUPT,
                             "get " SHOWN "/%s: it changed while being read",
                             store->url, key);
    buf->size += (size_t)rest;
    return LKS_OK;
}

enum lks_status lks_store_get_all(struct lks_store *store,
                                  const char *key,
                                  size_t size_guess,
                                  struct lks_buf *buf,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    size_t size_before = buf->size;
    enum lks_status status;
    size_t got = 0;

    call = call != NULL ? call : &unasked;
    if (size_guess > buf->size_max - buf->size)
        size_guess = buf->size_max - buf->size;
    status = lks_buf_reserve(buf, size_guess, error);
    if (status != LKS_OK)
        return status;

    status = lks_store_get(store, key, 0, buf->data + buf->size, size_guess,
                           &got, call, error);
    if (status != LKS_OK)
        return status;
    buf->size += got;
    if (got < call->object_size)
        status = get_rest(store, key, got, buf, call, error);
    if (status != LKS_OK)
        buf->size = size_before;
    return status;
}

static enum lks_status write_object(struct lks_store *store,
                                    const char *key,
                                    const struct lks_part *parts,
                                    size_t part_count,
                                    bool only_if_absent,
                                    struct lks_call *call,
                                    struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    const char *operation = only_if_absent ? "create" : "put";
    enum lks_status status;
    uint64_t size = 0;

    assert(parts != NULL || part_count == 0);
    for (size_t i = 0; i < part_count; i++) {
        assert(parts[i].data != NULL || parts[i].size == 0);
        assert(parts[i].size <= (uint64_t)INT64_MAX - size);
        size += parts[i].size;
    }

    call = call != NULL ? call : &unasked;
    status = begin_key(store, key, call, error);
    if (status == LKS_OK)
        status = store->ops->put(store, key, parts, part_count, only_if_absent,
                                 call, error);
    assert(status != LKS_EXISTS || only_if_absent);
    count_requests(store, LKS_REQUEST_PUT, call);
    trace(store, operation, key, size, status);
    if (status != LKS_OK)
        lks_error_prefix(error, status, "%s " SHOWN "/%s (%" PRIu64 " bytes)",
                         operation, store->url, key, size);
    return status;
}

enum lks_status lks_store_put(struct lks_store *store,
                              const char *key,
                              const struct lks_part *parts,
                              size_t part_count,
                              struct lks_call *call,
                              struct lks_error *error)
{
    return write_object(store, key, parts, part_count, false, call, error);
}

enum lks_status lks_store_create(struct lks_store *store,
                                 const char *key,
                                 const struct lks_part *parts,
                                 size_t part_count,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    return write_object(store, key, parts, part_count, true, call, error);
}

enum lks_status lks_store_list(struct lks_store *store,
                               const char *prefix,
                               const char *after,
                               size_t max,
                               struct lks_listed *listed,
                               size_t *out_count,
                               struct lks_call *call,
                               struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    enum lks_status status;
    size_t count = 0;

    assert(listed != NULL);
    assert(max > 0);
    assert(max <= LKS_LIST_MAX);

    call = call != NULL ? call : &unasked;
    status = begin_prefix(store, prefix, call, error);
    if (status == LKS_OK && !lks_key_prefix_is_valid(after))
        status = refuse_key(after, error);
    if (status == LKS_OK)
        status = store->ops->list(store, prefix, after, max, listed, &count,
                                  call, error);
    count_requests(store, LKS_REQUEST_LIST, call);
    trace(store, "list", prefix, count, status);
    if (status != LKS_OK)
        return lks_error_prefix(error, status,
                                "list " SHOWN "/%.100s* after '%.100s'",
                                store->url, prefix, after);
    assert(count <= max);
    *out_count = count;
    return LKS_OK;
}

enum lks_status lks_store_remove(struct lks_store *store,
                                 const char *const *keys,
                                 size_t key_count,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    const char *first = key_count > 0 ? keys[0] : "";
    enum lks_status status = LKS_OK;

    assert(keys != NULL || key_count == 0);
    assert(key_count <= LKS_REMOVE_MAX);

    call = call != NULL ? call : &unasked;
    for (size_t i = 0; i < key_count && status == LKS_OK; i++) {
        if (!lks_key_is_valid(keys[i]))
            status = refuse_key(keys[i], error);
    }
    if (status == LKS_OK)
        status = begin(store, call, error);
    if (status == LKS_OK && key_count > 0)
        status = store->ops->remove(store, keys, key_count, call, error);
    count_requests(store, LKS_REQUEST_REMOVE, call);
    trace(store, "remove", first, key_count, status);
    if (status != LKS_OK)
        lks_error_prefix(error, status, "remove " SHOWN "/%.100s (%zu keys)",
                         store->url, first, key_count);
    return status;
}

enum lks_status lks_store_uploads(struct lks_store *store,
                                  const char *prefix,
                                  const struct lks_upload *after,
                                  size_t max,
                                  struct lks_upload *uploads,
                                  size_t *out_count,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    enum lks_status status;
    size_t count = 0;

    assert(uploads != NULL);
    assert(max > 0);
    assert(max <= LKS_UPLOADS_MAX);
    assert(after == NULL || lks_key_is_valid(after->key));

    call = call != NULL ? call : &unasked;
    status = begin_prefix(store, prefix, call, error);
    if (status == LKS_OK && store->ops->uploads != NULL)
        status = store->ops->uploads(store, prefix, after, max, uploads, &count,
                                     call, error);
    count_requests(store, LKS_REQUEST_LIST, call);
    trace(store, "uploads", prefix, count, status);
    if (status != LKS_OK)
        return lks_error_prefix(error, status,
                                "list uploads of " SHOWN "/%.100s*", store->url,
                                prefix);
    assert(count <= max);
    *out_count = count;
    return LKS_OK;
}

enum lks_status lks_store_abort(struct lks_store *store,
                                const struct lks_upload *upload,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct lks_call unasked = LKS_CALL_INIT;
    enum lks_status status;

    assert(store->ops->abort != NULL);

    call = call != NULL ? call : &unasked;
    status = begin_key(store, upload->key, call, error);
    if (status == LKS_OK)
        status = store->ops->abort(store, upload, call, error);
    count_requests(store, LKS_REQUEST_REMOVE, call);
    trace(store, "abort", upload->key, 0, status);
    if (status != LKS_OK)
        lks_error_prefix(error, status, "abort the upload of " SHOWN "/%s",
                         store->url, upload->key);
    return status;
}
