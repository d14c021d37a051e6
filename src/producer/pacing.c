/*
 * Pacing: what all policies share. Measuring, finding the newest version, and
 * trying a gap after the last commit.
 */
#include "producer/pacing.h"

#include <assert.h>

#include "base/env.h"
#include "producer/pacing_policy.h"

/* Weight of a new sample; and how far one may be from what is usual: a rare
 * stall should not count as a change. */
#define SAMPLE_WEIGHT 0.1
#define SAMPLE_MAX_TIMES 4.0
/* One conflict in 25 is within DAC's usual budget, and must not look like ten
 * times that. */
#define CONFLICT_WEIGHT 0.02

/* Before the first try it is taken for so many times a look: a guess by the
 * store's own speed, since the ring begins with it. */
#define ATTEMPT_LOOKS 3.0

/* version_ns is measured over so many versions, without an own commit. */
#define MARK_VERSIONS 64u
#define RATE_WEIGHT 0.3

/* A gap's try may come after a share of it, when a try was lost. */
#define LOST_SHARE 8u

#define HOLD_MAX_NS (2000.0 * (double)LKS_NS_PER_MS)

/* A landing is known well if it was seen within so many attempts, or if the
 * newest is known to be nearer than so many versions. */
#define ANCHOR_TIMES 1.5
#define ANCHOR_VERSIONS 3u

#define STRIDE_MAX (UINT64_C(1) << 20)

static double smooth(double mean, double weight, double sample)
{
    if (mean <= 0.0)
        return sample;
    if (sample > mean * SAMPLE_MAX_TIMES)
        sample = mean * SAMPLE_MAX_TIMES;
    return mean + weight * (sample - mean);
}

static const struct lks_pacing_policy *find_policy(enum lks_pacing_kind kind)
{
    switch (kind) {
    case LKS_PACING_TURNS:
        return &lks_pacing_turns;
    case LKS_PACING_DAC:
        return &lks_pacing_dac;
    case LKS_PACING_FIXED:
        return &lks_pacing_fixed;
    case LKS_PACING_AIMD:
        return &lks_pacing_aimd;
    case LKS_PACING_INCR:
        break;
    }
    return &lks_pacing_incr;
}

void lks_pacing_init(struct lks_pacing *pacing,
                     const struct lks_pacing_options *options)
{
    *pacing = (struct lks_pacing){
        .options = *options,
        .policy = find_policy(options->kind),
        .gap_ns = options->gap_ns,
        .gap_factor = 1.0,
    };
}

double lks_pacing_attempt_ns(const struct lks_pacing *pacing)
{
    if (pacing->get_ns <= 0.0)
        return LKS_PACING_ATTEMPT_GUESS_NS;
    if (pacing->put_ns <= 0.0)
        return pacing->get_ns * ATTEMPT_LOOKS;
    return pacing->get_ns + pacing->put_ns;
}

double lks_pacing_overhead_gap_ns(const struct lks_pacing *pacing,
                                  double attempt_ns)
{
    double budget = pacing->options.overhead_budget;

    return attempt_ns * (1.0 - budget) / budget;
}

/* ----------------------------------------------------------- what is seen --
 */

/* The rate of versions, measured from a commit to the next one, or over many of
 * others' when there is none. */
static void measure_rate(struct lks_pacing *pacing, bool won)
{
    uint64_t passed = pacing->view.version - pacing->mark;

    if (pacing->mark_ns != 0) {
        if (passed < (won ? 1u : MARK_VERSIONS))
            return;
        if (pacing->landed_ns > pacing->mark_ns)
            pacing->version_ns =
                smooth(pacing->version_ns, RATE_WEIGHT,
                       (double)(pacing->landed_ns - pacing->mark_ns) /
                           (double)passed);
    }
    pacing->mark = pacing->view.version;
    pacing->mark_ns = pacing->landed_ns;
}

/* From one version to the next, when nothing holds things up. */
static double brisk_ns(const struct lks_pacing *pacing)
{
    double attempt_ns = lks_pacing_attempt_ns(pacing);

    return pacing->version_ns < attempt_ns ? pacing->version_ns : attempt_ns;
}

