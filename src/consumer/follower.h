/*
 * Following the head of a stream: which steps can be seen, and how to look for
 * more with few requests.
 */
#ifndef LKS_CONSUMER_FOLLOWER_H
#define LKS_CONSUMER_FOLLOWER_H

#include "consumer/mesh.h"
#include "manifest/lookup.h"

/* Belongs to one thread at a time. */
struct lks_follower {
    struct lks_log log;
    struct lks_lookup lookup;
    uint64_t stride;   /* of the next probe, in versions */
    bool falling;      /* a longer stride missed: the newest is nearer */
    bool caught_up;    /* the last probe says that there was nothing newer */
    uint32_t patience; /* hits that it takes to lengthen the stride */
    uint32_t hits;     /* of those so far */
    uint64_t poll_count;
    uint64_t manifest_size; /* bytes of manifests read */
    uint64_t looked_ns;     /* when the last look was answered */
    uint64_t changed_ns;    /* when the head's version was first seen */
};

/* What a follower saw last and what it took, for other threads. */
struct lks_sighting {
    uint64_t version;
    uint64_t next_step;
    uint64_t claimed;
    uint64_t max_live_steps;
    uint64_t max_live_bytes;
    bool full; /* appends wait for a checkpoint */
    uint64_t looked_ns;
    uint64_t changed_ns;
    uint64_t poll_count;
    uint64_t get_count;
    uint64_t list_count;
    uint64_t fetched_size;
};

/* Makes no request. */
void lks_follower_init(struct lks_follower *follower,
                       struct lks_stream *stream,
                       const struct lks_cancel *cancel);
void lks_follower_done(struct lks_follower *follower);

/* Finds the newest manifest, whatever it takes: O(1) requests. */
enum lks_status lks_follower_look(struct lks_follower *follower,
                                  struct lks_error *error);

/*
 * One request for something newer. Goes ahead in ever longer strides while they
 * hit, and back in ever shorter ones from the first that misses; who keeps up
 * with the head learns to try no longer ones.
 */
enum lks_status lks_follower_probe(struct lks_follower *follower,
                                   struct lks_error *error);

/*
 * What the known head says of the training step that begins at `step` and takes
 * `group` stream steps. LKS_OK: it is there. LKS_TIMEOUT: not yet. LKS_ENDED:
 * it never will be. LKS_RECLAIMED, LKS_NOT_FOUND (dropped): it is no more.
 */
enum lks_status lks_follower_find(const struct lks_follower *follower,
                                  uint64_t step,
                                  uint32_t group,
                                  struct lks_error *error);

void lks_follower_report(const struct lks_follower *follower,
                         struct lks_sighting *out_sighting);

/*
 * How long a rank that has waited for `waited_ns` lets pass between two looks,
 * before jitter: poll_ms at least, so much that all ranks together stay under
 * LKS_POLLS_MAX, and more when little happens anyway.
 */
#define LKS_POLLS_MAX 500u          /* GETs per second of all ranks */
#define LKS_POLL_PART 16u           /* of the time waited so far */
#define LKS_POLL_PAUSE_MAX_MS 2000u /* what that part may ask for */
uint64_t lks_poll_pause_ns(uint64_t poll_ms,
                           uint32_t ranks,
                           uint64_t waited_ns);

#endif
