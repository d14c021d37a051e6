/*
 * The buffers that TGBs are put together in. The library reads them until the
 * upload is done and then gives them back, from any thread.
 */
#ifndef LAKESTREAM_CLI_PACK_BUFFERS_H
#define LAKESTREAM_CLI_PACK_BUFFERS_H

#include <pthread.h>

#include "pack_plan.h"

struct pack_buffers;

/* One TGB: its bytes, with the header of each slice in its place. */
struct pack_buffer {
    uint8_t *bytes;
    struct lks_slice *slices;
    struct pack_buffers *owner;
    struct pack_buffer *next; /* of the free ones */
};

struct pack_buffers {
    const struct pack_plan *plan;
    size_t wanted; /* more than this are made only if all are stuck */

    struct {
        pthread_mutex_t mutex;
        pthread_cond_t freed;
        size_t count;
        struct pack_buffer *free;
    } locked;
};

enum lks_status pack_buffers_init(struct pack_buffers *buffers,
                                  const struct pack_plan *plan,
                                  struct lks_error *error);

/* All must have been given back. */
void pack_buffers_done(struct pack_buffers *buffers);

/* Waits for a free one. */
enum lks_status pack_buffers_acquire(struct pack_buffers *buffers,
                                     struct pack_buffer **out_buffer,
                                     struct lks_error *error);

/* An lks_release_fn for a struct pack_buffer. */
void pack_buffer_release(void *buffer);

#endif
