/*
 * The rules of the ring: pure functions on the places that a manifest keeps.
 * docs/benchmarks/pacing.md argues them.
 */
#include "producer/pacing_ring.h"

#include <assert.h>

/* A guest version that was used brings the next one nearer by this factor; one
 * that was not doubles the way. */
#define GUEST_GAP_CUT 4u
#define GUEST_GAP_FLOOR 16u

/* On a guests' version, members leave so much to guests: time for one try, and
 * every so often time for one who is slow, and would never come in else. */
#define HOLD_PERMILLE 2500u
#define LONG_HOLD_PERMILLE 20000u
#define LONG_HOLD_EVERY 32u

/* One committer's T moves the common one by this part, up or down. Steps of
 * equal size make it the median, which one slow producer does not move. */
#define TURN_STEP_PART 16u

#define SLOWNESS_MAX 20000u
/* A producer is slow from this on; less is noise and needs no field. */
#define SLOWNESS_MIN 1500u

static uint32_t slowness(const struct lks_ring_place *place)
{
    return place->slowness_permille == 0 ? 1000u : place->slowness_permille;
}

static uint32_t next_place(const struct lks_ring *ring, uint32_t place)
{
    return place + 1 >= ring->count ? 0 : place + 1;
}

static uint32_t hold_permille(const struct lks_ring *ring)
{
    uint64_t gap = ring->guest_gap == 0 ? 1 : ring->guest_gap;

    return ring->guest_version / gap % LONG_HOLD_EVERY == LONG_HOLD_EVERY - 1
               ? LONG_HOLD_PERMILLE
               : HOLD_PERMILLE;
}

void lks_ring_turn(const struct lks_ring *ring,
                   uint64_t version,
                   uint32_t me,
                   struct lks_turn *out_turn)
{
    struct lks_turn turn = {
        .guest_version = version >= ring->guest_version,
        .guest_gap = ring->guest_gap,
        .turn_us = ring->turn_us,
    };
    uint32_t place = ring->last;
    bool passed_me = false;

    assert(ring->count == 0 || me < ring->count);

    if (turn.guest_version)
        turn.hold_permille = hold_permille(ring);
    else
        turn.until_guest = ring->guest_version - version;
    for (uint32_t i = 0; i < ring->count; i++) {
        const struct lks_ring_place *other;

        place = next_place(ring, place);
        other = &ring->places[place];
        if (place == me) {
            passed_me = true;
            turn.in_ring = other->in_ring;
            turn.permille = slowness(other);
        }
        if (!other->in_ring)
            continue;
        turn.members++;
        turn.lap_permille += slowness(other);
        if (passed_me)
            continue;
        turn.ahead++;
        turn.ahead_ready += other->misses == 0;
        turn.ahead_permille += slowness(other);
    }
    *out_turn = turn;
}

static void note_attempt(struct lks_ring *ring,
                         struct lks_ring_place *place,
                         double attempt_ns)
{
    double attempt_us = attempt_ns / 1000.0;
    double permille;

    if (attempt_us < 1.0)
        return;
    if (ring->turn_us == 0)
        ring->turn_us = (uint64_t)attempt_us;
    else if (attempt_us > (double)ring->turn_us)
        ring->turn_us += ring->turn_us / TURN_STEP_PART + 1;
    else if (ring->turn_us > TURN_STEP_PART)
        ring->turn_us -= ring->turn_us / TURN_STEP_PART;
    permille = 1000.0 * attempt_us / (double)ring->turn_us;
    if (permille > SLOWNESS_MAX)
        permille = SLOWNESS_MAX;
    place->slowness_permille =
        permille < SLOWNESS_MIN ? 0 : (uint32_t)permille / 500u * 500u;
}

/* Everyone whose turn was before this one's has let it pass. */
static void count_misses(struct lks_ring *ring, uint32_t me)
{
    uint32_t place = next_place(ring, ring->last);

    for (uint32_t i = 0; i < ring->count && place != me; i++) {
        struct lks_ring_place *other = &ring->places[place];

        if (other->in_ring && ++other->misses >= LKS_RING_MISSES_MAX)
            lks_ring_leave(ring, place);
        place = next_place(ring, place);
    }
}

static uint64_t gap_max(const struct lks_ring *ring)
{
    uint64_t members = 0;

    for (uint32_t i = 0; i < ring->count; i++)
        members += ring->places[i].in_ring;
    return members < GUEST_GAP_FLOOR ? GUEST_GAP_FLOOR : members;
}

static void move_guest_version(struct lks_ring *ring,
                               uint64_t version,
                               bool used)
{
    uint64_t gap = ring->guest_gap == 0 ? 1 : ring->guest_gap;
    uint64_t max = gap_max(ring);

    if (version < ring->guest_version)
        return;
    gap = used ? gap / GUEST_GAP_CUT : gap * 2;
    if (gap < 1)
        gap = 1;
    ring->guest_gap = gap > max ? max : gap;
    ring->guest_version = version + ring->guest_gap;
}

void lks_ring_join(struct lks_ring *ring, uint32_t me)
{
    ring->places[me].in_ring = true;
    ring->places[me].misses = 0;
}

void lks_ring_leave(struct lks_ring *ring, uint32_t me)
{
    ring->places[me].in_ring = false;
    ring->places[me].misses = 0;
    ring->places[me].slowness_permille = 0;
}

void lks_ring_commit(struct lks_ring *ring,
                     uint64_t version,
                     uint32_t me,
                     double attempt_ns)
{
    struct lks_ring_place *place = &ring->places[me];
    bool guest = !place->in_ring;

    assert(me < ring->count);

    if (guest) {
        lks_ring_join(ring, me);
    } else {
        count_misses(ring, me);
        place->misses = 0;
        ring->last = me;
    }
    note_attempt(ring, place, attempt_ns);
    move_guest_version(ring, version, guest);
}
