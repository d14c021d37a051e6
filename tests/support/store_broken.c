/* A store that breaks one promise at a time. */
#include "support/store_broken.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define MEANWHILE_NS (2 * LKS_NS_PER_MS)

struct broken_store {
    struct lks_store base;
    struct lks_store *inner;
    enum promise broken;
    atomic_int failure; /* a status */
    const char *failure_text;
    atomic_uint unsure_count;
    const char *unsure_part;
    atomic_int date_count;
    struct lks_monitor *monitor;
    struct {
        char last_key[LKS_KEY_SIZE_MAX + 1]; /* of the last write */
        char held_key[LKS_KEY_SIZE_MAX + 1]; /* of a put not done yet */
        char held_text[64];
        size_t held_size;
    } locked;
};

/* The real world, but for sleeping: no test has to wait. */
static void sleep_not(const struct lks_env *env, uint64_t duration_ns)
{
    (void)env;
    (void)duration_ns;
}

static const struct lks_env *env_without_sleep(void)
{
    static struct lks_env_ops ops;
    static struct lks_env env = {.ops = &ops};

    ops = *lks_env_real()->ops;
    ops.sleep_ns = sleep_not;
    return &env;
}

static struct broken_store *broken_of(struct lks_store *store)
{
    return (struct broken_store *)store;
}

struct lks_store *store_broken_inner(struct lks_store *store)
{
    return broken_of(store)->inner;
}

void store_broken_fail(struct lks_store *store,
                       enum lks_status status,
                       const char *text)
{
    broken_of(store)->failure_text = text;
    atomic_store(&broken_of(store)->failure, (int)status);
}

void store_broken_be_unsure(struct lks_store *store,
                            const char *part,
                            uint32_t count)
{
    broken_of(store)->unsure_part = part;
    atomic_store(&broken_of(store)->unsure_count, count);
}

static enum lks_status failure(struct broken_store *broken,
                               struct lks_error *error)
{
    enum lks_status status = (enum lks_status)atomic_load(&broken->failure);

    if (status != LKS_OK)
        return lks_error_set(error, status, "%s", broken->failure_text);
    return LKS_OK;
}

static void set_date(struct broken_store *broken, struct lks_call *call)
{
    int count = atomic_fetch_add(&broken->date_count, 1);

    if (broken->broken == PROMISE_DATES)
        call->date_ms = INT64_MIN;
    if (broken->broken == PROMISE_CLOCK)
        call->date_ms -= 10000 * (int64_t)count;
    if (broken->broken == PROMISE_AGES)
        call->modified_ms -= 3600 * 1000;
    if (broken->broken == PROMISE_TAGS)
        snprintf(call->etag, sizeof(call->etag), "tag");
}

/* The name that the inner store knows. Where case does not matter, names are
 * still listed as they were written; so only those of the check are folded. */
static const char *folded(struct broken_store *broken,
                          const char *key,
                          char text[LKS_KEY_SIZE_MAX + 1])
{
    snprintf(text, LKS_KEY_SIZE_MAX + 1, "%s", key);
    if (broken->broken == PROMISE_CASE && strstr(key, "/case/") != NULL) {
        for (char *at = text; *at != '\0'; at++)
            *at = (char)tolower((unsigned char)*at);
    }
    return text;
}

/* What a missing object is answered with. */
static enum lks_status missing(struct broken_store *broken,
                               struct lks_error *error)
{
    if (broken->broken == PROMISE_NOT_FOUND)
        return lks_error_set(error, LKS_DENIED, "denied");
    if (broken->broken == PROMISE_MISSING)
        return LKS_OK;
    return LKS_NOT_FOUND;
}

static enum lks_status broken_get(struct lks_store *store,
                                  const char *key,
                                  uint64_t offset,
                                  void *data,
                                  size_t size,
                                  size_t *out_size,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct broken_store *broken = broken_of(store);
    char text[LKS_KEY_SIZE_MAX + 1];
    enum lks_status status = failure(broken, error);

    if (status != LKS_OK)
        return status;
    if (broken->broken == PROMISE_RANGES)
        offset = 0;
    status = lks_store_get(broken->inner, folded(broken, key, text), offset,
                           data, size, out_size, call, error);
    set_date(broken, call);
    if (status == LKS_NOT_FOUND)
        return missing(broken, error);
    if (broken->broken == PROMISE_RANGES_END && offset > 0 && *out_size == 0)
        return lks_error_set(error, LKS_INVALID, "range not satisfiable");
    return status;
}

