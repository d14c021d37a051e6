/*
 * Deleting by listing: pages of names, a verdict on each, removal in batches,
 * all within a low budget of requests.
 */
#ifndef LKS_RECLAIM_SWEEP_H
#define LKS_RECLAIM_SWEEP_H

#include "manifest/log.h"
#include "reclaim/live_set.h"

/* Y: a manifest is deleted once its successor is older than that. */
#define LKS_MANIFEST_AGE_MS (15 * 60 * 1000)

/* Requests per second of a sweep, and how many may come at once before that
 * holds: those who train and preprocess go first. */
#define LKS_SWEEP_RATE 50u
#define LKS_SWEEP_BURST 50u

/* Objects that one removal takes; between two a sweep rests for so many times
 * as long as the one before took: what a store does then, it does for others.
 * One that has removed so many is behind, and rests less, so that storage stays
 * bounded. */
#define LKS_SWEEP_BATCH 100u
#define LKS_SWEEP_RESTS 7u
#define LKS_SWEEP_BEHIND 1000u
#define LKS_SWEEP_RESTS_BEHIND 1u

enum lks_swept_kind {
    LKS_SWEPT_DATA,
    LKS_SWEPT_INDEX,
    LKS_SWEPT_MANIFESTS,
    LKS_SWEPT_WATERMARKS,
    LKS_SWEPT_KINDS,
};

struct lks_tally {
    uint64_t count;
    uint64_t size;
};

static inline void lks_tally_add(struct lks_tally *tally,
                                 const struct lks_listed *listed)
{
    tally->count++;
    tally->size += listed->size;
}

/* Belongs to one thread. */
struct lks_sweep {
    struct lks_stream *stream;
    struct lks_log *log; /* its head is what is judged by */
    uint64_t first_live; /* W: the head's, or what a dry run would commit */
    bool dry_run;

    uint64_t request_count;
    uint64_t began_ns;
    uint64_t rested_ns;        /* until then no further removal */
    uint64_t sent_removals;    /* objects */
    struct lks_listed *listed; /* one page */
    const char **keys;         /* of those to remove */
    int64_t page_date_ms;      /* the store's clock when it was listed */

    struct lks_tally removed[LKS_SWEPT_KINDS]; /* or that would be */
    struct lks_tally in_flight;                /* uploaded, not committed */
    struct lks_tally unknown;                  /* not ours to judge */
    char such_as[LKS_KEY_SIZE_MAX + 1];        /* the first of these */
    struct lks_tally young; /* manifests that need time to be trusted */

    struct lks_upload *uploads; /* one page */
    uint64_t aborted_count;     /* unfinished uploads, or that would be */
    uint64_t uploading_count;   /* those that are left */
    struct lks_error unseen;    /* why the store does not list them, or OK */
};

/* Whether to remove what was listed. `before` is the name before it in the
 * listing, or NULL. */
typedef bool lks_sweep_judge_fn(struct lks_sweep *sweep,
                                const struct lks_listed *listed,
                                const struct lks_listed *before,
                                void *arg);

struct lks_sweep_plan {
    enum lks_swept_kind kind;
    const char *prefix;
    /* Called when a page has been listed, before it is judged; may be NULL. */
    enum lks_status (*begin_page)(struct lks_sweep *sweep,
                                  struct lks_error *error);
    lks_sweep_judge_fn *judge;
    void *arg;
};

/* The log is the caller's, and has a head. Makes no request. */
enum lks_status lks_sweep_init(struct lks_sweep *sweep,
                               struct lks_log *log,
                               uint64_t first_live,
                               bool dry_run,
                               struct lks_error *error);
void lks_sweep_done(struct lks_sweep *sweep);

/* Whether an upload under this key is to be aborted. */
typedef bool lks_sweep_abort_fn(struct lks_sweep *sweep,
                                const char *key,
                                void *arg);

/* Waits until the budget has room for one more request, and takes it. */
void lks_sweep_pace(struct lks_sweep *sweep);

/* LKS_CANCELLED once it is. */
enum lks_status lks_sweep_check_running(const struct lks_sweep *sweep,
                                        struct lks_error *error);

/* Lists, judges and removes all names under the plan's prefix. */
enum lks_status lks_sweep_walk(struct lks_sweep *sweep,
                               const struct lks_sweep_plan *plan,
                               struct lks_error *error);

/*
 * Aborts the unfinished uploads of TGBs that may go. That some store does not
 * list them, or not to us, is told in the report and fails nothing.
 */
enum lks_status lks_sweep_uploads(struct lks_sweep *sweep,
                                  lks_sweep_abort_fn *judge,
                                  void *arg,
                                  struct lks_error *error);

/* Counts what is not the stream's, or of a producer that it does not know. */
void lks_sweep_pass_over(struct lks_sweep *sweep,
                         const struct lks_listed *listed);

/* Whether a listed manifest may go, by design of "Trusting a name". */
bool lks_sweep_judge_manifest(struct lks_sweep *sweep,
                              const struct lks_listed *listed,
                              const struct lks_listed *before,
                              void *arg);

/*
 * Everything that the head proves to be garbage: data, index blocks, manifests,
 * watermarks, in this order. LKS_RECLAIMED when another reclaim has gone
 * further meanwhile: look again, and sweep by that.
 */
enum lks_status lks_sweep_all(struct lks_sweep *sweep, struct lks_error *error);

/* Everything of the stream but stream.json and the head, which says `dropped`;
 * manifests as their age allows. */
enum lks_status lks_sweep_dropped(struct lks_sweep *sweep,
                                  struct lks_error *error);

#endif
