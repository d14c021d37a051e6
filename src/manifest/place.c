/*
 * Where a stream may be made: in no other stream, and on nobody's files.
 * docs/protocol.md, "One prefix, one stream".
 */
#include "manifest/place.h"

#include <stdio.h>
#include <string.h>

#include "format/names.h"

enum lks_status lks_place_used(const struct lks_store *store,
                               struct lks_error *error)
{
    return lks_error_set(error, LKS_EXISTS,
                         "%s holds a stream, or held one once: a prefix is "
                         "used once, choose another",
                         store->url);
}

/* ------------------------------------------------------- other streams -- */

/* Whether the path goes on with a folder of a stream's objects. */
static bool is_inside(const char *path)
{
    static const char *const folders[] = {"data", "index", "manifest",
                                          "watermark"};
    size_t size = strcspn(path, "/");

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (strlen(folders[i]) == size && memcmp(path, folders[i], size) == 0)
            return true;
    }
    return false;
}

static enum lks_status check_no_stream(const char *url,
                                       const struct lks_store *store,
                                       const struct lks_options *options,
                                       struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_store *above = NULL;
    enum lks_status status =
        lks_store_connect(url, store->env, options, &above, error);

    if (status != LKS_OK)
        return status;
    status = lks_store_stat(above, LKS_DESCRIPTOR_NAME, &call, error);
    lks_store_close(above);
    /* Who has rights to his own prefix only may not even ask. */
    if (status == LKS_NOT_FOUND || status == LKS_DENIED)
        return LKS_OK;
    if (status != LKS_OK)
        return status;
    return lks_error_set(error, LKS_INVALID,
                         "%.160s lies among the objects of the stream %.160s: "
                         "choose a prefix beside it",
                         store->url, url);
}

static enum lks_status check_outside(const struct lks_store *store,
                                     const struct lks_options *options,
                                     struct lks_error *error)
{
    const char *root = strstr(store->url, "://") + strlen("://");
    const char *slash = root;
    enum lks_status status = LKS_OK;

    while (status == LKS_OK && (slash = strchr(slash, '/')) != NULL) {
        char above[sizeof(store->url)];

        /* The root of a file system is no place for a stream. */
        if (slash > root && is_inside(slash + 1)) {
            snprintf(above, sizeof(above), "%.*s", (int)(slash - store->url),
                     store->url);
            status = check_no_stream(above, store, options, error);
        }
        slash++;
    }
    return status;
}

enum lks_status lks_place_open(const char *url,
                               const struct lks_env *env,
                               const struct lks_options *options,
                               struct lks_store **out_store,
                               struct lks_error *error)
{
    struct lks_store *store = NULL;
    enum lks_status status =
        lks_store_connect(url, env, options, &store, error);

    if (status == LKS_OK)
        status = check_outside(store, options, error);
    if (status == LKS_OK)
        *out_store = store;
    else
        lks_store_close(store);
    return status;
}

/* -------------------------------------------------------- foreign files -- */

static enum lks_status check_empty(struct lks_store *store,
                                   const char *folder,
                                   struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_listed listed;
    size_t count = 0;
    enum lks_status status =
        lks_store_list(store, folder, "", 1, &listed, &count, &call, error);

    if (status != LKS_OK || count == 0)
        return status;
    return lks_error_set(error, LKS_EXISTS,
                         "%.160s holds %.160s already, where a stream has its "
                         "own objects: choose another prefix",
                         store->url, listed.key);
}

/* Not manifest/: one who died while he forked leaves a manifest, whose name no
 * other stream has. */
enum lks_status lks_place_check_free(struct lks_store *store,
                                     struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status =
        lks_store_stat(store, LKS_DESCRIPTOR_NAME, &call, error);

    if (status == LKS_OK)
        return lks_place_used(store, error);
    if (status == LKS_NOT_FOUND)
        status = check_empty(store, "data/", error);
    if (status == LKS_OK)
        status = check_empty(store, "index/", error);
    if (status == LKS_OK)
        status = check_empty(store, "watermark/", error);
    return status;
}
