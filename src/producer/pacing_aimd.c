/*
 * Pacing by AIMD: the rate of tries grows by equal steps while they succeed and
 * is halved when one fails, as TCP does. A baseline.
 */
#include "producer/pacing_policy.h"

/* Successes that bring the rate from nothing to one per `gap`. */
#define STEPS 8.0
#define GAP_MAX_TIMES 1024.0

static void adapt(struct lks_pacing *pacing, enum lks_outcome outcome)
{
    double first_ns = (double)pacing->options.gap_ns;
    double gap_ns = (double)pacing->gap_ns;

    if (first_ns < 1.0)
        first_ns = 1.0;
    if (outcome != LKS_OUTCOME_WON)
        gap_ns *= 2.0;
    else if (gap_ns > 0.0)
        gap_ns = 1.0 / (1.0 / gap_ns + 1.0 / (STEPS * first_ns));
    if (gap_ns < first_ns)
        gap_ns = first_ns;
    if (gap_ns > first_ns * GAP_MAX_TIMES)
        gap_ns = first_ns * GAP_MAX_TIMES;
    pacing->gap_ns = (uint64_t)gap_ns;
}

const struct lks_pacing_policy lks_pacing_aimd = {"aimd", adapt, NULL};
