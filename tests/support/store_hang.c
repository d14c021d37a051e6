/*
 * A store that hangs when it is told to.
 */
#include "support/store_hang.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define NAP_NS (2 * LKS_NS_PER_MS)

static struct hang_store *hang_of(struct lks_store *store)
{
    return (struct hang_store *)store;
}

static bool matches(enum hang hang, const char *key)
{
    return hang == HANG_ALWAYS ||
           (hang == HANG_DATA && strncmp(key, "data/", 5) == 0);
}

/* What comes before the inner store is asked. */
static enum lks_status wait_for_answer(struct hang_store *hang,
                                       const char *key,
                                       const struct lks_call *call,
                                       struct lks_error *error)
{
    bool cancelled = false;

    if (matches(hang->fail, key))
        return lks_error_set(error, LKS_UNAVAILABLE, "HTTP 503 of the test");
    hang->waiting++;
    while (matches(hang->hang, key) && !cancelled) {
        lks_env_sleep_ns(hang->base.env, NAP_NS);
        cancelled = lks_cancelled(call->cancel);
    }
    hang->waiting--;
    return cancelled ? lks_error_set(error, LKS_CANCELLED, "cancelled")
                     : LKS_OK;
}

static void count_get(struct hang_store *hang, const char *key)
{
    if (strncmp(key, "manifest/", 9) == 0)
        hang->manifest_gets++;
    else if (strncmp(key, "index/", 6) == 0)
        hang->index_gets++;
    else if (strncmp(key, "data/", 5) == 0)
        hang->data_gets++;
}

static enum lks_status hang_get(struct lks_store *store,
                                const char *key,
                                uint64_t offset,
                                void *data,
                                size_t size,
                                size_t *out_size,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct hang_store *hang = hang_of(store);
    enum lks_status status;

    count_get(hang, key);
    status = wait_for_answer(hang, key, call, error);
    if (status != LKS_OK)
        return status;
    return hang->inner->ops->get(hang->inner, key, offset, data, size, out_size,
                                 call, error);
}

static enum lks_status hang_put(struct lks_store *store,
                                const char *key,
                                const struct lks_part *parts,
                                size_t part_count,
                                bool only_if_absent,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct hang_store *hang = hang_of(store);

    return hang->inner->ops->put(hang->inner, key, parts, part_count,
                                 only_if_absent, call, error);
}

static enum lks_status hang_list(struct lks_store *store,
                                 const char *prefix,
                                 const char *after,
                                 size_t max,
                                 struct lks_listed *listed,
                                 size_t *out_count,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct hang_store *hang = hang_of(store);
    enum lks_status status;

    hang->lists++;
    status = wait_for_answer(hang, prefix, call, error);
    if (status != LKS_OK)
        return status;
    return hang->inner->ops->list(hang->inner, prefix, after, max, listed,
                                  out_count, call, error);
}

static enum lks_status hang_remove(struct lks_store *store,
                                   const char *const *keys,
                                   size_t key_count,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    struct hang_store *hang = hang_of(store);

    return hang->inner->ops->remove(hang->inner, keys, key_count, call, error);
}

static enum lks_status hang_stat(struct lks_store *store,
                                 const char *key,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct hang_store *hang = hang_of(store);
    enum lks_status status = wait_for_answer(hang, key, call, error);

    if (status != LKS_OK)
        return status;
    return hang->inner->ops->stat(hang->inner, key, call, error);
}

static void hang_close(struct lks_store *store)
{
    struct hang_store *hang = hang_of(store);

    lks_store_close(hang->inner);
    lks_free(hang);
}

struct hang_store *hang_store_new(struct lks_store *inner)
{
    static const struct lks_store_ops ops = {
        .get = hang_get,
        .put = hang_put,
        .list = hang_list,
        .remove = hang_remove,
        .stat = hang_stat,
        .close = hang_close,
    };
    struct hang_store *hang = lks_alloc_zero(1, sizeof(*hang));

    if (hang == NULL)
        return NULL;
    lks_store_init(&hang->base, &ops, inner->env, "%s", inner->url);
    hang->inner = inner;
    return hang;
}
