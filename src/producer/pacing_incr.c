/*
 * Pacing by a gap that only grows: by its first length at every failure. A
 * baseline.
 */
#include "producer/pacing_policy.h"

#define GAP_MAX_TIMES 1024u

static void adapt(struct lks_pacing *pacing, enum lks_outcome outcome)
{
    uint64_t first_ns = pacing->options.gap_ns;

    if (outcome != LKS_OUTCOME_WON && pacing->gap_ns / GAP_MAX_TIMES < first_ns)
        pacing->gap_ns += first_ns;
}

const struct lks_pacing_policy lks_pacing_incr = {"incr", adapt, NULL};
