/*
 * The ring: whose turn it is to commit, as the manifest keeps it.
 *
 * Members take turns in the order of their ids, cyclically, from the last one
 * that had its turn. Who is passed over gets a miss; with too many it leaves.
 * Everybody else is a guest and uses the versions that are kept for guests.
 * Pure: whoever commits changes the ring of its manifest by these rules.
 */
#ifndef LKS_PRODUCER_PACING_RING_H
#define LKS_PRODUCER_PACING_RING_H

#include "format/manifest.h"

/* A member that let so many turns pass leaves. */
#define LKS_RING_MISSES_MAX 4u

/* What the ring says to one producer. */
struct lks_turn {
    bool in_ring;
    bool guest_version; /* the next version may be a guest's */
    uint32_t members;
    uint32_t ahead;          /* members whose turn comes before */
    uint32_t ahead_ready;    /* those of them that took their last turn */
    uint64_t ahead_permille; /* the length of their turns, in turn_us */
    uint64_t lap_permille;   /* of all members' turns */
    uint32_t permille;       /* of the own turn */
    uint64_t until_guest;    /* versions until the next one for guests */
    uint32_t hold_permille;  /* what members leave to guests, in turn_us */
    uint64_t guest_gap;      /* small while guests come; doubles when none */
    uint64_t turn_us;        /* T as the committers measure it; 0: not yet */
};

/* What it says at `version` to the producer at place `me`. */
void lks_ring_turn(const struct lks_ring *ring,
                   uint64_t version,
                   uint32_t me,
                   struct lks_turn *out_turn);

/*
 * The producer at place `me` commits on `version`: it moves the turn on, or
 * joins as a guest. `attempt_ns` is its own T; 0: not measured.
 */
void lks_ring_commit(struct lks_ring *ring,
                     uint64_t version,
                     uint32_t me,
                     double attempt_ns);

/* A producer that has just been opened stands in the ring from then on. */
void lks_ring_join(struct lks_ring *ring, uint32_t me);

/* One that has finished leaves. */
void lks_ring_leave(struct lks_ring *ring, uint32_t me);

#endif
