/*
 * Pacing: when a producer may try to commit. Pure: it is told what happened and
 * says how long to wait; it never looks at a clock, a store or a stream.
 *
 * All producers pace themselves, without talking to each other. A policy is one
 * row of functions; the producer knows only this header.
 */
#ifndef LKS_PRODUCER_PACING_H
#define LKS_PRODUCER_PACING_H

#include <stdbool.h>
#include <stdint.h>

/* How a try ended, as the newest manifest told. */
enum lks_outcome {
    LKS_OUTCOME_WON,
    LKS_OUTCOME_LOST,      /* somebody else made that version */
    LKS_OUTCOME_THROTTLED, /* the store wants less load */
};

struct lks_pacing {
    uint64_t gap_ns;       /* mean, from one commit to the next try */
    uint64_t next_try_ns;  /* not before */
    uint32_t losses;       /* in a row */
};

void lks_pacing_init(struct lks_pacing *pacing, uint64_t gap_ns);

/* How long to wait before a try: 0 is now. */
uint64_t lks_pacing_wait_ns(const struct lks_pacing *pacing, uint64_t now_ns);

/* `random_unit` is uniform in [0, 1): the jitter. */
void lks_pacing_tried(struct lks_pacing *pacing,
                      enum lks_outcome outcome,
                      uint64_t now_ns,
                      double random_unit);

#endif
