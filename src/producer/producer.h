/*
 * A producer: its queue, the pool that uploads, the thread that commits.
 *
 * The public functions in src/lakestream_producer.c check their arguments and
 * call these.
 */
#ifndef LKS_PRODUCER_PRODUCER_H
#define LKS_PRODUCER_PRODUCER_H

#include "producer/commit.h"

struct lks_producer {
    struct lks_stream *stream;
    struct lks_identity identity;
    struct lks_tgb_writer writer;
    struct lks_offset offset; /* committed when it was opened */
    uint64_t flush_timeout_ms;
    struct lks_cancel cancel;
    struct lks_queue queue;
    struct lks_committer committer;
    struct lks_pool *uploads;
    struct lks_thread *thread; /* NULL once it has been joined */
    bool finished;
};

/* Takes the id and starts the threads. */
enum lks_status lks_producer_start(struct lks_stream *stream,
                                   const char *id,
                                   const struct lks_options *options,
                                   struct lks_producer **out_producer,
                                   struct lks_error *error);

/* Stops the threads and frees it. */
void lks_producer_stop(struct lks_producer *producer);

/* Hands a TGB to the queue and the pool; takes it over, but not its slices if
 * it fails: their release is then not called. */
enum lks_status lks_producer_add(struct lks_producer *producer,
                                 struct lks_tgb *tgb,
                                 struct lks_error *error);

/* All committed, then finished. */
enum lks_status lks_producer_complete(struct lks_producer *producer,
                                      struct lks_error *error);

#endif
