/*
 * Control commits: everything that changes the stream's state but appends no
 * step. Opening and finishing a producer, sealing the stream.
 */
#ifndef LKS_MANIFEST_CHANGE_H
#define LKS_MANIFEST_CHANGE_H

#include "manifest/log.h"

struct lks_change {
    const char *what; /* "open producer p0", for messages */
    /* Whether the newest manifest is as wanted, or can never be (an error). */
    enum lks_status (*judge)(const struct lks_manifest *head,
                             void *arg,
                             bool *out_done,
                             struct lks_error *error);
    /* Makes it so on a manifest that is one version on. */
    enum lks_status (*apply)(struct lks_manifest *next,
                             void *arg,
                             struct lks_error *error);
    void *arg;
};

/*
 * Commits the change: returns LKS_OK once the newest manifest satisfies it.
 * LKS_TIMEOUT at the deadline; it may then be in or not.
 */
enum lks_status lks_log_change(struct lks_log *log,
                               const struct lks_change *change,
                               uint64_t deadline_ns,
                               struct lks_error *error);

#endif
