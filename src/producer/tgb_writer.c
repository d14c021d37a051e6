/*
 * Writing one TGB: frames around the caller's slices, whose bytes are read once
 * for their checksum and once to be sent, and never copied.
 *
 * The object's name holds the producer's owner, so that nobody else ever writes
 * to it and a put whose answer was lost can be sent again.
 */
#include "producer/tgb_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/trace.h"

/* Before each payload: up to 63 bytes of padding, right before the header. */
#define GAP_SIZE (LKS_FRAME_ALIGN + LKS_FRAME_HEADER_SIZE)

uint64_t lks_tgb_held_size(enum lks_codec codec,
                           const struct lks_slice *slices,
                           size_t count,
                           size_t meta_size)
{
    uint64_t held = sizeof(struct lks_tgb) + meta_size;

    for (size_t i = 0; i < count; i++) {
        held += slices[i].size + GAP_SIZE;
        if (codec != LKS_CODEC_NONE)
            held += lks_codec_bound(codec, slices[i].size);
    }
    return held;
}

enum lks_status lks_tgb_new(const struct lks_tgb_writer *writer,
                            const struct lks_slice *slices,
                            size_t count,
                            const void *meta,
                            size_t meta_size,
                            struct lks_tgb **out_tgb,
                            struct lks_error *error)
{
    struct lks_tgb *tgb = lks_alloc_zero(1, sizeof(*tgb));

    if (tgb == NULL)
        return lks_error_no_memory(error);
    tgb->job.run = lks_tgb_upload;
    tgb->writer = writer;
    tgb->slice_count = (uint32_t)count;
    lks_buf_init(&tgb->tail, LKS_FOOTER_SIZE_MAX + LKS_FRAME_ALIGN);
    tgb->slices = lks_memory_dup(slices, count * sizeof(*slices));
    tgb->frames = lks_alloc_zero(count, sizeof(*tgb->frames));
    tgb->gaps = lks_alloc_zero(count, GAP_SIZE);
    tgb->packed = lks_alloc_zero(count, sizeof(*tgb->packed));
    tgb->meta = lks_memory_dup(meta, meta_size);
    tgb->meta_size = meta_size;
    if (tgb->slices == NULL || tgb->frames == NULL || tgb->gaps == NULL ||
        tgb->packed == NULL || tgb->meta == NULL) {
        lks_tgb_free(tgb);
        return lks_error_no_memory(error);
    }
    *out_tgb = tgb;
    return LKS_OK;
}

/* All that is needed only until the object is stored. */
static void drop_bytes(struct lks_tgb *tgb)
{
    for (uint32_t i = 0; tgb->packed != NULL && i < tgb->slice_count; i++)
        lks_free(tgb->packed[i]);
    lks_free(tgb->packed);
    lks_free(tgb->slices);
    lks_free(tgb->gaps);
    lks_free(tgb->meta);
    tgb->packed = NULL;
    tgb->slices = NULL;
    tgb->gaps = NULL;
    tgb->meta = NULL;
    lks_buf_done(&tgb->tail);
    if (tgb->release != NULL)
        tgb->release(tgb->release_arg);
    tgb->release = NULL;
}

void lks_tgb_free(struct lks_tgb *tgb)
{
    if (tgb == NULL)
        return;
    drop_bytes(tgb);
    lks_free(tgb->frames);
    lks_free(tgb);
}

/* Packs slice `index` if that makes it smaller; *out_codec says whether. */
static enum lks_status pack_slice(struct lks_tgb *tgb,
                                  uint32_t index,
                                  enum lks_codec *out_codec,
                                  struct lks_error *error)
{
    const struct lks_tgb_writer *writer = tgb->writer;
    struct lks_slice *slice = &tgb->slices[index];
    size_t bound = lks_codec_bound(writer->codec, slice->size);
    size_t packed_size;
    enum lks_status status;
    void *packed;

    *out_codec = LKS_CODEC_NONE;
    if (writer->codec == LKS_CODEC_NONE || slice->size == 0)
        return LKS_OK;
    packed = lks_alloc(bound);
    if (packed == NULL)
        return lks_error_no_memory(error);
    status = lks_codec_pack(writer->codec, writer->codec_level, slice->data,
                            slice->size, packed, bound, &packed_size, error);
    if (status != LKS_OK || packed_size >= slice->size) {
        lks_free(packed);
        return status;
    }
    if (slice->size > tgb->raw_max)
        tgb->raw_max = slice->size;
    tgb->packed[index] = packed;
    slice->data = packed;
    slice->size = packed_size;
    *out_codec = writer->codec;
    return LKS_OK;
}

/* Fills gap `index`: the header of that slice's frame. */
static enum lks_status frame_slice(struct lks_tgb *tgb,
                                   uint32_t index,
                                   struct lks_error *error)
{
    struct lks_slice *slice = &tgb->slices[index];
    struct lks_frame frame = {
        .index = index,
        .seq = tgb->seq,
        .raw_size = slice->size,
    };
    enum lks_status status = pack_slice(tgb, index, &frame.codec, error);

    if (status != LKS_OK)
        return status;
    frame.stored_size = slice->size;
    frame.payload_crc = lks_crc32c(slice->data, slice->size);
    lks_frame_encode(&frame,
                     tgb->gaps + (size_t)index * GAP_SIZE + LKS_FRAME_ALIGN);
    tgb->frames[index] = lks_frame_size(slice->size);
    return LKS_OK;
}

/* Bytes of zeroes after a payload of this size. */
static size_t padding_of(size_t size)
{
    return (size_t)(lks_align_up(size, LKS_FRAME_ALIGN) - size);
}

