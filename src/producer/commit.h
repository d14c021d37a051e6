/*
 * Committing: moving the stream's history on by what a producer has stored.
 */
#ifndef LKS_PRODUCER_COMMIT_H
#define LKS_PRODUCER_COMMIT_H

#include "producer/limit.h"
#include "producer/ownership.h"
#include "producer/queue.h"

/* Belongs to the committing thread. */
struct lks_committer {
    struct lks_stream *stream;
    const struct lks_identity *identity;
    struct lks_queue *queue;
    const struct lks_cancel *cancel;
    uint64_t outage_timeout_ms;
    struct lks_log log;
    struct lks_pacing pacing;
    bool takes_turns; /* and so keeps the manifest's ring */
    struct lks_ring_place places[LKS_PRODUCERS_MAX]; /* of the ring, read */
    struct lks_attempt attempt;
    uint64_t attempt_end_seq; /* next_seq once it is in */
    bool attempt_sent;        /* and its outcome not known */
    bool attempt_throttled;
    uint32_t outage_failures; /* in a row; 0: the store serves */
    uint64_t outage_since_ns;
    enum lks_act outage_act; /* what failed first: its success ends it */
    struct lks_limit_watch limit;
};

/*
 * Returns when the first TGB in the queue, and all that went with it, is
 * committed. LKS_FENCED, LKS_ENDED, LKS_CANCELLED, or what the store said for
 * longer than outage_timeout_ms.
 */
enum lks_status lks_commit(struct lks_committer *committer,
                           struct lks_error *error);

#endif