static enum lks_status broken_stat(struct lks_store *store,
                                   const char *key,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    struct broken_store *broken = broken_of(store);
    char text[LKS_KEY_SIZE_MAX + 1];
    enum lks_status status = failure(broken, error);

    if (status != LKS_OK)
        return status;
    status =
        lks_store_stat(broken->inner, folded(broken, key, text), call, error);
    set_date(broken, call);
    return status == LKS_NOT_FOUND ? missing(broken, error) : status;
}

/* Keeps this put back, and does the one that was kept back before. */
static enum lks_status put_late(struct broken_store *broken,
                                const char *key,
                                const struct lks_part *part,
                                struct lks_error *error)
{
    struct lks_part held = {.data = broken->locked.held_text,
                            .size = broken->locked.held_size};
    enum lks_status status = LKS_OK;

    if (broken->locked.held_key[0] != '\0')
        status = lks_store_put(broken->inner, broken->locked.held_key, &held, 1,
                               NULL, error);
    snprintf(broken->locked.held_key, sizeof(broken->locked.held_key), "%s",
             key);
    broken->locked.held_size = part->size;
    memcpy(broken->locked.held_text, part->data, part->size);
    return status;
}

/* Looks first and writes a moment later. */
static enum lks_status create_slowly(struct broken_store *broken,
                                     const char *key,
                                     const struct lks_part *parts,
                                     size_t part_count,
                                     struct lks_error *error)
{
    if (lks_store_stat(broken->inner, key, NULL, NULL) == LKS_OK)
        return lks_error_set(error, LKS_EXISTS, "the object exists");
    lks_env_sleep_ns(lks_env_real(), MEANWHILE_NS);
    return lks_store_put(broken->inner, key, parts, part_count, NULL, error);
}

static enum lks_status put_inner(struct broken_store *broken,
                                 const char *key,
                                 const struct lks_part *parts,
                                 size_t part_count,
                                 bool only_if_absent,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    enum lks_status status;

    if (!only_if_absent)
        return lks_store_put(broken->inner, key, parts, part_count, call,
                             error);
    if (broken->broken == PROMISE_ONE_WINNER)
        return create_slowly(broken, key, parts, part_count, error);
    status =
        lks_store_create(broken->inner, key, parts, part_count, call, error);
    if (status == LKS_EXISTS && broken->broken == PROMISE_CONDITION)
        return lks_store_put(broken->inner, key, parts, part_count, call,
                             error);
    if (status == LKS_EXISTS && broken->broken == PROMISE_REFUSED_IS_UNTOUCHED)
        lks_store_put(broken->inner, key, parts, part_count, call, error);
    if (status == LKS_OK && (broken->broken == PROMISE_CREATE_WORKS ||
                             (broken->broken == PROMISE_SOMEBODY_WINS &&
                              strstr(key, "race") != NULL)))
        return lks_error_set(error, LKS_EXISTS, "the object exists");
    return status;
}

/* Whether this write is an unsure one; *out_left are to follow. */
static bool is_unsure(struct broken_store *broken,
                      const char *key,
                      unsigned int *out_left)
{
    unsigned int left = atomic_load(&broken->unsure_count);

    while (left > 0 && strstr(key, broken->unsure_part) != NULL) {
        *out_left = left - 1;
        if (atomic_compare_exchange_weak(&broken->unsure_count, &left,
                                         left - 1))
            return true;
    }
    return false;
}

