/*
 * One step's object against its entry: there, of the right size, its footer the
 * one that was committed; and on request every byte of its frames. Runs on any
 * thread, and touches nothing but its own look.
 */
#include "inspect/verify_window.h"

#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"

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

/* What the footer says otherwise than the entry; NULL: nothing. */
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

static enum lks_status check_frame(struct lks_look *look,
                                   const uint8_t *bytes,
                                   uint32_t index)
{
    const struct lks_footer *footer = &look->footer;
    struct lks_error *error = &look->found;
    struct lks_buf *slice = &look->slice;
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
static enum lks_status check_piece(struct lks_look *look,
                                   uint32_t first,
                                   uint32_t end,
                                   uint64_t offset,
                                   uint64_t size)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf *buf = &look->frames;
    uint64_t at = 0;
    enum lks_status status;

    lks_buf_clear(buf);
    status = lks_buf_reserve(buf, size, &look->found);
    if (status != LKS_OK)
        return status;
    status = lks_store_get_exact(look->window->stream->store, look->name,
                                 offset, buf->data, size, &call, &look->found);
    if (status != LKS_OK)
        return status;
    for (uint32_t i = first; i < end; i++) {
        status = check_frame(look, buf->data + at, i);
        if (status != LKS_OK)
            return status;
        at += frame_size(&look->footer, i);
    }
    return LKS_OK;
}

/* A frame on its own. Its memory is given back at once: a slice may have a
 * GiB, and there are several looks. */
static enum lks_status check_large(struct lks_look *look,
                                   uint32_t index,
                                   uint64_t offset,
                                   uint64_t size)
{
    enum lks_status status;

    if (size > look->frames.size_max)
        return lks_error_set(&look->found, LKS_CORRUPT,
                             "slice %" PRIu32 " would take %" PRIu64 " bytes",
                             index, size);
    lks_window_enter_large(look->window);
    status = check_piece(look, index, index + 1, offset, size);
    lks_buf_done(&look->frames);
    lks_buf_done(&look->slice);
    lks_window_leave_large(look->window);
    return status;
}

static enum lks_status check_frames(struct lks_look *look)
{
    uint32_t count = look->window->stream->slice_count;
    uint64_t offset = 0;
    uint32_t first = 0;

    while (first < count) {
        uint64_t size = frame_size(&look->footer, first);
        uint32_t end = first + 1;
        enum lks_status status;

        while (end < count &&
               size + frame_size(&look->footer, end) <= LKS_LOOK_PIECE_SIZE) {
            size += frame_size(&look->footer, end);
            end++;
        }
        if (size > LKS_LOOK_PIECE_SIZE)
            status = check_large(look, first, offset, size);
        else
            status = check_piece(look, first, end, offset, size);
        if (status != LKS_OK)
            return status;
        offset += size;
        first = end;
    }
    return LKS_OK;
}

/* The footer's bytes, after a look at the object's size. */
static enum lks_status read_footer(struct lks_look *look)
{
    const struct lks_entry *entry = &look->entry;
    struct lks_error *error = &look->found;
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf *buf = &look->footer_bytes;
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
    status = lks_store_get(look->window->stream->store, look->name,
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
    return LKS_OK;
}

static enum lks_status check_footer(struct lks_look *look)
{
    const struct lks_buf *buf = &look->footer_bytes;
    const char *what;
    enum lks_status status;

    status = lks_footer_decode(buf->data, buf->size, look->entry.size,
                               &look->footer, &look->found);
    if (status != LKS_OK)
        return status;
    what = disagreement(look->window->stream, &look->entry, &look->footer);
    look->has_footer = what == NULL;
    if (look->has_footer)
        return LKS_OK;
    lks_footer_done(&look->footer);
    return lks_error_set(&look->found, LKS_CORRUPT,
                         "its footer names %s than step %" PRIu64, what,
                         look->entry.step);
}

void lks_look_run(struct lks_look *look)
{
    look->status = read_footer(look);
    if (look->status == LKS_OK)
        look->status = check_footer(look);
    if (look->status == LKS_OK && look->window->data)
        look->status = check_frames(look);
}
