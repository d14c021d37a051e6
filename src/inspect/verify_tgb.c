/*
 * One step's object against its entry: there, of the right size, its footer the
 * one that was committed; and on request every byte of its frames.
 */
#include "inspect/verify.h"

#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"

/* Frames are read several at once up to this size; a larger one on its own. */
#define PIECE_SIZE (8u << 20)

static uint64_t frame_size(const struct lks_footer *footer, uint32_t index)
{
    return footer->frames != NULL ? footer->frames[index] : footer->uniform;
}

/* The entry's table, unless it leaves that to the footer. */
static bool table_agrees(const struct lks_entry *entry,
                         const struct lks_footer *footer)
{
    const struct lks_table *table = &entry->table;

    for (uint32_t i = 0; i < table->count; i++) {
        if (table->kind == LKS_TABLE_UNIFORM &&
            table->uniform != frame_size(footer, i))
            return false;
        if (table->kind == LKS_TABLE_INLINE &&
            table->frames[i] != frame_size(footer, i))
            return false;
    }
    return true;
}

static const char *disagreement(const struct lks_stream *stream,
                                const struct lks_entry *entry,
                                const struct lks_footer *footer)
{
    const struct lks_descriptor *descriptor = &stream->descriptor;

    if (memcmp(footer->stream, descriptor->stream, LKS_ID_SIZE) != 0)
        return "another stream";
    if (footer->dp != descriptor->dp || footer->cp != descriptor->cp)
        return "another mesh";
    if (strcmp(footer->producer, entry->producer) != 0)
        return "another producer";
    if (footer->epoch != entry->epoch)
        return "another epoch";
    if (lks_owner_tag(footer->owner) != entry->owner_tag)
        return "another owner";
    if (footer->seq != entry->seq)
        return "another seq";
    if (footer->raw_max != entry->raw_max)
        return "another size of its largest slice";
    if (!table_agrees(entry, footer))
        return "another slice table";
    return NULL;
}

static enum lks_status check_frame(struct lks_verify *verify,
                                   const uint8_t *bytes,
                                   uint32_t index,
                                   const struct lks_footer *footer,
                                   struct lks_error *error)
{
    struct lks_buf *slice = &verify->slice;
    struct lks_frame frame;
    enum lks_status status;

    status = lks_frame_decode(bytes, frame_size(footer, index), index,
                              footer->seq, &frame, error);
    if (status != LKS_OK || frame.codec == LKS_CODEC_NONE)
        return status;
    if (frame.raw_size > footer->raw_max)
        return lks_error_set(error, LKS_CORRUPT,
                             "slice %" PRIu32 " has %" PRIu64
                             " bytes, the footer says at most %" PRIu64,
                             index, frame.raw_size, footer->raw_max);
    lks_buf_clear(slice);
    status = lks_buf_reserve(slice, frame.raw_size, error);
    if (status != LKS_OK)
        return status;
    status =
        lks_codec_unpack(frame.codec, bytes + LKS_FRAME_HEADER_SIZE,
                         frame.stored_size, slice->data, frame.raw_size, error);
    if (status != LKS_OK)
        return lks_error_prefix(error, status, "slice %" PRIu32, index);
    return LKS_OK;
}

/* Frames [first, end), which begin at `offset` and have `size` bytes. */
static enum lks_status check_piece(struct lks_verify *verify,
                                   const char *name,
                                   const struct lks_footer *footer,
                                   uint32_t first,
                                   uint32_t end,
                                   uint64_t offset,
                                   uint64_t size,
                                   struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf *buf = &verify->frames;
    uint64_t at = 0;
    enum lks_status status;

    if (size > LKS_VERIFY_FRAME_MAX)
        return lks_error_set(error, LKS_CORRUPT,
                             "slice %" PRIu32 " would take %" PRIu64 " bytes",
                             first, size);
    lks_buf_clear(buf);
    status = lks_buf_reserve(buf, size, error);
    if (status != LKS_OK)
        return status;
    status = lks_store_get_exact(verify->stream->store, name, offset, buf->data,
                                 size, &call, error);
    if (status != LKS_OK)
        return status;
    for (uint32_t i = first; i < end; i++) {
        status = check_frame(verify, buf->data + at, i, footer, error);
        if (status != LKS_OK)
            return status;
        at += frame_size(footer, i);
    }
    return LKS_OK;
}

