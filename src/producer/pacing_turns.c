/*
 * Pacing by turns: the manifest tells who had the last turn, so it tells whose
 * turn is next, and a try that is made in turn meets nobody.
 *
 * A member of the ring sleeps until shortly before the version that makes it
 * the next one, looks for that version by name, and tries once it is there. It
 * does not care for the versions between. The others take over from one who
 * does not come, in order, each after one last look. Who is no member uses the
 * versions that are kept for guests.
 *
 * docs/benchmarks/pacing.md argues the rule, and measures it.
 */
#include <math.h>

#include "base/env.h"
#include "producer/pacing_policy.h"

/* Times in units of T, the time of a look and a try. */

/* A member's turn lasts so long before the next one may take over. It has to
 * see that it is its turn, and its try has to land: 1.6 in 99 of 100 cases. */
#define SLOT 3.0
/* So late in its slot a take-over may still begin and end within it. */
#define GRACE 1.4
/* A guest's try takes so long; it has to be over when the hold for guests is.
 */
#define GUEST_TRY 0.9

/* From one look for a version to the next look for the same one. */
#define POLL 0.6
/* Who missed a version so long ago and now finds it is not late. */
#define FRESH 1.5
/* Who has been alone believes to be so for that long. */
#define LONE 40.0
/* What turns take when all is well, at most. Sleep is never longer than by
 * this, though turns may have been: they would stay so. */
#define TURN_MAX 1.2
/* In a long ring each delay is paid for by many, and looks are far between. */
#define LONG_RING 128u
#define TURN_MAX_LONG 0.4

/* The spread of one turn's length; of r turns it is sqrt(r) times that. The
 * first look for the own turn comes so many spreads before it is expected. */
#define SPREAD 0.5
#define EARLY 0.5
/* A look for what ought to be the newest aims so many spreads beyond where
 * it was expected at the early time: a miss tells more than a find, since it
 * bounds what there can be. */
#define BEYOND 1.5

/* Turns. Nearer than NEAR only the own one is looked for; further away than
 * FAR it pays to find the newest version before sleeping on. */
#define NEAR 4u
#define FAR 12u
/* Looks for the own turn in vain, before one for what there is. */
#define REPEATS 1u

/* Guests. The chance to go doubles when nobody did, and is halved when others
 * did. It begins low where guests have been seen lately, or nobody at all. */
#define CHANCE_UP 2.0
#define CHANCE_DOWN 0.5
#define CHANCE_MIN 0.01
#define CHANCE_FIRST 0.25
#define GUESTS_RARE 8u

static double unit_ns(const struct lks_pacing *pacing)
{
    uint64_t turn_us = pacing->view.turn.turn_us;

    if (turn_us == 0)
        return lks_pacing_attempt_ns(pacing);
    return (double)turn_us * 1000.0;
}

static void look_at(struct lks_step *out_step,
                    uint64_t now_ns,
                    double when_ns,
                    uint64_t stride)
{
    out_step->act = LKS_ACT_LOOK;
    out_step->stride = stride > 0 ? stride : 1;
    out_step->wait_ns = 0;
    if (when_ns > (double)now_ns)
        out_step->wait_ns = (uint64_t)(when_ns - (double)now_ns);
}

static void try_now(struct lks_step *out_step)
{
    out_step->act = LKS_ACT_TRY;
    out_step->wait_ns = 0;
    out_step->stride = 0;
}

/* When this producer may commit again without spending more than its budget
 * on commits. */
static double due_ns(const struct lks_pacing *pacing)
{
    if (!pacing->has_won || pacing->hurried)
        return 0.0;
    return (double)pacing->won_ns +
           lks_pacing_overhead_gap_ns(pacing, unit_ns(pacing));
}

/* Whether the newest version is known to have come just now, so that nobody
 * else can be about to take over. */
static bool is_fresh(const struct lks_pacing *pacing, uint64_t now_ns)
{
    return pacing->absent == pacing->view.version &&
           (double)(now_ns - pacing->absent_ns) < FRESH * unit_ns(pacing);
}

/* Whether it makes all versions, and its own one is the newest known: then most
 * likely it is the newest, and a look before the try would tell nothing. */
static bool is_alone(const struct lks_pacing *pacing, uint64_t now_ns)
{
    return pacing->alone && pacing->view.turn.members == 1 &&
           pacing->won_version == pacing->view.version &&
           (double)(now_ns - pacing->won_ns) < LONE * unit_ns(pacing);
}