/* Whether the newest version is so near to this one that guessing by the rate
 * would be no better. */
static bool is_near(const struct lks_pacing *pacing, uint64_t version)
{
    uint64_t left = pacing->absent - version;

    return left <= ANCHOR_VERSIONS || left * left <= version - pacing->anchor;
}

/*
 * When the version that a look has just found came to be: after any look that
 * missed it or an earlier one, and before now. Where that leaves much room, the
 * rate of versions says where in it.
 */
static void guess_landing(struct lks_pacing *pacing,
                          uint64_t seen_ns,
                          uint64_t version)
{
    double passed = (double)(version - pacing->view.version);
    double guess_ns = (double)pacing->landed_ns + brisk_ns(pacing) * passed;
    bool late = pacing->misses > 0 && pacing->absent > version;
    double low_ns = 0.0;

    if (late) {
        /* The newest is not beyond the one that was missed. */
        double behind = (double)(pacing->absent - version - 1);

        low_ns = (double)pacing->absent_ns - behind * brisk_ns(pacing);
    } else if (pacing->absent != 0 && pacing->absent <= version) {
        low_ns = (double)pacing->absent_ns;
    }
    pacing->seen_ns = seen_ns;
    if (late ? is_near(pacing, version)
             : (double)seen_ns - low_ns <
                   ANCHOR_TIMES * lks_pacing_attempt_ns(pacing)) {
        pacing->anchor = version;
        guess_ns = late ? low_ns : low_ns + ((double)seen_ns - low_ns) / 2.0;
    }
    if (guess_ns < low_ns)
        guess_ns = low_ns;
    if (guess_ns > (double)seen_ns || !pacing->has_view)
        guess_ns = (double)seen_ns;
    pacing->landed_ns = (uint64_t)guess_ns;
}

void lks_pacing_saw(struct lks_pacing *pacing,
                    const struct lks_pacing_look *look,
                    const struct lks_pacing_view *view)
{
    uint64_t duration_ns = look->replied_ns - look->sent_ns;

    assert(!pacing->has_view || view->version >= pacing->view.version);

    pacing->get_ns = smooth(pacing->get_ns, SAMPLE_WEIGHT, (double)duration_ns);
    pacing->stride = look->stride;
    if (look->advanced) {
        guess_landing(pacing, look->sent_ns + duration_ns / 2, view->version);
        pacing->hits++;
        pacing->misses = 0;
    } else {
        pacing->hits = 0;
        pacing->misses++;
        pacing->absent = view->version + (look->newest ? 1 : look->stride);
        pacing->absent_ns = look->sent_ns + duration_ns / 2;
    }
    if (look->newest || !pacing->has_view)
        pacing->anchor = view->version;
    if (!pacing->has_view && !look->advanced) {
        /* It is older, and nobody knows how much. */
        pacing->landed_ns = pacing->absent_ns;
        pacing->seen_ns = pacing->absent_ns;
    }
    pacing->newest = look->newest || (!look->advanced && look->stride == 1);
    pacing->view = *view;
    pacing->has_view = true;
    if (look->advanced)
        measure_rate(pacing, false);
}

uint64_t lks_pacing_stride(const struct lks_pacing *pacing, uint64_t now_ns)
{
    double behind = 0.0;
    uint64_t stride = 1;

    if (pacing->misses > 0 && pacing->absent > pacing->view.version + 1)
        return (pacing->absent - pacing->view.version) / 2;
    if (pacing->version_ns > 0.0)
        behind = (double)(now_ns - pacing->landed_ns) / pacing->version_ns;
    if (behind >= 3.0)
        stride = (uint64_t)(0.8 * behind);
    /* The guess may be bad: doubling gets there anyhow. */
    if (pacing->hits > 1 && pacing->hits < 20 &&
        stride < UINT64_C(1) << (pacing->hits - 1))
        stride = UINT64_C(1) << (pacing->hits - 1);
    return stride > STRIDE_MAX ? STRIDE_MAX : stride;
}

/* ----------------------------------------------------------- what is done --
 */

