/*
 * Frames and where they stand: the part of a TGB that a rank reads.
 *
 * docs/format.md, "TGB", has the layout; footers are in footer.c.
 */
#include "format/tgb.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "format/frames.h"

#define FRAME_MAGIC "LKSF"
#define FRAME_CRC_AT 60u

uint64_t lks_frame_size(uint64_t stored_size)
{
    return lks_align_up(LKS_FRAME_HEADER_SIZE + stored_size, LKS_FRAME_ALIGN);
}

void lks_frame_encode(const struct lks_frame *frame,
                      uint8_t header[LKS_FRAME_HEADER_SIZE])
{
    memset(header, 0, LKS_FRAME_HEADER_SIZE);
    memcpy(header, FRAME_MAGIC, 4);
    lks_put_u32(header + 4, (uint32_t)frame->codec);
    lks_put_u64(header + 8, frame->raw_size);
    lks_put_u64(header + 16, frame->stored_size);
    lks_put_u32(header + 24, frame->index);
    lks_put_u32(header + 28, frame->payload_crc);
    lks_put_u64(header + 32, frame->seq);
    lks_put_u32(header + FRAME_CRC_AT, lks_crc32c(header, FRAME_CRC_AT));
}

/* What stands in the header, once its checksum has shown it to be one. */
static enum lks_status read_header(const uint8_t *header,
                                   struct lks_frame *frame,
                                   struct lks_error *error)
{
    uint32_t codec;

    if (memcmp(header, FRAME_MAGIC, 4) != 0)
        return lks_error_set(error, LKS_CORRUPT, "no frame begins here");
    if (lks_get_u32(header + FRAME_CRC_AT) != lks_crc32c(header, FRAME_CRC_AT))
        return lks_error_set(error, LKS_CORRUPT,
                             "the frame's header has a wrong checksum");

    codec = lks_get_u32(header + 4);
    if (codec > LKS_CODEC_ZSTD)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the frame is packed with codec %" PRIu32
                             ", which only a newer version reads",
                             codec);
    if (!lks_bytes_are_zero(header + 40, FRAME_CRC_AT - 40))
        return lks_error_set(error, LKS_CORRUPT,
                             "the frame's header is not zero at its end");

    frame->codec = (enum lks_codec)codec;
    frame->raw_size = lks_get_u64(header + 8);
    frame->stored_size = lks_get_u64(header + 16);
    frame->index = lks_get_u32(header + 24);
    frame->payload_crc = lks_get_u32(header + 28);
    frame->seq = lks_get_u64(header + 32);
    return LKS_OK;
}

/* The format's own bound, so that no codec's version decides what is read. */
static uint64_t stored_max(const struct lks_frame *frame)
{
    if (frame->codec == LKS_CODEC_NONE)
        return frame->raw_size;
    return frame->raw_size + frame->raw_size / 128 + 128;
}

/* Whether the header's sizes can be true, alone and for `size` bytes. */
static enum lks_status check_sizes(const struct lks_frame *frame,
                                   uint64_t size,
                                   struct lks_error *error)
{
    if (frame->raw_size > LKS_SLICE_SIZE_MAX)
        return lks_error_set(error, LKS_CORRUPT,
                             "the frame's slice would have %" PRIu64 " bytes",
                             frame->raw_size);
    if (frame->stored_size > stored_max(frame) ||
        (frame->codec == LKS_CODEC_NONE &&
         frame->stored_size != frame->raw_size))
        return lks_error_set(error, LKS_CORRUPT,
                             "the frame stores %" PRIu64
                             " bytes of a slice of %" PRIu64,
                             frame->stored_size, frame->raw_size);
    if (lks_frame_size(frame->stored_size) != size)
        return lks_error_set(error, LKS_CORRUPT,
                             "the frame has %" PRIu64 " bytes where %" PRIu64
                             " are set aside",
                             lks_frame_size(frame->stored_size), size);
    return LKS_OK;
}

enum lks_status lks_frame_decode(const uint8_t *bytes,
                                 uint64_t size,
                                 uint32_t index,
                                 uint64_t seq,
                                 struct lks_frame *out_frame,
                                 struct lks_error *error)
{
    const uint8_t *payload = bytes + LKS_FRAME_HEADER_SIZE;
    struct lks_frame frame;
    enum lks_status status;
    uint64_t end;

    if (size < LKS_FRAME_HEADER_SIZE)
        return lks_error_set(error, LKS_CORRUPT,
                             "%" PRIu64 " bytes are too few for a frame", size);
    status = read_header(bytes, &frame, error);
    if (status != LKS_OK)
        return status;
    status = check_sizes(&frame, size, error);
    if (status != LKS_OK)
        return status;
    if (frame.index != index || frame.seq != seq)
        return lks_error_set(error, LKS_CORRUPT,
                             "slice %" PRIu32 " of seq %" PRIu64
                             " stands where slice %" PRIu32 " of seq %" PRIu64
                             " belongs",
                             frame.index, frame.seq, index, seq);

    if (lks_crc32c(payload, frame.stored_size) != frame.payload_crc)
        return lks_error_set(error, LKS_CORRUPT,
                             "slice %" PRIu32 " has a wrong checksum", index);
    end = LKS_FRAME_HEADER_SIZE + frame.stored_size;
    if (!lks_bytes_are_zero(bytes + end, size - end))
        return lks_error_set(error, LKS_CORRUPT,
                             "slice %" PRIu32 " is not followed by zeroes",
                             index);
    *out_frame = frame;
    return LKS_OK;
}

bool lks_frame_size_is_valid(uint64_t size)
{
    return size >= LKS_FRAME_HEADER_SIZE && size % LKS_FRAME_ALIGN == 0 &&
           size <= LKS_FRAME_SIZE_MAX;
}

bool lks_frames_sum(const uint64_t *frames, size_t count, uint64_t *out_sum)
{
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++) {
        if (!lks_frame_size_is_valid(frames[i]))
            return false;
        total += frames[i];
    }
    *out_sum = total;
    return true;
}

enum lks_table_kind lks_table_kind_of(const uint64_t *frames, uint32_t count)
{
    assert(count > 0);

    for (uint32_t i = 1; i < count; i++) {
        if (frames[i] != frames[0])
            return count <= LKS_TABLE_INLINE_MAX ? LKS_TABLE_INLINE
                                                 : LKS_TABLE_FOOTER;
    }
    return LKS_TABLE_UNIFORM;
}

static uint64_t sum(const uint64_t *frames, uint32_t count)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += frames[i];
    return total;
}

void lks_table_range(const struct lks_table *table,
                     uint32_t index,
                     uint32_t count,
                     uint64_t *out_offset,
                     uint64_t *out_size)
{
    assert(index <= table->count);
    assert(count <= table->count - index);

    if (table->kind == LKS_TABLE_UNIFORM) {
        *out_offset = table->uniform * index;
        *out_size = table->uniform * count;
        return;
    }
    assert(table->frames != NULL);
    *out_offset = sum(table->frames, index);
    *out_size = sum(table->frames + index, count);
}
