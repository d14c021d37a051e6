/*
 * The manifests of a stream, seen as a log: which is the newest, and adding the
 * next.
 *
 * A name alone proves little. Reclaim deletes old manifests, and a writer that
 * slept can create a deleted name again. So each user of the log carries a pair
 * (proven, proven_ms): at that time of the store's clock, no version above that
 * one existed. docs/protocol.md, "Trusting a name", has the rule and its
 * argument; lks_log_probe() is the only place that applies it.
 */
#ifndef LKS_MANIFEST_LOG_H
#define LKS_MANIFEST_LOG_H

#include "format/manifest.h"
#include "manifest/stream.h"

/* X: how long a proof lasts, by the store's clock. */
#define LKS_TRUST_MS 60000

/* Whom the log serves. */
enum lks_log_view {
    LKS_LOG_HEAD,  /* readers: first sections only */
    LKS_LOG_WHOLE, /* those who commit, and reports */
};

/* Belongs to one thread at a time. */
struct lks_log {
    struct lks_stream *stream;
    enum lks_log_view view;
    const struct lks_cancel *cancel;
    struct lks_manifest *head; /* the newest one known; NULL before a look */
    size_t head_size;          /* its bytes; 0 for version 0 */
    uint64_t proven;
    int64_t proven_ms; /* INT64_MIN: nothing is proven */
    int64_t date_ms;   /* of the last reply */
    uint64_t get_count;
    uint64_t list_count;
    uint64_t create_count;
};

/* Makes no request. `cancel` may be NULL. */
void lks_log_init(struct lks_log *log,
                  struct lks_stream *stream,
                  enum lks_log_view view,
                  const struct lks_cancel *cancel);
void lks_log_done(struct lks_log *log);

/*
 * One try to move on: the version `stride` above the head. *out_advanced says
 * whether log->head has changed. By name if that can be trusted; if not, or
 * before the first look, by listing, which finds the newest at once.
 */
enum lks_status lks_log_probe(struct lks_log *log,
                              uint64_t stride,
                              bool *out_advanced,
                              struct lks_error *error);

/* Makes log->head the newest manifest there was when this was called, or a
 * later one. */
enum lks_status lks_log_look(struct lks_log *log, struct lks_error *error);

/*
 * A manifest that was made to be created, in bytes: once sent, they stay what
 * they are until the newest manifest tells what became of them.
 */
struct lks_attempt {
    uint64_t version; /* 0: none */
    struct lks_buf bytes;
};

void lks_attempt_init(struct lks_attempt *attempt);
void lks_attempt_done(struct lks_attempt *attempt);

/* Whether it may still be created on this head, or be created already. */
bool lks_attempt_is_open(const struct lks_attempt *attempt,
                         const struct lks_log *log);

/*
 * A copy of the head, one version on, for the caller to change. Seals the
 * head's tail first if it is full.
 */
enum lks_status lks_log_next(struct lks_log *log,
                             struct lks_manifest **out_next,
                             struct lks_error *error);

/* Makes `next` the attempt. */
enum lks_status lks_attempt_set(struct lks_attempt *attempt,
                                const struct lks_manifest *next,
                                struct lks_error *error);

/*
 * Sends the attempt. LKS_OK, LKS_EXISTS and LKS_UNSURE all mean the same: look.
 * Anything else is final. *out_throttled: the store wants less load.
 */
enum lks_status lks_log_create(struct lks_log *log,
                               const struct lks_attempt *attempt,
                               bool *out_throttled,
                               struct lks_error *error);

#endif
