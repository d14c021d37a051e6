/*
 * The public functions about objects: the store itself, without streams. See
 * include/lakestream.h, "Objects". Opening and closing a store are elsewhere.
 */
#include "lakestream.h"

#include "store/store.h"

enum lks_status lks_object_put(struct lks_store *store,
                               const char *key,
                               const void *data,
                               size_t size,
                               struct lks_error *error)
{
    struct lks_part part = {data, size};
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;

    if (store == NULL || key == NULL || (data == NULL && size > 0))
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    status = lks_store_put(store, key, &part, 1, &call, error);
    return status == LKS_UNSURE ? LKS_UNAVAILABLE : status;
}

enum lks_status lks_object_get(struct lks_store *store,
                               const char *key,
                               uint64_t offset,
                               void *data,
                               size_t size,
                               struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;

    if (store == NULL || key == NULL || (data == NULL && size > 0))
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    return lks_store_get_exact(store, key, offset, data, size, &call, error);
}

enum lks_status lks_object_remove(struct lks_store *store,
                                  const char *key,
                                  struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;

    if (store == NULL || key == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    status = lks_store_remove(store, &key, 1, &call, error);
    return status == LKS_UNSURE ? LKS_UNAVAILABLE : status;
}

enum lks_status lks_store_stats(struct lks_store *store,
                                char **out_json,
                                struct lks_error *error)
{
    struct lks_json_out out;
    enum lks_status status;

    if (store == NULL || out_json == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '{');
    lks_store_put_stats(store, &out);
    lks_json_out_close(&out, '}');
    status = lks_json_out_take(&out, out_json, error);
    lks_json_out_done(&out);
    return status;
}

enum lks_status lks_store_probe(struct lks_store *store,
                                lks_line_fn *line,
                                void *arg,
                                struct lks_error *error)
{
    if (store == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    return lks_store_check(store, line, arg, NULL, error);
}