static enum lks_status broken_put(struct lks_store *store,
                                  const char *key,
                                  const struct lks_part *parts,
                                  size_t part_count,
                                  bool only_if_absent,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct broken_store *broken = broken_of(store);
    char text[LKS_KEY_SIZE_MAX + 1];
    enum lks_status status = failure(broken, error);
    unsigned int left;

    if (status != LKS_OK)
        return status;
    lks_monitor_enter(store->env, broken->monitor);
    snprintf(broken->locked.last_key, sizeof(broken->locked.last_key), "%s",
             key);
    if (broken->broken == PROMISE_WRITES_ARE_SEEN && !only_if_absent)
        status = put_late(broken, key, parts, error);
    lks_monitor_leave(store->env, broken->monitor);
    if (broken->broken == PROMISE_WRITES_ARE_SEEN && !only_if_absent)
        return status;

    if (is_unsure(broken, key, &left)) {
        if (left % 2 == 0)
            put_inner(broken, key, parts, part_count, only_if_absent, call,
                      error);
        return lks_error_set(error, LKS_UNSURE, "the reply was lost");
    }
    return put_inner(broken, folded(broken, key, text), parts, part_count,
                     only_if_absent, call, error);
}

static int compare_folded(const void *a, const void *b)
{
    return strcasecmp(((const struct lks_listed *)a)->key,
                      ((const struct lks_listed *)b)->key);
}

static enum lks_status broken_list(struct lks_store *store,
                                   const char *prefix,
                                   const char *after,
                                   size_t max,
                                   struct lks_listed *listed,
                                   size_t *out_count,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    struct broken_store *broken = broken_of(store);
    enum lks_status status = failure(broken, error);
    size_t count = 0;

    if (status != LKS_OK)
        return status;
    if (broken->broken == PROMISE_LIST_AFTER)
        after = "";
    status = lks_store_list(broken->inner, prefix, after, max, listed, &count,
                            call, error);
    set_date(broken, call);
    if (status != LKS_OK)
        return status;
    if (broken->broken == PROMISE_LIST_ORDER)
        qsort(listed, count, sizeof(*listed), compare_folded);
    if (broken->broken == PROMISE_LIST_PREFIX && strchr(prefix, '/') != NULL &&
        prefix[strlen(prefix) - 1] != '/')
        count = 0;
    if (broken->broken == PROMISE_LIST_MAX && count == max && max > 1)
        count--;
    if (broken->broken == PROMISE_LISTED_AT_ONCE && count > 0 &&
        strcmp(listed[count - 1].key, broken->locked.last_key) == 0)
        count--;
    *out_count = count;
    return LKS_OK;
}

static enum lks_status broken_remove(struct lks_store *store,
                                     const char *const *keys,
                                     size_t key_count,
                                     struct lks_call *call,
                                     struct lks_error *error)
{
    struct broken_store *broken = broken_of(store);
    enum lks_status status = failure(broken, error);

    if (status != LKS_OK || broken->broken == PROMISE_REMOVE)
        return status;
    return lks_store_remove(broken->inner, keys, key_count, call, error);
}

static void broken_close(struct lks_store *store)
{
    struct broken_store *broken = broken_of(store);

    lks_store_close(broken->inner);
    lks_monitor_free(store->env, broken->monitor);
    lks_free(broken);
}

static const struct lks_store_ops broken_ops = {
    .get = broken_get,
    .put = broken_put,
    .list = broken_list,
    .remove = broken_remove,
    .stat = broken_stat,
    .close = broken_close,
};

enum lks_status store_broken_open(enum promise broken,
                                  struct lks_store **out_store,
                                  struct lks_error *error)
{
    struct broken_store *store = lks_alloc_zero(1, sizeof(*store));
    enum lks_status status;

    if (store == NULL)
        return lks_error_no_memory(error);
    store->broken = broken;
    lks_store_init(&store->base, &broken_ops, env_without_sleep(),
                   "broken://%d", (int)broken);
    status = lks_monitor_new(store->base.env, &store->monitor, error);
    if (status == LKS_OK)
        status = lks_store_mem_open("beneath-the-broken-one", store->base.env,
                                    &store->inner, error);
    if (status != LKS_OK) {
        lks_monitor_free(store->base.env, store->monitor);
        lks_free(store);
        return status;
    }
    *out_store = &store->base;
    return LKS_OK;
}
