/*
 * The planner: one thread that follows the head, turns visible steps into
 * batches, and hands their reads to a pool.
 */
#ifndef LKS_CONSUMER_PLANNER_H
#define LKS_CONSUMER_PLANNER_H

#include "consumer/prefetch.h"

/* Batches whose tables are read at the same time, ahead of the window. */
#define LKS_AHEAD_MAX 128u

struct lks_planner {
    struct lks_stream *stream;
    struct lks_share share;
    const struct lks_cancel *cancel;
    struct lks_follower *follower; /* the planner's while it runs */
    struct lks_prefetch *prefetch;
    struct lks_shelf *shelf;
    uint32_t fetch_count; /* at a time */

    struct lks_pool *pool;       /* NULL while it does not run */
    struct lks_pool *table_pool; /* NULL until a table is in a footer */
    struct lks_thread *thread;

    /* The thread's own. */
    uint64_t step;                          /* the next to plan */
    struct lks_batch *ahead[LKS_AHEAD_MAX]; /* in order, a ring */
    size_t ahead_first;
    size_t ahead_count;
};

static inline bool lks_planner_runs(const struct lks_planner *planner)
{
    return planner->pool != NULL;
}

/* Plans from `step` on. The other fields must be set. */
enum lks_status lks_planner_start(struct lks_planner *planner,
                                  uint64_t step,
                                  struct lks_error *error);

/* Does one read that no thread of the pool has begun, in the caller's thread.
 * False if there is none, or if it has to be tried again. `arg` is the planner,
 * which runs: for lks_prefetch's `help`. */
bool lks_planner_help(void *arg);

/* Waits for its threads; its cancel flag must be set. */
void lks_planner_stop(struct lks_planner *planner);

#endif
