/*
 * The public functions of consumers and batches: check arguments, call inward.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "consumer/consumer.h"
#include "format/state.h"

static enum lks_status refuse_null(const char *name, struct lks_error *error)
{
    return lks_error_set(error, LKS_INVALID, "%s is NULL", name);
}

/* Whether the handle may be used, by this process. */
static enum lks_status check(const struct lks_consumer *consumer,
                             struct lks_error *error)
{
    if (consumer == NULL)
        return refuse_null("consumer", error);
    return lks_stream_check_fork(consumer->stream, error);
}

enum lks_status lks_consumer_open(struct lks_stream *stream,
                                  uint32_t rank,
                                  uint32_t dp,
                                  uint32_t cp,
                                  uint64_t step,
                                  const struct lks_options *options,
                                  struct lks_consumer **out_consumer,
                                  struct lks_error *error)
{
    enum lks_status status;

    if (stream == NULL)
        return refuse_null("stream", error);
    if (out_consumer == NULL)
        return refuse_null("out_consumer", error);
    status = lks_stream_check_fork(stream, error);
    if (status == LKS_OK)
        status = lks_options_check(options, error);
    if (status != LKS_OK)
        return status;
    return lks_consumer_new(stream, rank, dp, cp, step, options, out_consumer,
                            error);
}

void lks_consumer_close(struct lks_consumer *consumer)
{
    if (check(consumer, NULL) == LKS_OK)
        lks_consumer_free(consumer);
}

void lks_consumer_cancel(struct lks_consumer *consumer)
{
    if (check(consumer, NULL) == LKS_OK)
        lks_consumer_stop(consumer);
}

enum lks_status lks_consumer_set_allocator(struct lks_consumer *consumer,
                                           lks_allocate_fn *allocate,
                                           lks_deallocate_fn *deallocate,
                                           lks_release_fn *release,
                                           void *arg,
                                           struct lks_error *error)
{
    const struct lks_block_source source = {
        .allocate = allocate,
        .deallocate = deallocate,
        .release = release,
        .arg = arg,
    };
    enum lks_status status = check(consumer, error);

    if (status != LKS_OK)
        return status;
    if (allocate == NULL)
        return refuse_null("allocate", error);
    if (deallocate == NULL)
        return refuse_null("deallocate", error);
    return lks_consumer_use_blocks(consumer, &source, error);
}

enum lks_status lks_consumer_next(struct lks_consumer *consumer,
                                  struct lks_batch **out_batch,
                                  struct lks_error *error)
{
    enum lks_status status = check(consumer, error);

    if (status != LKS_OK)
        return status;
    if (out_batch == NULL)
        return refuse_null("out_batch", error);
    return lks_consumer_take(consumer, out_batch, error);
}

uint64_t lks_consumer_step(const struct lks_consumer *consumer)
{
    return consumer != NULL ? consumer->step : 0;
}

enum lks_status lks_consumer_state(const struct lks_consumer *consumer,
                                   char *text,
                                   size_t size,
                                   struct lks_error *error)
{
    enum lks_status status = check(consumer, error);

    if (status != LKS_OK)
        return status;
    if (text == NULL)
        return refuse_null("text", error);
    if (size < LKS_STATE_SIZE_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "a state needs %u bytes, not %zu",
                             LKS_STATE_SIZE_MAX, size);
    lks_state_encode(consumer->stream->descriptor.stream, consumer->step, text);
    return LKS_OK;
}

/* Whose state it is: the stream's, or its parent's at the fork. */
static enum lks_status check_origin(const struct lks_stream *stream,
                                    const uint8_t id[LKS_ID_SIZE],
                                    uint64_t step,
                                    struct lks_error *error)
{
    const struct lks_descriptor *descriptor = &stream->descriptor;
    char id_text[2 * LKS_ID_SIZE + 1];

    if (memcmp(id, descriptor->stream, LKS_ID_SIZE) == 0)
        return LKS_OK;
    if (descriptor->parent_url != NULL &&
        memcmp(id, descriptor->parent_stream, LKS_ID_SIZE) == 0) {
        if (step == descriptor->first_step)
            return LKS_OK;
        return lks_error_set(
            error, step < descriptor->first_step ? LKS_RECLAIMED : LKS_INVALID,
            "the state is of the parent stream at %.160s, step %" PRIu64
            "; this one has gone its own way from step %" PRIu64 " on",
            descriptor->parent_url, step, descriptor->first_step);
    }
    lks_hex_encode(id, LKS_ID_SIZE, id_text);
    return lks_error_set(error, LKS_INVALID,
                         "the state is of stream %s, not of %s at %.160s",
                         id_text, stream->id_text, stream->store->url);
}

enum lks_status lks_consumer_restore(struct lks_consumer *consumer,
                                     const char *state,
                                     struct lks_error *error)
{
    enum lks_status status = check(consumer, error);
    uint8_t id[LKS_ID_SIZE];
    uint64_t step;

    if (status != LKS_OK)
        return status;
    if (state == NULL)
        return refuse_null("state", error);
    status = lks_state_decode(state, id, &step, error);
    if (status != LKS_OK)
        return status;
    status = check_origin(consumer->stream, id, step, error);
    if (status != LKS_OK)
        return status;
    return lks_consumer_seek(consumer, step, error);
}

enum lks_status lks_consumer_stats(struct lks_consumer *consumer,
                                   char **out_json,
                                   struct lks_error *error)
{
    enum lks_status status = check(consumer, error);

    if (status != LKS_OK)
        return status;
    if (out_json == NULL)
        return refuse_null("out_json", error);
    return lks_consumer_report(consumer, out_json, error);
}

/* Of a batch only the memory is used, so that it may outlive everything. */
void lks_batch_release(struct lks_batch *batch)
{
    lks_batch_free(batch);
}

uint64_t lks_batch_step(const struct lks_batch *batch)
{
    return batch != NULL ? batch->step : 0;
}

uint64_t lks_batch_next_step(const struct lks_batch *batch)
{
    return batch != NULL ? batch->next_step : 0;
}

size_t lks_batch_slice_count(const struct lks_batch *batch)
{
    return batch != NULL ? batch->slice_count : 0;
}

struct lks_slice lks_batch_slice(const struct lks_batch *batch, size_t index)
{
    struct lks_slice none = {NULL, 0};

    if (batch == NULL || index >= batch->slice_count)
        return none;
    return batch->slices[index];
}

enum lks_status lks_batch_meta(struct lks_batch *batch,
                               const void **out_data,
                               size_t *out_size,
                               struct lks_error *error)
{
    enum lks_status status;

    if (batch == NULL)
        return refuse_null("batch", error);
    if (out_data == NULL)
        return refuse_null("out_data", error);
    if (out_size == NULL)
        return refuse_null("out_size", error);
    status = lks_stream_check_fork(batch->stream, error);
    if (status != LKS_OK)
        return status;
    return lks_batch_read_meta(batch, out_data, out_size, error);
}

enum lks_status lks_stream_get(struct lks_stream *stream,
                               uint64_t step,
                               uint32_t rank,
                               struct lks_batch **out_batch,
                               struct lks_error *error)
{
    enum lks_status status;

    if (stream == NULL)
        return refuse_null("stream", error);
    if (out_batch == NULL)
        return refuse_null("out_batch", error);
    status = lks_stream_check_fork(stream, error);
    if (status != LKS_OK)
        return status;
    return lks_consumer_read_one(stream, step, rank, out_batch, error);
}
