/*
 * A store that fails when it is told to.
 */
#include "support/store_faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static enum fault decide(struct lks_store *store,
                         enum faulty_op op,
                         const char *key)
{
    struct faulty_store *faulty = (struct faulty_store *)store;
    fault_fn *decide_fault = atomic_load(&faulty->decide);

    faulty->counts[op]++;
    return decide_fault == NULL ? FAULT_NONE
                                : decide_fault(op, key, faulty->arg);
}

static struct lks_store *inner_of(struct lks_store *store)
{
    return ((struct faulty_store *)store)->inner;
}

/* The call's outcome once `fault` has had its way with it. */
static enum lks_status spoil(struct lks_store *store,
                             enum fault fault,
                             enum lks_status status,
                             const char *what,
                             const char *key,
                             bool is_write,
                             struct lks_call *call,
                             struct lks_error *error)
{
    struct faulty_store *faulty = (struct faulty_store *)store;

    if (call != NULL && call->date_ms != INT64_MIN)
        call->date_ms += faulty->date_add_ms;
    if (fault == FAULT_NONE)
        return status;
    if (call != NULL) {
        call->date_ms = INT64_MIN;
        call->throttled = fault == FAULT_THROTTLE;
    }
    return lks_error_set(error,
                         is_write && fault != FAULT_FAIL ? LKS_UNSURE
                                                         : LKS_UNAVAILABLE,
                         "%s %s: a fault of the test", what, key);
}

static enum lks_status faulty_get(struct lks_store *store,
                                  const char *key,
                                  uint64_t offset,
                                  void *data,
                                  size_t size,
                                  size_t *out_size,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    enum fault fault = decide(store, FAULTY_GET, key);
    enum lks_status status = LKS_OK;

    if (fault == FAULT_NONE)
        status = lks_store_get(inner_of(store), key, offset, data, size,
                               out_size, call, error);
    return spoil(store, fault, status, "get", key, false, call, error);
}

static enum lks_status faulty_put(struct lks_store *store,
                                  const char *key,
                                  const struct lks_part *parts,
                                  size_t part_count,
                                  bool only_if_absent,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    enum faulty_op op = only_if_absent ? FAULTY_CREATE : FAULTY_PUT;
    enum fault fault = decide(store, op, key);
    enum lks_status status = LKS_OK;

    if (fault == FAULT_NONE || fault == FAULT_LOSE_REPLY)
        status = (only_if_absent ? lks_store_create
                                 : lks_store_put)(inner_of(store), key, parts,
                                                  part_count, call, error);
    return spoil(store, fault, status, "put", key, true, call, error);
}

static enum lks_status faulty_list(struct lks_store *store,
                                   const char *prefix,
                                   const char *after,
                                   size_t max,
                                   struct lks_listed *listed,
                                   size_t *out_count,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    enum fault fault = decide(store, FAULTY_LIST, prefix);
    enum lks_status status = LKS_OK;

    if (fault == FAULT_NONE)
        status = lks_store_list(inner_of(store), prefix, after, max, listed,
                                out_count, call, error);
    return spoil(store, fault, status, "list", prefix, false, call, error);
}

static enum lks_status faulty_remove(struct lks_store *store,
                                     const char *const *keys,
                                     size_t key_count,
                                     struct lks_call *call,
                                     struct lks_error *error)
{
    const char *first = key_count > 0 ? keys[0] : "";
    enum fault fault = decide(store, FAULTY_REMOVE, first);
    enum lks_status status = LKS_OK;

    if (fault == FAULT_NONE || fault == FAULT_LOSE_REPLY)
        status =
            lks_store_remove(inner_of(store), keys, key_count, call, error);
    return spoil(store, fault, status, "remove", first, true, call, error);
}

static enum lks_status faulty_stat(struct lks_store *store,
                                   const char *key,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    enum fault fault = decide(store, FAULTY_STAT, key);
    enum lks_status status = LKS_OK;

    if (fault == FAULT_NONE)
        status = lks_store_stat(inner_of(store), key, call, error);
    return spoil(store, fault, status, "stat", key, false, call, error);
}

static enum lks_status faulty_uploads(struct lks_store *store,
                                      const char *prefix,
                                      const struct lks_upload *after,
                                      size_t max,
                                      struct lks_upload *uploads,
                                      size_t *out_count,
                                      struct lks_call *call,
                                      struct lks_error *error)
{
    struct faulty_store *faulty = (struct faulty_store *)store;
    enum fault fault = decide(store, FAULTY_LIST, prefix);
    size_t count = 0;

    if (faulty->uploads_status != LKS_OK)
        return lks_error_set(error, faulty->uploads_status,
                             "uploads: a fault of the test");
    for (size_t i = 0; i < faulty->upload_count && count < max; i++) {
        if (after == NULL || strcmp(faulty->uploads[i].id, after->id) > 0)
            uploads[count++] = faulty->uploads[i];
    }
    *out_count = count;
    return spoil(store, fault, LKS_OK, "uploads", prefix, false, call, error);
}

static enum lks_status faulty_abort(struct lks_store *store,
                                    const struct lks_upload *upload,
                                    struct lks_call *call,
                                    struct lks_error *error)
{
    struct faulty_store *faulty = (struct faulty_store *)store;
    enum fault fault = decide(store, FAULTY_REMOVE, upload->key);
    size_t kept = 0;

    for (size_t i = 0; i < faulty->upload_count && fault == FAULT_NONE; i++) {
        if (strcmp(faulty->uploads[i].id, upload->id) != 0)
            faulty->uploads[kept++] = faulty->uploads[i];
    }
    if (fault == FAULT_NONE)
        faulty->upload_count = kept;
    return spoil(store, fault, LKS_OK, "abort", upload->key, false, call,
                 error);
}

static void faulty_close(struct lks_store *store)
{
    lks_store_close(inner_of(store));
    free(store);
}

static const struct lks_store_ops faulty_ops = {
    .get = faulty_get,
    .put = faulty_put,
    .list = faulty_list,
    .remove = faulty_remove,
    .stat = faulty_stat,
    .uploads = faulty_uploads,
    .abort = faulty_abort,
    .close = faulty_close,
};

struct faulty_store *faulty_store_new(struct lks_store *inner,
                                      fault_fn *decide_fault,
                                      void *arg)
{
    struct faulty_store *faulty = calloc(1, sizeof(*faulty));

    if (faulty == NULL)
        abort();
    lks_store_init(&faulty->base, &faulty_ops, inner->env, "%s", inner->url);
    faulty->inner = inner;
    faulty->decide = decide_fault;
    faulty->arg = arg;
    return faulty;
}

struct faulty_store *faulty_store_new_mem(const struct lks_env *env,
                                          fault_fn *decide_fault,
                                          void *arg)
{
    static atomic_uint number;
    struct lks_store *inner = NULL;
    char name[32];

    snprintf(name, sizeof(name), "faulty-%u", number++);
    if (lks_store_mem_open(name, env, &inner, NULL) != LKS_OK)
        abort();
    return faulty_store_new(inner, decide_fault, arg);
}
