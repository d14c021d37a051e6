/*
 * What must stay: the steps that groups still need, by their ranks' watermarks,
 * and the pins. Whoever reclaims goes by it, and whoever waits at a limit.
 */
#ifndef LKS_MANIFEST_CLAIM_H
#define LKS_MANIFEST_CLAIM_H

#include "format/lifecycle.h"
#include "manifest/log.h"

/* What the ranks of one run have written; 0: nothing. */
struct lks_marks {
    struct lks_watermark_parts run;
    uint32_t ranks;
    uint64_t all; /* by one for all of them */
    uint64_t *steps;
};

/* The step of the watermark `name`. LKS_NOT_FOUND if there is none, LKS_CORRUPT
 * if it is damaged. */
enum lks_status lks_mark_read(const struct lks_stream *stream,
                              const char *name,
                              uint64_t *out_step,
                              struct lks_call *call,
                              struct lks_error *error);

/*
 * The watermarks of the runs that one manifest shows. Within a run they only
 * rise, so they may be older than the manifest that they are held against: then
 * they claim more, and never less. Belongs to one thread at a time.
 */
struct lks_claims {
    struct lks_stream *stream;
    const struct lks_cancel *cancel;
    struct lks_marks *groups;
    uint32_t group_count;
    uint64_t version; /* of the manifest whose runs they are */
    uint64_t request_count;
};

/* Makes no request. `cancel` may be NULL. */
void lks_claims_init(struct lks_claims *claims,
                     struct lks_stream *stream,
                     const struct lks_cancel *cancel);
void lks_claims_done(struct lks_claims *claims);

/* Reads them. A damaged one counts as not written, which only claims more. */
enum lks_status lks_claims_read(struct lks_claims *claims,
                                const struct lks_manifest *head,
                                struct lks_error *error);

/* The oldest step that this rank may replay: its watermark, or the run's floor
 * if that is above it, or if the marks are of another run. */
uint64_t lks_claims_of_rank(const struct lks_claims *claims,
                            const struct lks_group_record *group,
                            uint32_t rank);

/* The least of its ranks', the evicted ones aside. False if none is left. */
bool lks_claims_of_group(const struct lks_claims *claims,
                         const struct lks_group_record *group,
                         uint64_t *out_step);

/* What follows for the manifest. */
struct lks_claim {
    bool held;        /* by a group; if not, nothing may be reclaimed */
    uint64_t claimed; /* the least of the groups' */
    uint64_t live;    /* W: the least of that and the pins */
};

/* Both steps are within [first_live_step, next_step]. */
void lks_claims_find(const struct lks_claims *claims,
                     const struct lks_manifest *manifest,
                     struct lks_claim *out_claim);

/*
 * The commit of a reclaim: first_live_step becomes W, and `claimed` what is
 * claimed, both found anew on each base. The log's head is then a manifest that
 * shows it. Deletes nothing.
 */
enum lks_status lks_claims_commit(struct lks_claims *claims,
                                  struct lks_log *log,
                                  uint64_t deadline_ns,
                                  struct lks_error *error);

#endif