/* When the turn of the member with so much before it begins, if the ones before
 * let it pass; later ones are tried a lap later. */
static double take_over_ns(const struct lks_pacing *pacing, uint64_t now_ns)
{
    const struct lks_turn *turn = &pacing->view.turn;
    double unit = unit_ns(pacing);
    double hold = unit * (double)turn->hold_permille / 1000.0;
    double lap = hold + SLOT * unit * (double)turn->lap_permille / 1000.0;
    double grace = GRACE * unit * (double)turn->permille / 1000.0;
    double from = (double)pacing->seen_ns;
    double late;

    if (from < due_ns(pacing))
        from = due_ns(pacing);
    from += hold + SLOT * unit * (double)turn->ahead_permille / 1000.0;
    late = (double)now_ns - from;
    if (late <= grace || lap <= 0.0)
        return from;
    return from + lap * (double)(1 + (uint64_t)((late - grace) / lap));
}

/* From one version to the next: as it has been, but never slower than turns
 * ought to be. Who sleeps by the average makes the average longer, and so on.
 */
static double version_ns(const struct lks_pacing *pacing)
{
    bool is_long = pacing->view.turn.members > LONG_RING;
    double longest_ns = (is_long ? TURN_MAX_LONG : TURN_MAX) * unit_ns(pacing);

    if (pacing->version_ns <= 0.0 || pacing->version_ns > longest_ns)
        return longest_ns;
    return pacing->version_ns;
}

/* Turns before the own one that will be taken, as far as can be told. */
static uint64_t turns_ahead(const struct lks_pacing *pacing)
{
    uint32_t ready = pacing->view.turn.ahead_ready;

    return ready > 0 ? ready : 1;
}

/* How far off the guess of the own turn's start may be: turns are random, and
 * their spreads add up since the last version whose time is known. */
static double spread_ns(const struct lks_pacing *pacing, uint64_t turns)
{
    uint64_t since = pacing->view.version - pacing->anchor;

    /* Past a lap nothing is known, and more would not be less. */
    if (since > pacing->view.turn.members)
        since = pacing->view.turn.members;
    return SPREAD * unit_ns(pacing) * sqrt((double)(since + turns));
}

/*
 * Sleeps until shortly before the own turn, if all goes well; then looks for
 * the version that begins it, or, if turns have been slow, for the one that
 * ought to be the newest by then.
 */
static void aim(const struct lks_pacing *pacing,
                uint64_t now_ns,
                struct lks_step *out_step)
{
    uint64_t turns = turns_ahead(pacing);
    double early_ns = EARLY * spread_ns(pacing, turns);
    double landed_ns = (double)pacing->landed_ns;
    double turn_ns = version_ns(pacing);
    double when_ns = landed_ns + turn_ns * (double)turns - early_ns;
    double slow_ns = lks_pacing_attempt_ns(pacing) - unit_ns(pacing);
    double expected;

    /* Who is slower than others has to begin sooner. */
    if (slow_ns > 0.0)
        when_ns -= slow_ns;

    if (when_ns < due_ns(pacing))
        when_ns = due_ns(pacing);
    if (when_ns < (double)now_ns)
        when_ns = (double)now_ns;
    if (turn_ns < pacing->version_ns)
        turn_ns = pacing->version_ns;
    expected = (when_ns + early_ns - landed_ns) / turn_ns;
    if (turns > NEAR && expected + 0.7 < (double)turns) {
        expected = (when_ns + BEYOND * early_ns - landed_ns) / turn_ns;
        turns = (uint64_t)(expected + 0.5);
    }
    look_at(out_step, now_ns, when_ns, turns);
}

/* The head is known, and it is not this member's turn yet. */
static void wait_at_head(struct lks_pacing *pacing,
                         uint64_t now_ns,
                         struct lks_step *out_step)
{
    double unit = unit_ns(pacing);
    double open_ns = take_over_ns(pacing, now_ns);
    double next_ns = (double)now_ns + POLL * unit;
    uint64_t turns = turns_ahead(pacing);