void lks_pacing_tried(struct lks_pacing *pacing,
                      uint64_t sent_ns,
                      uint64_t replied_ns)
{
    pacing->put_ns =
        smooth(pacing->put_ns, SAMPLE_WEIGHT, (double)(replied_ns - sent_ns));
    pacing->tried = true;
    pacing->newest = false;
    pacing->hits = 0;
    pacing->misses = 0;
    pacing->absent = pacing->view.version + 1;
    pacing->absent_ns = sent_ns;
}

/* A lost try is repeated after a part of the gap that doubles. */
static double pause_ns(struct lks_pacing *pacing, enum lks_outcome outcome)
{
    double mean_ns = (double)pacing->gap_ns;
    double floor_ns = lks_pacing_attempt_ns(pacing);

    if (outcome == LKS_OUTCOME_WON)
        return mean_ns;
    for (uint32_t i = pacing->losses; i < LOST_SHARE; i++)
        mean_ns /= 2.0;
    return mean_ns > floor_ns ? mean_ns : floor_ns;
}

/* While the store is in trouble, or the last try may still land. */
static double hold_ns(const struct lks_pacing *pacing)
{
    double mean_ns = lks_pacing_attempt_ns(pacing);

    for (uint32_t i = 1; i < pacing->losses && mean_ns < HOLD_MAX_NS; i++)
        mean_ns *= 2.0;
    return mean_ns < HOLD_MAX_NS ? mean_ns : HOLD_MAX_NS;
}

void lks_pacing_settled(struct lks_pacing *pacing,
                        enum lks_outcome outcome,
                        uint64_t now_ns,
                        double random_unit)
{
    bool won = outcome == LKS_OUTCOME_WON;

    pacing->tried = false;
    pacing->conflict_rate +=
        (won ? 0.0 : SAMPLE_WEIGHT) - SAMPLE_WEIGHT * pacing->conflict_rate;
    if (won) {
        pacing->losses = 0;
        pacing->has_won = true;
        pacing->won_ns = pacing->landed_ns;
        pacing->alone = pacing->view.version == pacing->won_version + 1;
        pacing->won_version = pacing->view.version;
        measure_rate(pacing, true);
    } else if (pacing->losses < UINT32_MAX) {
        pacing->losses++;
    }
    pacing->policy->adapt(pacing, outcome);
    pacing->next_try_ns =
        now_ns + (uint64_t)(pause_ns(pacing, outcome) * (0.5 + random_unit));
    if (outcome == LKS_OUTCOME_THROTTLED || outcome == LKS_OUTCOME_OPEN)
        pacing->hold_ns =
            now_ns + (uint64_t)(hold_ns(pacing) * (0.5 + random_unit));
}

void lks_pacing_hurry(struct lks_pacing *pacing, bool hurried)
{
    pacing->hurried = hurried;
}

/* By the gap alone: wait for it, find the newest, try. */
static void next_by_gap(const struct lks_pacing *pacing,
                        uint64_t now_ns,
                        struct lks_step *out_step)
{
    out_step->wait_ns = 0;
    out_step->stride = lks_pacing_stride(pacing, now_ns);
    out_step->act = LKS_ACT_LOOK;
    if (now_ns < pacing->next_try_ns) {
        out_step->wait_ns = pacing->next_try_ns - now_ns;
        out_step->stride = lks_pacing_stride(pacing, pacing->next_try_ns);
    } else if (pacing->newest) {
        out_step->act = LKS_ACT_TRY;
    }
}

void lks_pacing_next(struct lks_pacing *pacing,
                     uint64_t now_ns,
                     double random_unit,
                     struct lks_step *out_step)
{
    if (!pacing->has_view || pacing->tried) {
        *out_step = (struct lks_step){.act = LKS_ACT_LOOK, .stride = 1};
        return;
    }
    if (now_ns < pacing->hold_ns) {
        *out_step = (struct lks_step){
            .act = LKS_ACT_LOOK,
            .wait_ns = pacing->hold_ns - now_ns,
            .stride = 1,
        };
        return;
    }
    if (pacing->policy->next != NULL)
        pacing->policy->next(pacing, now_ns, random_unit, out_step);
    else
        next_by_gap(pacing, now_ns, out_step);
}
