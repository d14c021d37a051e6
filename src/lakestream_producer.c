/*
 * The public functions about producers: arguments are checked here, and the
 * room producer/ does the rest. See include/lakestream.h, "Producers".
 */
#include "lakestream.h"

#include <inttypes.h>
#include <string.h>

#include "producer/producer.h"

#define STATS_SIZE_MAX 4096u

enum lks_status lks_producer_open(struct lks_stream *stream,
                                  const char *id,
                                  const struct lks_options *options,
                                  struct lks_producer **out_producer,
                                  struct lks_error *error)
{
    enum lks_status status;

    if (stream == NULL || id == NULL || out_producer == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    status = lks_id_check("producer id", id, error);
    if (status == LKS_OK)
        status = lks_stream_check_fork(stream, error);
    if (status == LKS_OK)
        status = lks_options_check(options, error);
    if (status != LKS_OK)
        return status;
    return lks_producer_start(stream, id, options, out_producer, error);
}

void lks_producer_close(struct lks_producer *producer)
{
    if (producer != NULL &&
        lks_stream_check_fork(producer->stream, NULL) == LKS_OK)
        lks_producer_stop(producer);
}

void lks_producer_cancel(struct lks_producer *producer)
{
    lks_cancel_set(&producer->cancel);
    lks_monitor_enter(producer->stream->env, producer->queue.monitor);
    lks_monitor_wake(producer->stream->env, producer->queue.monitor);
    lks_monitor_leave(producer->stream->env, producer->queue.monitor);
}

uint64_t lks_producer_next_seq(const struct lks_producer *producer)
{
    return lks_queue_next_seq((struct lks_queue *)&producer->queue);
}

void lks_producer_offset(const struct lks_producer *producer,
                         const void **out_data,
                         size_t *out_size)
{
    *out_size = producer->offset.size;
    *out_data = producer->offset.size > 0 ? producer->offset.data : NULL;
}

static enum lks_status check_open(const struct lks_producer *producer,
                                  struct lks_error *error)
{
    if (producer == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    if (producer->finished)
        return lks_error_set(error, LKS_INVALID,
                             "producer %s is finished: open it again to append "
                             "more",
                             producer->identity.id);
    return lks_stream_check_fork(producer->stream, error);
}

static enum lks_status check_sizes(const struct lks_stream *stream,
                                   const struct lks_slice *slices,
                                   size_t count,
                                   struct lks_error *error)
{
    if (slices == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    if (count != stream->slice_count)
        return lks_error_set(error, LKS_INVALID,
                             "a TGB of this stream has %" PRIu32
                             " slices (dp %" PRIu32 " x cp %" PRIu32
                             "), not %zu",
                             stream->slice_count, stream->descriptor.dp,
                             stream->descriptor.cp, count);
    for (size_t i = 0; i < count; i++) {
        if (slices[i].size > LKS_SLICE_SIZE_MAX)
            return lks_error_set(error, LKS_INVALID,
                                 "slice %zu has %zu bytes; a slice may have %u",
                                 i, slices[i].size, LKS_SLICE_SIZE_MAX);
    }
    return LKS_OK;
}

static enum lks_status check_data(const struct lks_slice *slices,
                                  size_t count,
                                  struct lks_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (slices[i].data == NULL && slices[i].size > 0)
            return lks_error_set(error, LKS_INVALID, "slice %zu has no data",
                                 i);
    }
    return LKS_OK;
}

/* `what` is opaque bytes of a bounded size. */
static enum lks_status check_bytes(const char *what,
                                   const void *data,
                                   size_t size,
                                   size_t size_max,
                                   struct lks_error *error)
{
    if (data == NULL && size > 0)
        return lks_error_set(error, LKS_INVALID, "%s is NULL", what);
    if (size > size_max)
        return lks_error_set(error, LKS_INVALID,
                             "%s has %zu bytes; it may have %zu", what, size,
                             size_max);
    return LKS_OK;
}

enum lks_status lks_producer_check(const struct lks_stream *stream,
                                   const struct lks_slice *slices,
                                   size_t count,
                                   size_t meta_size,
                                   const struct lks_options *options,
                                   struct lks_error *error)
{
    enum lks_status status = lks_options_check(options, error);
    enum lks_codec codec;