    if ((double)now_ns >= open_ns - 0.3 * pacing->get_ns) {
        try_now(out_step);
        return;
    }
    if (turns > 1)
        next_ns += 0.5 * (double)(turns - 1) * version_ns(pacing);
    if (next_ns < due_ns(pacing))
        next_ns = due_ns(pacing);
    if (next_ns > open_ns - 0.5 * pacing->get_ns)
        next_ns = open_ns - 0.5 * pacing->get_ns;
    look_at(out_step, now_ns, next_ns, 1);
}

/* The same in versions, and not none. */
static uint64_t spread_versions(const struct lks_pacing *pacing, uint64_t turns)
{
    return (uint64_t)(spread_ns(pacing, turns) / version_ns(pacing)) + 1;
}

/* The newest version is among the `left` from the one known: near enough, if
 * turns go on. So it is not done twice at one version: perhaps nobody comes. */
static void sleep_on(struct lks_pacing *pacing,
                     uint64_t now_ns,
                     uint64_t left,
                     struct lks_step *out_step)
{
    double since_ns = (double)(left - 1) * version_ns(pacing);

    pacing->landed_ns = pacing->absent_ns;
    if ((double)pacing->absent_ns > since_ns)
        pacing->landed_ns -= (uint64_t)since_ns;
    pacing->anchor = pacing->view.version;
    pacing->slept_on = pacing->view.version;
    pacing->misses = 0;
    pacing->hits = 0;
    aim(pacing, now_ns, out_step);
}

/* Too early, or somebody ahead does not come: once more, and then nearer. */
static void missed(struct lks_pacing *pacing,
                   uint64_t now_ns,
                   struct lks_step *out_step)
{
    uint64_t turns = turns_ahead(pacing);
    uint64_t left = pacing->absent - pacing->view.version;
    uint64_t back = spread_versions(pacing, turns);
    double wait_ns = POLL * unit_ns(pacing);

    if (left < turns && left <= back &&
        pacing->slept_on != pacing->view.version) {
        sleep_on(pacing, now_ns, left, out_step);
        return;
    }
    if (left >= turns && pacing->misses <= REPEATS) {
        if (wait_ns < EARLY * spread_ns(pacing, turns))
            wait_ns = EARLY * spread_ns(pacing, turns);
        look_at(out_step, now_ns, (double)now_ns + wait_ns, turns);
        return;
    }
    for (uint32_t i = REPEATS + 1; i < pacing->misses && back < left; i++)
        back *= 2;
    if (back > left / 2)
        back = left / 2;
    look_at(out_step, now_ns, (double)now_ns, left > back ? left - back : 1);
}

/* Others come first. */
static void approach(struct lks_pacing *pacing,
                     uint64_t now_ns,
                     struct lks_step *out_step)
{
    uint64_t turns = turns_ahead(pacing);

    if (pacing->absent == pacing->view.version + 1 && pacing->misses > 0) {
        wait_at_head(pacing, now_ns, out_step);
    } else if (pacing->misses > 0) {
        missed(pacing, now_ns, out_step);
    } else if (pacing->hits > 0 && pacing->anchor < pacing->view.version &&
               turns > FAR) {
        uint64_t stride = spread_versions(pacing, turns);

        look_at(out_step, now_ns, (double)now_ns,
                stride < turns ? stride : turns);
    } else {
        aim(pacing, now_ns, out_step);
    }
}

static void next_as_member(struct lks_pacing *pacing,
                           uint64_t now_ns,
                           struct lks_step *out_step)
{
    const struct lks_turn *turn = &pacing->view.turn;
    double due = due_ns(pacing);

    if (turn->ahead > 0) {
        approach(pacing, now_ns, out_step);
        return;
    }
    if (turn->guest_version) {
        if (pacing->newest)
            wait_at_head(pacing, now_ns, out_step);
        else
            look_at(out_step, now_ns, (double)now_ns, 1);
        return;
    }
    if ((double)now_ns >= due && (pacing->newest || is_fresh(pacing, now_ns))) {
        try_now(out_step);
        return;
    }
    look_at(out_step, now_ns, due, 1);
    if (is_alone(pacing, now_ns + out_step->wait_ns))
        out_step->act = LKS_ACT_TRY;
}

/* One lot is drawn for each version. */
static bool draws(struct lks_pacing *pacing, double random_unit)
{
    if (pacing->drawn == pacing->view.version + 1)
        return false;
    pacing->drawn = pacing->view.version + 1;
    return random_unit < pacing->chance;
}

