/*
 * What a pacing policy is made of. Private to pacing*.c.
 */
#ifndef LKS_PRODUCER_PACING_POLICY_H
#define LKS_PRODUCER_PACING_POLICY_H

#include "producer/pacing.h"

struct lks_pacing_policy {
    const char *name;
    /* Sets gap_ns anew after a try, or at the start. */
    void (*adapt)(struct lks_pacing *pacing, enum lks_outcome outcome);
    /* NULL: by the gap alone. */
    void (*next)(struct lks_pacing *pacing,
                 uint64_t now_ns,
                 double random_unit,
                 struct lks_step *out_step);
};

extern const struct lks_pacing_policy lks_pacing_turns;
extern const struct lks_pacing_policy lks_pacing_dac;
extern const struct lks_pacing_policy lks_pacing_fixed;
extern const struct lks_pacing_policy lks_pacing_aimd;
extern const struct lks_pacing_policy lks_pacing_incr;

/* T stands for this before anything was measured. */
#define LKS_PACING_ATTEMPT_GUESS_NS (20.0 * (double)LKS_NS_PER_MS)

/* The gap that spends no more than the overhead budget on commits. */
double lks_pacing_overhead_gap_ns(const struct lks_pacing *pacing,
                                  double attempt_ns);

/* The stride that brings a producer that is behind nearer to the newest. */
uint64_t lks_pacing_stride(const struct lks_pacing *pacing, uint64_t now_ns);

#endif
