/*
 * Pacing by a fixed gap between commits. A baseline.
 */
#include "producer/pacing_policy.h"

static void adapt(struct lks_pacing *pacing, enum lks_outcome outcome)
{
    (void)outcome;
    pacing->gap_ns = pacing->options.gap_ns;
}

const struct lks_pacing_policy lks_pacing_fixed = {"fixed", adapt, NULL};