static void change_chance(struct lks_pacing *pacing, double factor)
{
    pacing->chance *= factor;
    if (pacing->chance < CHANCE_MIN)
        pacing->chance = CHANCE_MIN;
    if (pacing->chance > 1.0)
        pacing->chance = 1.0;
}

/* When the next version for guests is another than it was, the gap to it tells
 * whether the last one was used: it is shorter then. */
static void judge_guests(struct lks_pacing *pacing)
{
    const struct lks_turn *turn = &pacing->view.turn;
    uint64_t next = pacing->view.version + turn->until_guest;

    if (pacing->chance <= 0.0)
        pacing->chance = turn->guest_gap < GUESTS_RARE ? CHANCE_FIRST : 1.0;
    else if (turn->until_guest > 0 && next != pacing->guest_next &&
             turn->guest_gap >= pacing->guest_gap)
        change_chance(pacing, CHANCE_UP);
    pacing->guest_gap = turn->guest_gap;
    pacing->guest_next = next;
}

/* The head is known, and nobody has gone for so long that anybody may. */
static void break_silence(struct lks_pacing *pacing,
                          uint64_t now_ns,
                          double random_unit,
                          struct lks_step *out_step)
{
    if (draws(pacing, random_unit)) {
        try_now(out_step);
        return;
    }
    /* Nor did anybody now: they all draw again. */
    pacing->drawn = 0;
    change_chance(pacing, CHANCE_UP);
    look_at(out_step, now_ns,
            (double)now_ns + (1.0 + random_unit) * unit_ns(pacing), 1);
}

/* From then on a guest's try might not be over before a member's begins. */
static double guest_end_ns(const struct lks_pacing *pacing)
{
    double unit = unit_ns(pacing);
    double own_ns = lks_pacing_attempt_ns(pacing);

    return unit * (double)pacing->view.turn.hold_permille / 1000.0 -
           GUEST_TRY * (own_ns > unit ? own_ns : unit);
}

static void next_as_guest(struct lks_pacing *pacing,
                          uint64_t now_ns,
                          double random_unit,
                          struct lks_step *out_step)
{
    const struct lks_turn *turn = &pacing->view.turn;
    double unit = unit_ns(pacing);
    double since_ns = (double)(now_ns - pacing->seen_ns);
    double lap_ns =
        unit *
        ((double)turn->hold_permille + SLOT * (double)turn->lap_permille) /
        1000.0;
    double when_ns = (double)now_ns + POLL * unit;

    judge_guests(pacing);
    if (turn->until_guest > 0 && pacing->misses == 0 && !pacing->newest) {
        /* Sleeps towards the next version that is for guests. */
        look_at(out_step, now_ns,
                (double)pacing->landed_ns +
                    (double)turn->until_guest * version_ns(pacing),
                turn->until_guest);
    } else if (!pacing->newest) {
        look_at(out_step, now_ns, (double)now_ns,
                lks_pacing_stride(pacing, now_ns));
    } else if (turn->guest_version && since_ns < guest_end_ns(pacing) &&
               draws(pacing, random_unit)) {
        try_now(out_step);
    } else if (turn->members == 0 || since_ns > lap_ns) {
        break_silence(pacing, now_ns, random_unit, out_step);
    } else {
        if (turn->until_guest > 1)
            when_ns = (double)now_ns +
                      0.5 * (double)turn->until_guest * version_ns(pacing);
        look_at(out_step, now_ns, when_ns,
                turn->until_guest > 1 ? turn->until_guest : 1);
    }
}

static void next(struct lks_pacing *pacing,
                 uint64_t now_ns,
                 double random_unit,
                 struct lks_step *out_step)
{
    if (pacing->view.turn.in_ring)
        next_as_member(pacing, now_ns, out_step);
    else
        next_as_guest(pacing, now_ns, random_unit, out_step);
}

/* The gap of turns is the lap of the ring; this is its floor. */
static void adapt(struct lks_pacing *pacing, enum lks_outcome outcome)
{
    if (outcome != LKS_OUTCOME_WON)
        change_chance(pacing, CHANCE_DOWN);
    pacing->gap_ns =
        (uint64_t)lks_pacing_overhead_gap_ns(pacing, unit_ns(pacing));
}

const struct lks_pacing_policy lks_pacing_turns = {"turns", adapt, next};
