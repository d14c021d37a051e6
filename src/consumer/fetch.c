/*
 * One range of a TGB becomes checked slices. Frames begin at multiples of 64
 * and their headers have 64 bytes, so that slices which are not packed are used
 * where the store put them. Nothing that fails a check is ever handed out.
 */
#include "consumer/fetch.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "manifest/lookup.h"

/* A wire can lie too: before stored bytes are called corrupt, they are read
 * once more. */
#define CHECK_TRIES 2

static enum lks_status get_stored(struct lks_fetch *fetch,
                                  const char *name,
                                  const struct lks_cancel *cancel,
                                  struct lks_fetch_cost *cost,
                                  struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;

    call.cancel = cancel;
    status = lks_store_get_exact(fetch->batch->stream->store, name,
                                 fetch->offset, fetch->stored.data,
                                 (size_t)fetch->size, &call, error);
    cost->get_count += call.request_count;
    if (status == LKS_OK)
        cost->fetched_size += fetch->size;
    return status;
}

/* Unpacks a frame whose place among the fetch's is `number`. */
static enum lks_status unpack(struct lks_fetch *fetch,
                              uint32_t number,
                              const struct lks_frame *frame,
                              const uint8_t *payload,
                              struct lks_slice *slice,
                              struct lks_error *error)
{
    uint64_t raw_max = fetch->batch->source.entry.raw_max;
    uint8_t *raw;

    /* More than was reserved for it. */
    if (frame->raw_size > raw_max)
        return lks_error_set(error, LKS_CORRUPT,
                             "unpacks to %" PRIu64 " bytes, but the stream "
                             "says at most %" PRIu64,
                             frame->raw_size, raw_max);
    raw =
        fetch->unpacked.data + number * lks_align_up(raw_max, LKS_FRAME_ALIGN);
    slice->data = raw;
    slice->size = (size_t)frame->raw_size;
    return lks_codec_unpack(frame->codec, payload, (size_t)frame->stored_size,
                            raw, (size_t)frame->raw_size, error);
}

/*
 * Keeps only the memory that slices point into. Returns how much of what was
 * reserved, stored and unpacked, is not needed.
 */
static uint64_t drop_unused(struct lks_fetch *fetch, uint32_t unpacked_count)
{
    uint64_t raw_max = fetch->batch->source.entry.raw_max;

    if (unpacked_count == 0) {
        lks_shelf_give(fetch->batch->shelf, &fetch->unpacked);
        return fetch->count * lks_align_up(raw_max, LKS_FRAME_ALIGN);
    }
    if (unpacked_count < fetch->count)
        return 0;
    lks_shelf_give(fetch->batch->shelf, &fetch->stored);
    return fetch->size;
}

/* Checks all frames, and makes the slices. */
static enum lks_status open_frames(struct lks_fetch *fetch,
                                   const char *name,
                                   struct lks_fetch_cost *cost,
                                   struct lks_error *error)
{
    struct lks_batch *batch = fetch->batch;
    uint32_t unpacked_count = 0;
    uint64_t needed_size = 0;
    uint64_t payload_size = 0;
    uint64_t at = 0;

    for (uint32_t i = 0; i < fetch->count; i++) {
        struct lks_slice *slice = &batch->slices[fetch->place + i];
        uint64_t size = batch->frame_sizes[fetch->place + i];
        const uint8_t *payload =
            fetch->stored.data + at + LKS_FRAME_HEADER_SIZE;
        struct lks_frame frame;
        enum lks_status status;

        status =
            lks_frame_decode(fetch->stored.data + at, size, fetch->index + i,
                             batch->source.entry.seq, &frame, error);
        if (status == LKS_OK && frame.codec != LKS_CODEC_NONE) {
            status = unpack(fetch, i, &frame, payload, slice, error);
            unpacked_count++;
        } else if (status == LKS_OK) {
            slice->data = payload;
            slice->size = (size_t)frame.stored_size;
        }
        if (status != LKS_OK)
            return lks_error_prefix(error, status,
                                    "step %" PRIu64 ", slice %" PRIu32
                                    " of %.160s/%s",
                                    batch->source.entry.step, fetch->index + i,
                                    batch->stream->store->url, name);
        needed_size += frame.stored_size;
        payload_size += slice->size;
        at += size;
    }
    cost->returned_size += drop_unused(fetch, unpacked_count);
    cost->needed_size += needed_size;
    cost->payload_size += payload_size;
    return LKS_OK;
}

/* All that the fetch may need: nothing is requested that has no place. */
static enum lks_status take_memory(struct lks_fetch *fetch,
                                   struct lks_error *error)
{
    struct lks_shelf *shelf = fetch->batch->shelf;
    uint64_t room =
        lks_align_up(fetch->batch->source.entry.raw_max, LKS_FRAME_ALIGN);
    enum lks_status status;

    status = lks_shelf_take(shelf, (size_t)fetch->size, &fetch->stored, error);
    if (status == LKS_OK && room > 0)
        status = lks_shelf_take(shelf, (size_t)(fetch->count * room),
                                &fetch->unpacked, error);
    return status;
}

static enum lks_status read_checked(struct lks_fetch *fetch,
                                    const char *name,
                                    const struct lks_cancel *cancel,
                                    struct lks_fetch_cost *cost,
                                    struct lks_error *error)
{
    enum lks_status status = LKS_CORRUPT;

    for (int i = 0; i < CHECK_TRIES && status == LKS_CORRUPT; i++) {
        status = get_stored(fetch, name, cancel, cost, error);
        if (status == LKS_OK)
            status = open_frames(fetch, name, cost, error);
    }
    return status;
}

enum lks_status lks_fetch_read(struct lks_fetch *fetch,
                               const struct lks_cancel *cancel,
                               struct lks_fetch_cost *cost,
                               struct lks_error *error)
{
    const struct lks_entry *entry = &fetch->batch->source.entry;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_data_name(entry->producer, entry->epoch, entry->owner_tag, entry->seq,
                  name);
    status = take_memory(fetch, error);
    if (status == LKS_OK)
        status = read_checked(fetch, name, cancel, cost, error);
    if (status == LKS_NOT_FOUND)
        status = lks_lookup_explain(fetch->batch->stream, cancel, entry->step,
                                    name, error);
    if (status != LKS_OK) {
        lks_shelf_give(fetch->batch->shelf, &fetch->stored);
        lks_shelf_give(fetch->batch->shelf, &fetch->unpacked);
    }
    return status;
}