static enum lks_status check_frames(struct lks_verify *verify,
                                    const char *name,
                                    const struct lks_footer *footer,
                                    struct lks_error *error)
{
    uint32_t count = verify->stream->slice_count;
    uint64_t offset = 0;
    uint32_t first = 0;

    while (first < count) {
        uint64_t size = frame_size(footer, first);
        uint32_t end = first + 1;
        enum lks_status status;

        while (end < count && size + frame_size(footer, end) <= PIECE_SIZE) {
            size += frame_size(footer, end);
            end++;
        }
        status =
            check_piece(verify, name, footer, first, end, offset, size, error);
        if (status != LKS_OK)
            return status;
        offset += size;
        first = end;
    }
    return LKS_OK;
}

/* The footer's bytes, after a look at the object's size. */
static enum lks_status read_footer(struct lks_verify *verify,
                                   const char *name,
                                   const struct lks_entry *entry,
                                   struct lks_footer *out_footer,
                                   struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf *buf = &verify->footer;
    enum lks_status status;

    if (entry->footer_size > entry->size ||
        entry->footer_size > LKS_FOOTER_SIZE_MAX)
        return lks_error_set(error, LKS_CORRUPT,
                             "its entry gives it a footer of %" PRIu32 " bytes",
                             entry->footer_size);
    lks_buf_clear(buf);
    status = lks_buf_reserve(buf, entry->footer_size, error);
    if (status != LKS_OK)
        return status;
    status = lks_store_get(verify->stream->store, name,
                           entry->size - entry->footer_size, buf->data,
                           entry->footer_size, &buf->size, &call, error);
    if (status != LKS_OK)
        return status;
    if (call.object_size != entry->size)
        return lks_error_set(error, LKS_CORRUPT,
                             "it has %" PRIu64 " bytes, %" PRIu64
                             " were committed as step %" PRIu64,
                             call.object_size, entry->size, entry->step);
    if (buf->size != entry->footer_size ||
        lks_crc32c(buf->data, buf->size) != entry->footer_crc)
        return lks_error_set(error, LKS_CORRUPT,
                             "its footer is not the one that was committed as "
                             "step %" PRIu64,
                             entry->step);
    return lks_footer_decode(buf->data, buf->size, entry->size, out_footer,
                             error);
}

/* What the object says, once its footer is right in itself. */
static enum lks_status check_object(struct lks_verify *verify,
                                    const char *name,
                                    const struct lks_entry *entry,
                                    const struct lks_footer *footer,
                                    struct lks_error *error)
{
    const char *what = disagreement(verify->stream, entry, footer);
    enum lks_status status;

    if (what != NULL) {
        lks_ledger_lose_offset(&verify->ledger, entry->producer);
        return lks_error_set(error, LKS_CORRUPT,
                             "its footer names %s than step %" PRIu64, what,
                             entry->step);
    }
    status = lks_ledger_take_footer(&verify->ledger, name, footer, error);
    if (status == LKS_OK && verify->data)
        status = check_frames(verify, name, footer, error);
    return status;
}

enum lks_status lks_verify_tgb(struct lks_verify *verify,
                               const struct lks_entry *entry,
                               struct lks_error *error)
{
    struct lks_footer footer;
    struct lks_error found;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_data_name(entry->producer, entry->epoch, entry->owner_tag, entry->seq,
                  name);
    status = read_footer(verify, name, entry, &footer, &found);
    if (status != LKS_NOT_FOUND) {
        verify->present_count++;
        verify->byte_count += entry->size;
    }
    if (status == LKS_OK) {
        status = check_object(verify, name, entry, &footer, &found);
        lks_footer_done(&footer);
    } else {
        lks_ledger_lose_offset(&verify->ledger, entry->producer);
    }
    if (status == LKS_NOT_FOUND)
        return lks_verify_missing(verify, name, entry->step, error);
    if (status != LKS_OK)
        return lks_verify_judge(verify, name, &found, error);
    return LKS_OK;
}
