/*
 * Getting keys from where they are kept: a file, a token service, a container's
 * address, the machine's metadata service.
 */
#ifndef LKS_STORE_CREDENTIALS_FETCH_H
#define LKS_STORE_CREDENTIALS_FETCH_H

#include "store/credentials_aws.h"
#include "store/s3_http.h"

#define LKS_KEYS_FOR_EVER INT64_MAX

/*
 * One try. LKS_UNAVAILABLE may be tried again; anything else may not.
 * *out_lifetime_ms counts from now, by the clock of who issued the keys.
 */
enum lks_status lks_keys_fetch(const struct lks_env *env,
                               const struct lks_aws *aws,
                               struct lks_http *http,
                               const struct lks_cancel *cancel,
                               struct lks_keys *out_keys,
                               int64_t *out_lifetime_ms,
                               struct lks_error *error);

/* The JSON of a container or an instance. `date_ms` is when it was sent. */
enum lks_status lks_keys_parse_json(const char *text,
                                    size_t size,
                                    int64_t date_ms,
                                    struct lks_keys *out_keys,
                                    int64_t *out_lifetime_ms,
                                    struct lks_error *error);

#endif