static enum lks_status add_footer(struct lks_tgb *tgb, struct lks_error *error)
{
    const struct lks_tgb_writer *writer = tgb->writer;
    const struct lks_slice *last = &tgb->slices[tgb->slice_count - 1];
    size_t padding = padding_of(last->size);
    struct lks_footer footer = {
        .dp = writer->stream->descriptor.dp,
        .cp = writer->stream->descriptor.cp,
        .producer = writer->producer,
        .epoch = writer->epoch,
        .seq = tgb->seq,
        .offset_before = tgb->before.data,
        .offset_before_size = tgb->before.size,
        .offset_after = tgb->after.data,
        .offset_after_size = tgb->after.size,
        .meta = tgb->meta,
        .meta_size = tgb->meta_size,
        .raw_max = tgb->raw_max,
        .frames = tgb->frames,
    };
    uint64_t frames_size = 0;
    enum lks_status status;

    memcpy(footer.stream, writer->stream->descriptor.stream, LKS_ID_SIZE);
    memcpy(footer.owner, writer->owner, LKS_ID_SIZE);
    for (uint32_t i = 0; i < tgb->slice_count; i++)
        frames_size += tgb->frames[i];
    status = lks_buf_append_zero(&tgb->tail, padding, error);
    if (status == LKS_OK)
        status = lks_footer_encode(&footer, frames_size, &tgb->tail, error);
    if (status != LKS_OK)
        return status;
    tgb->footer_size = (uint32_t)(tgb->tail.size - padding);
    tgb->footer_crc = lks_crc32c(tgb->tail.data + padding, tgb->footer_size);
    tgb->size = frames_size + tgb->footer_size;
    return LKS_OK;
}

/* The object's bytes in order: a gap and a payload per slice, then the tail. */
static void list_parts(const struct lks_tgb *tgb, struct lks_part *parts)
{
    size_t padding = 0;
    uint32_t i;

    for (i = 0; i < tgb->slice_count; i++) {
        uint8_t *header = tgb->gaps + (size_t)i * GAP_SIZE + LKS_FRAME_ALIGN;

        parts[2 * i].data = header - padding;
        parts[2 * i].size = LKS_FRAME_HEADER_SIZE + padding;
        parts[2 * i + 1].data = tgb->slices[i].data;
        parts[2 * i + 1].size = tgb->slices[i].size;
        padding = padding_of(tgb->slices[i].size);
    }
    parts[2 * i].data = tgb->tail.data;
    parts[2 * i].size = tgb->tail.size;
}

/* Sends the same bytes to the same name until the store has them. */
static enum lks_status put_until_stored(struct lks_tgb *tgb,
                                        const char *name,
                                        const struct lks_part *parts,
                                        struct lks_error *error)
{
    const struct lks_tgb_writer *writer = tgb->writer;
    const struct lks_env *env = writer->stream->env;
    uint64_t deadline = lks_env_deadline_ms(env, writer->outage_timeout_ms);
    enum lks_status status;

    for (uint32_t failures = 1;; failures++) {
        struct lks_call call = LKS_CALL_INIT;

        call.cancel = writer->cancel;
        status = lks_store_put(writer->stream->store, name, parts,
                               2 * (size_t)tgb->slice_count + 1, &call, error);
        if (status != LKS_UNSURE && status != LKS_UNAVAILABLE)
            return status;
        LKS_TRACE(LKS_AREA_PRODUCER, "put %s: no success, again", name);
        if (lks_env_now_ns(env) >= deadline || lks_cancelled(writer->cancel))
            return lks_error_prefix(error, LKS_UNAVAILABLE,
                                    "gave up after %" PRIu64 " ms",
                                    writer->outage_timeout_ms);
        lks_backoff_sleep(&lks_backoff_outage, failures, env, writer->cancel);
    }
}

static enum lks_status store_tgb(struct lks_tgb *tgb, struct lks_error *error)
{
    const struct lks_tgb_writer *writer = tgb->writer;
    struct lks_part *parts = NULL;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    for (uint32_t i = 0; i < tgb->slice_count; i++) {
        status = frame_slice(tgb, i, error);
        if (status != LKS_OK)
            goto done;
    }
    status = add_footer(tgb, error);
    if (status != LKS_OK)
        goto done;
    parts = lks_alloc_zero(2 * (size_t)tgb->slice_count + 1, sizeof(*parts));
    if (parts == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    list_parts(tgb, parts);
    lks_data_name(writer->producer, writer->epoch, lks_owner_tag(writer->owner),
                  tgb->seq, name);
    status = put_until_stored(tgb, name, parts, error);

done:
    lks_free(parts);
    return status;
}

void lks_tgb_upload(struct lks_job *job)
{
    struct lks_tgb *tgb = LKS_JOB_OWNER(job, struct lks_tgb, job);
    struct lks_error error = {.status = LKS_OK};
    enum lks_status status = store_tgb(tgb, &error);

    drop_bytes(tgb);
    tgb->done(tgb, status, &error, tgb->done_arg);
}

void lks_tgb_entry(const struct lks_tgb *tgb, struct lks_entry *out_entry)
{
    const struct lks_tgb_writer *writer = tgb->writer;

    assert(tgb->stored);

    *out_entry = (struct lks_entry){
        .producer = writer->producer,
        .epoch = writer->epoch,
        .owner_tag = lks_owner_tag(writer->owner),
        .seq = tgb->seq,
        .size = tgb->size,
        .footer_crc = tgb->footer_crc,
        .footer_size = tgb->footer_size,
        .raw_max = tgb->raw_max,
        .table.count = tgb->slice_count,
        .table.kind = lks_table_kind_of(tgb->frames, tgb->slice_count),
        .table.uniform = tgb->frames[0],
        .table.frames = tgb->frames,
    };
}
