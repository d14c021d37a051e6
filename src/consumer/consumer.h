/*
 * A consumer: one rank's cursor. The public functions check their arguments
 * and call these (src/lakestream_consumer.c).
 */
#ifndef LKS_CONSUMER_CONSUMER_H
#define LKS_CONSUMER_CONSUMER_H

#include "consumer/planner.h"
#include "consumer/run.h"

struct lks_consumer {
    struct lks_stream *stream;
    struct lks_share share;
    uint64_t starve_timeout_ms;
    uint64_t join_timeout_ms;
    struct lks_cancel cancel; /* of the threads that run now */
    struct lks_follower follower;
    struct lks_prefetch prefetch;
    struct lks_shelf *shelf;
    struct lks_planner planner;
    struct lks_member member;
    bool reclaims; /* whenever it has checkpointed */
    uint64_t step; /* the next to hand out */

    struct {
        bool cancelled; /* by the user, for good */
    } locked;           /* by the prefetch's monitor */
};

/* Looks at the stream once, and starts no thread. */
enum lks_status lks_consumer_new(struct lks_stream *stream,
                                 uint32_t rank,
                                 uint32_t dp,
                                 uint32_t cp,
                                 uint64_t step,
                                 const struct lks_options *options,
                                 struct lks_consumer **out_consumer,
                                 struct lks_error *error);
void lks_consumer_free(struct lks_consumer *consumer);

/* For lks_consumer_cancel(). */
void lks_consumer_stop(struct lks_consumer *consumer);

/* For lks_consumer_set_allocator(): batches' memory is the source's from now
 * on. */
enum lks_status lks_consumer_use_blocks(struct lks_consumer *consumer,
                                        const struct lks_block_source *source,
                                        struct lks_error *error);

/* For lks_consumer_next(). */
enum lks_status lks_consumer_take(struct lks_consumer *consumer,
                                  struct lks_batch **out_batch,
                                  struct lks_error *error);

/* For lks_consumer_restore(). */
enum lks_status lks_consumer_seek(struct lks_consumer *consumer,
                                  uint64_t step,
                                  struct lks_error *error);

/* For lks_consumer_checkpointed(): publishes `oldest`, by a checkpoint at
 * `step`. */
enum lks_status lks_consumer_publish(struct lks_consumer *consumer,
                                     uint64_t step,
                                     uint64_t oldest,
                                     struct lks_error *error);

/* For lks_consumer_stats(). */
enum lks_status lks_consumer_report(struct lks_consumer *consumer,
                                    char **out_json,
                                    struct lks_error *error);

/* One slice of one step, without a consumer: for lks_stream_get(). */
enum lks_status lks_consumer_read_one(struct lks_stream *stream,
                                      uint64_t step,
                                      uint32_t rank,
                                      struct lks_batch **out_batch,
                                      struct lks_error *error);

#endif
