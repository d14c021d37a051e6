/*
 * Where a stream may be made: whatever lies under its names is its own, so a
 * place that is somebody's already is refused.
 */
#ifndef LKS_MANIFEST_PLACE_H
#define LKS_MANIFEST_PLACE_H

#include "store/store.h"

/* Opens the store at a URL where a stream may be made. LKS_INVALID where it
 * lies among another stream's objects: both would take them for theirs. */
enum lks_status lks_place_open(const char *url,
                               const struct lks_env *env,
                               const struct lks_options *options,
                               struct lks_store **out_store,
                               struct lks_error *error);

/* LKS_EXISTS, naming what is there: a stream, or whatever has a place that
 * objects of a stream have. */
enum lks_status lks_place_check_free(struct lks_store *store,
                                     struct lks_error *error);

enum lks_status lks_place_used(const struct lks_store *store,
                               struct lks_error *error);

#endif
