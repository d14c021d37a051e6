/*
 * What the files of the probe share. Nobody else includes this.
 *
 * A check returns LKS_OK with its finding in the detail, LKS_UNSUPPORTED with
 * the promise that was broken in the error, or another status when it could not
 * be tried.
 */
#ifndef LKS_STORE_PROBE_H
#define LKS_STORE_PROBE_H

#include "store/store.h"

#define LKS_PROBE_KEYS_MAX 64u
#define LKS_PROBE_DETAIL_SIZE 256u
#define LKS_PROBE_WRITES_MAX 6u /* of one object, while the store is unsure */

struct lks_probe {
    struct lks_store *store;
    char prefix[32]; /* "probe/<16 hex>/" */
    char detail[LKS_PROBE_DETAIL_SIZE];
    uint64_t begin_sent_ns; /* the store dated its reply between these two */
    uint64_t begin_ns;
    int64_t begin_date_ms;
    size_t key_count;
    char keys[LKS_PROBE_KEYS_MAX][LKS_KEY_SIZE_MAX + 1]; /* to be removed */
};

/* The key of that name under the probe's prefix; as long as the probe is. */
const char *lks_probe_key(struct lks_probe *probe, const char *name);

/* Writes `text` until the store is sure. An object that an unsure try of ours
 * made counts as created. */
enum lks_status lks_probe_create(struct lks_probe *probe,
                                 const char *key,
                                 const char *text,
                                 struct lks_error *error);
enum lks_status lks_probe_put(struct lks_probe *probe,
                              const char *key,
                              const char *text,
                              struct lks_error *error);

/* LKS_UNSUPPORTED, unless the object is there and has this text. */
enum lks_status lks_probe_expect(struct lks_probe *probe,
                                 const char *key,
                                 const char *text,
                                 struct lks_error *error);

/* What was found, for people. */
void lks_probe_note(struct lks_probe *probe, const char *format, ...)
    LKS_PRINTF(2, 3);

/* Many creators of one name: exactly one of them wins. */
enum lks_status lks_probe_race(struct lks_probe *probe,
                               struct lks_error *error);

typedef enum lks_status lks_probe_check_fn(struct lks_probe *probe,
                                           struct lks_error *error);

struct lks_probe_check {
    const char *name;
    lks_probe_check_fn *run;
};

extern const struct lks_probe_check lks_probe_checks[];
extern const size_t lks_probe_check_count;

#endif
