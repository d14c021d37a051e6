/*
 * The buffers that TGBs are put together in.
 *
 * A few are enough to keep all uploads busy, and a few stay in the cache. Yet
 * to wait here for ever would be to wait for a library that has an error to
 * tell: so after a while one more is made, and the next append tells. What all
 * of them can grow to is the library's own producer_bytes.
 */
#include "pack_buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"

#define WAIT_S 1
#define BUFFERS_MIN 4u
#define BUFFERS_MAX 72u /* more than a producer may upload at a time */
#define BYTES_WANTED ((size_t)256 << 20)

enum lks_status pack_buffers_init(struct pack_buffers *buffers,
                                  const struct pack_plan *plan,
                                  struct lks_error *error)
{
    pthread_condattr_t attributes;

    *buffers = (struct pack_buffers){
        .plan = plan,
        .wanted = BYTES_WANTED / pack_plan_tgb_size(plan),
    };
    if (buffers->wanted < BUFFERS_MIN)
        buffers->wanted = BUFFERS_MIN;
    if (buffers->wanted > BUFFERS_MAX)
        buffers->wanted = BUFFERS_MAX;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (pthread_cond_init(&buffers->locked.freed, &attributes) != 0)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&buffers->locked.mutex, NULL);
    return LKS_OK;
}

static void free_buffer(struct pack_buffer *buffer)
{
    free(buffer->bytes);
    free(buffer->slices);
    free(buffer);
}

void pack_buffers_done(struct pack_buffers *buffers)
{
    while (buffers->locked.free != NULL) {
        struct pack_buffer *buffer = buffers->locked.free;

        buffers->locked.free = buffer->next;
        free_buffer(buffer);
    }
    pthread_cond_destroy(&buffers->locked.freed);
    pthread_mutex_destroy(&buffers->locked.mutex);
}

static void *aligned_bytes(size_t size)
{
    return aligned_alloc(SAFETENSORS_ALIGNMENT, size);
}

static struct pack_buffer *new_buffer(struct pack_buffers *owner)
{
    const struct pack_plan *plan = owner->plan;
    struct pack_buffer *buffer = calloc(1, sizeof(*buffer));

    if (buffer == NULL)
        return NULL;
    buffer->owner = owner;
    buffer->bytes = aligned_bytes(pack_plan_tgb_size(plan));
    buffer->slices = calloc(plan->slice_count, sizeof(*buffer->slices));
    if (buffer->bytes == NULL || buffer->slices == NULL) {
        free_buffer(buffer);
        return NULL;
    }
    for (size_t i = 0; i < plan->slice_count; i++) {
        uint8_t *slice = buffer->bytes + i * plan->slice_stride;

        memcpy(slice, plan->header, plan->header_size);
        buffer->slices[i].data = slice;
        buffer->slices[i].size = plan->slice_size;
    }
    return buffer;
}

/* A free buffer, or NULL if the caller should make one. */
static struct pack_buffer *take_locked(struct pack_buffers *buffers)
{
    struct timespec deadline;
    struct pack_buffer *buffer;
    int error = 0;

    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += WAIT_S;
    while (buffers->locked.free == NULL &&
           buffers->locked.count >= buffers->wanted && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&buffers->locked.freed,
                                       &buffers->locked.mutex, &deadline);
    buffer = buffers->locked.free;
    if (buffer != NULL)
        buffers->locked.free = buffer->next;
    else
        buffers->locked.count++;
    return buffer;
}

enum lks_status pack_buffers_acquire(struct pack_buffers *buffers,
                                     struct pack_buffer **out_buffer,
                                     struct lks_error *error)
{
    struct pack_buffer *buffer;

    pthread_mutex_lock(&buffers->locked.mutex);
    buffer = take_locked(buffers);
    pthread_mutex_unlock(&buffers->locked.mutex);

    if (buffer == NULL)
        buffer = new_buffer(buffers);
    if (buffer == NULL)
        return fail(error, LKS_NO_MEMORY,
                    "out of memory for a TGB of %zu "
                    "bytes; use a smaller --seq-len or --micro-batch",
                    pack_plan_tgb_size(buffers->plan));
    *out_buffer = buffer;
    return LKS_OK;
}

void pack_buffer_release(void *arg)
{
    struct pack_buffer *buffer = arg;
    struct pack_buffers *owner = buffer->owner;

    pthread_mutex_lock(&owner->locked.mutex);
    buffer->next = owner->locked.free;
    owner->locked.free = buffer;
    pthread_cond_signal(&owner->locked.freed);
    pthread_mutex_unlock(&owner->locked.mutex);
}