    if (status == LKS_OK && stream == NULL)
        status = lks_error_set(error, LKS_INVALID, "an argument is NULL");
    if (status == LKS_OK)
        status = check_sizes(stream, slices, count, error);
    if (status != LKS_OK)
        return status;
    codec = (enum lks_codec)lks_options_number(options, LKS_OPTION_CODEC);
    return lks_queue_check_size(
        lks_tgb_held_size(codec, slices, count, meta_size),
        lks_options_number(options, LKS_OPTION_PRODUCER_BYTES), error);
}

enum lks_status lks_producer_append(struct lks_producer *producer,
                                    const struct lks_slice *slices,
                                    size_t count,
                                    const void *offset,
                                    size_t offset_size,
                                    const void *meta,
                                    size_t meta_size,
                                    lks_release_fn *release,
                                    void *release_arg,
                                    struct lks_error *error)
{
    struct lks_tgb *tgb = NULL;
    enum lks_status status = check_open(producer, error);

    if (status == LKS_OK)
        status = check_sizes(producer->stream, slices, count, error);
    if (status == LKS_OK)
        status = check_data(slices, count, error);
    if (status == LKS_OK)
        status = check_bytes("the offset", offset, offset_size,
                             LKS_OFFSET_SIZE_MAX, error);
    if (status == LKS_OK)
        status = check_bytes("the metadata", meta, meta_size, LKS_META_SIZE_MAX,
                             error);
    if (status == LKS_OK)
        status = lks_tgb_new(&producer->writer, slices, count, meta, meta_size,
                             &tgb, error);
    if (status != LKS_OK)
        return status;
    if (offset_size > 0)
        memcpy(tgb->after.data, offset, offset_size);
    tgb->after.size = (uint32_t)offset_size;
    tgb->held_size =
        lks_tgb_held_size(producer->writer.codec, slices, count, meta_size);
    tgb->release = release;
    tgb->release_arg = release_arg;
    return lks_producer_add(producer, tgb, error);
}

enum lks_status lks_producer_flush(struct lks_producer *producer,
                                   struct lks_error *error)
{
    enum lks_status status = check_open(producer, error);

    if (status != LKS_OK)
        return status;
    return lks_queue_wait_empty(&producer->queue,
                                lks_env_deadline_ms(producer->stream->env,
                                                    producer->flush_timeout_ms),
                                error);
}

enum lks_status lks_producer_finish(struct lks_producer *producer,
                                    struct lks_error *error)
{
    enum lks_status status = check_open(producer, error);

    if (status != LKS_OK)
        return status;
    return lks_producer_complete(producer, error);
}

enum lks_status lks_producer_stats(struct lks_producer *producer,
                                   char **out_json,
                                   struct lks_error *error)
{
    struct lks_queue_stats stats;
    const struct lks_histogram *visible = &stats.visible_us;
    struct lks_buf buf;
    enum lks_status status;
    char *text;

    if (producer == NULL || out_json == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    lks_queue_read_stats(&producer->queue, &stats);
    lks_buf_init(&buf, STATS_SIZE_MAX);
    status = lks_buf_append_format(
        &buf, error,
        "{\"tgbs\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"commits\": %" PRIu64
        ", \"attempts\": %" PRIu64 ", \"conflicts\": %" PRIu64
        ", \"throttled\": %" PRIu64 ", \"requests\": %" PRIu64
        ", \"requests_per_commit\": %.3f, \"attempt_ms\": %.3f"
        ", \"look_ms\": %.3f, \"active\": %" PRIu32 ", \"gap_ms\": %.3f"
        ", \"append_to_visible_ms\": {\"p50\": %.3f, \"p95\": %.3f, "
        "\"max\": %.3f}, \"blocked_ms\": %.3f}",
        stats.tgb_count, stats.raw_size, stats.won_count, stats.try_count,
        stats.lost_count, stats.throttled_count, stats.request_count,
        (double)stats.request_count /
            (double)(stats.won_count > 0 ? stats.won_count : 1),
        (double)stats.attempt_ns / 1e6, (double)stats.look_ns / 1e6,
        stats.active, (double)stats.gap_ns / 1e6,
        (double)lks_histogram_quantile(visible, 0.5) / 1e3,
        (double)lks_histogram_quantile(visible, 0.95) / 1e3,
        (double)visible->max / 1e3, (double)stats.blocked_ns / 1e6);
    if (status == LKS_OK) {
        text = lks_buf_take_text(&buf);
        if (text == NULL)
            status = lks_error_no_memory(error);
        else
            *out_json = text;
    }
    lks_buf_done(&buf);
    return status;
}
