/*
 * Pacing by a fixed gap: a commit is followed by a jittered pause, a lost try
 * by a short one that doubles while losses go on.
 */
#include "producer/pacing.h"

/* The pause after the first lost try is this part of the gap. */
#define LOST_SHARE 8u

void lks_pacing_init(struct lks_pacing *pacing, uint64_t gap_ns)
{
    *pacing = (struct lks_pacing){.gap_ns = gap_ns};
}

uint64_t lks_pacing_wait_ns(const struct lks_pacing *pacing, uint64_t now_ns)
{
    if (now_ns >= pacing->next_try_ns)
        return 0;
    return pacing->next_try_ns - now_ns;
}

void lks_pacing_tried(struct lks_pacing *pacing,
                      enum lks_outcome outcome,
                      uint64_t now_ns,
                      double random_unit)
{
    double mean_ns = (double)pacing->gap_ns;

    if (outcome == LKS_OUTCOME_WON) {
        pacing->losses = 0;
    } else if (outcome == LKS_OUTCOME_LOST) {
        for (uint32_t i = pacing->losses; (1u << i) < LOST_SHARE; i++)
            mean_ns /= 2.0;
        if ((1u << pacing->losses) < LOST_SHARE)
            pacing->losses++;
    }
    pacing->next_try_ns =
        now_ns + (uint64_t)(mean_ns * (0.5 + random_unit));
}
