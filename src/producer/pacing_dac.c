/*
 * Pacing by DAC, the paper's Decentralized Adaptive Commit: the shortest gap
 * that keeps two budgets.
 *
 *     overhead  the share of time spent on commits is at most a:
 *                   gap >= T * (1 - a) / a
 *     conflict  P(conflict) = 1 - exp(-lambda * w) is at most b. With N alike,
 *               lambda = (N - 1) / (gap + T), so
 *                   gap >= (N - 1) * w / -ln(1 - b) - T
 *
 * T is an attempt (look, PUT), w the part of it in which another's commit makes
 * it fail: from the look's middle, when its answer was true, to the PUT's end.
 * What the model misses is corrected by what is measured.
 * docs/benchmarks/pacing.md compares it with others.
 */
#include <math.h>

#include "producer/pacing_policy.h"

#define CORRECTION_UP 1.02
#define CORRECTION_DOWN 0.98
#define CORRECTION_MAX 4.0

static double conflict_gap_ns(const struct lks_pacing *pacing,
                              double attempt_ns)
{
    double window_ns = attempt_ns - pacing->get_ns / 2.0;
    double others =
        pacing->view.active > 1 ? (double)(pacing->view.active - 1) : 0.0;
    double log_budget = -log1p(-pacing->options.conflict_budget);

    return others * window_ns / log_budget - attempt_ns;
}

static void adapt(struct lks_pacing *pacing, enum lks_outcome outcome)
{
    double attempt_ns = lks_pacing_attempt_ns(pacing);
    double gap_ns = lks_pacing_overhead_gap_ns(pacing, attempt_ns);
    double conflict_ns = conflict_gap_ns(pacing, attempt_ns);
    double bound_ns = (double)pacing->options.freshness_ns;
    double serial_ns = (double)pacing->view.active * attempt_ns;

    (void)outcome;
    if (pacing->conflict_rate > pacing->options.conflict_budget)
        pacing->gap_factor *= CORRECTION_UP;
    else
        pacing->gap_factor *= CORRECTION_DOWN;
    if (pacing->gap_factor < 1.0)
        pacing->gap_factor = 1.0;
    if (pacing->gap_factor > CORRECTION_MAX)
        pacing->gap_factor = CORRECTION_MAX;

    if (conflict_ns > gap_ns)
        gap_ns = conflict_ns;
    gap_ns *= pacing->gap_factor;
    if (bound_ns < serial_ns)
        bound_ns = serial_ns;
    if (gap_ns > bound_ns)
        gap_ns = bound_ns;
    pacing->gap_ns = (uint64_t)gap_ns;
}

const struct lks_pacing_policy lks_pacing_dac = {"dac", adapt, NULL};
