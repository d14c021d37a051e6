/*
 * Making a batch, and the parts of it that need no thread: where its slices
 * stand in the TGB, what memory they take, its metadata.
 */
#include "consumer/batch.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "manifest/lookup.h"

/* Neighbouring slices come with one read. */
static void make_fetches(struct lks_batch *batch, const struct lks_share *share)
{
    uint32_t count = share->slice_count / (uint32_t)batch->fetch_count;

    for (size_t i = 0; i < batch->fetch_count; i++) {
        struct lks_fetch *fetch = &batch->fetches[i];

        fetch->batch = batch;
        fetch->place = i * count;
        fetch->index = share->slice_first + (uint32_t)i * share->slice_stride;
        fetch->count = count;
    }
}

enum lks_status lks_batch_new(struct lks_stream *stream,
                              struct lks_shelf *shelf,
                              const struct lks_share *share,
                              uint64_t step,
                              struct lks_batch **out_batch,
                              struct lks_error *error)
{
    struct lks_batch *batch = lks_alloc_zero(1, sizeof(*batch));

    if (batch == NULL)
        return lks_error_no_memory(error);
    batch->stream = stream;
    if (shelf != NULL)
        batch->shelf = lks_shelf_acquire(shelf);
    batch->step = step;
    batch->next_step = step + share->group;
    batch->slice_count = share->slice_count;
    batch->fetch_count = share->slice_stride == 1 ? 1 : share->slice_count;
    lks_buf_init(&batch->footer_bytes, LKS_FOOTER_SIZE_MAX);

    batch->slices = lks_alloc_zero(batch->slice_count, sizeof(*batch->slices));
    batch->frame_sizes =
        lks_alloc_zero(batch->slice_count, sizeof(*batch->frame_sizes));
    batch->fetches =
        lks_alloc_zero(batch->fetch_count, sizeof(*batch->fetches));
    if (batch->slices == NULL || batch->frame_sizes == NULL ||
        batch->fetches == NULL) {
        lks_batch_free(batch);
        return lks_error_no_memory(error);
    }
    make_fetches(batch, share);
    *out_batch = batch;
    return LKS_OK;
}

void lks_batch_free(struct lks_batch *batch)
{
    if (batch == NULL)
        return;
    for (size_t i = 0; batch->fetches != NULL && i < batch->fetch_count; i++) {
        lks_shelf_give(batch->shelf, &batch->fetches[i].stored);
        lks_shelf_give(batch->shelf, &batch->fetches[i].unpacked);
    }
    lks_shelf_release(batch->shelf);
    if (batch->footer_is_read)
        lks_footer_done(&batch->footer);
    lks_buf_done(&batch->footer_bytes);
    lks_free(batch->fetches);
    lks_free(batch->frame_sizes);
    lks_free(batch->slices);
    lks_free(batch);
}

void lks_source_set(struct lks_source *source, const struct lks_entry *entry)
{
    size_t producer_size = strlen(entry->producer);

    assert(producer_size < sizeof(source->producer));

    source->entry = *entry;
    memcpy(source->producer, entry->producer, producer_size + 1);
    source->entry.producer = source->producer;
    source->entry.table.frames = NULL;
    if (entry->table.kind == LKS_TABLE_INLINE) {
        assert(entry->table.count <= LKS_TABLE_INLINE_MAX);
        memcpy(source->frames, entry->table.frames,
               entry->table.count * sizeof(source->frames[0]));
        source->entry.table.frames = source->frames;
    }
}

static enum lks_status refuse_table(const struct lks_batch *batch,
                                    struct lks_error *error)
{
    return lks_error_set(error, LKS_CORRUPT,
                         "step %" PRIu64 ": the slice table does not fit the "
                         "mesh, or the object of %" PRIu64 " bytes",
                         batch->source.entry.step, batch->source.entry.size);
}

static uint64_t frame_size(const struct lks_table *table, uint32_t index)
{
    return table->kind == LKS_TABLE_UNIFORM ? table->uniform
                                            : table->frames[index];
}

enum lks_status lks_batch_lay_out(struct lks_batch *batch,
                                  const struct lks_table *table,
                                  struct lks_error *error)
{
    uint64_t object_size = batch->source.entry.size;
    uint64_t offset = 0;
    uint32_t index = 0;

    if (batch->source.entry.raw_max > LKS_SLICE_SIZE_MAX)
        return refuse_table(batch, error);

    /* Once over the table: it can be long, and so can a rank's share. */
    for (size_t i = 0; i < batch->fetch_count; i++) {
        struct lks_fetch *fetch = &batch->fetches[i];

        assert(fetch->index >= index);
        assert(fetch->count <= table->count - fetch->index);

        for (; index < fetch->index; index++)
            offset += frame_size(table, index);
        fetch->offset = offset;
        for (uint32_t j = 0; j < fetch->count; j++, index++) {
            batch->frame_sizes[fetch->place + j] = frame_size(table, index);
            offset += frame_size(table, index);
        }
        fetch->size = offset - fetch->offset;
        if (offset > object_size)
            return refuse_table(batch, error);
    }
    return LKS_OK;
}

enum lks_status lks_batch_read_table(struct lks_batch *batch,
                                     const struct lks_cancel *cancel,
                                     struct lks_error *error)
{
    struct lks_table table = batch->source.entry.table;
    struct lks_footer footer;
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, LKS_FOOTER_SIZE_MAX);
    status = lks_lookup_footer(batch->stream, &batch->source.entry, cancel,
                               &buf, &footer, error);
    if (status != LKS_OK)
        goto done;
    if (footer.dp != batch->stream->descriptor.dp ||
        footer.cp != batch->stream->descriptor.cp) {
        status = refuse_table(batch, error);
    } else if (footer.frames == NULL) {
        table.kind = LKS_TABLE_UNIFORM;
        table.uniform = footer.uniform;
    } else {
        table.frames = footer.frames;
    }
    if (status == LKS_OK)
        status = lks_batch_lay_out(batch, &table, error);
    lks_footer_done(&footer);

done:
    lks_buf_done(&buf);
    return status;
}

uint64_t lks_batch_memory(const struct lks_batch *batch)
{
    uint64_t raw_max = batch->source.entry.raw_max;
    uint64_t size = 0;

    for (size_t i = 0; i < batch->fetch_count; i++)
        size += batch->fetches[i].size;
    return size + batch->slice_count * lks_align_up(raw_max, LKS_FRAME_ALIGN);
}

enum lks_status lks_batch_read_meta(struct lks_batch *batch,
                                    const void **out_data,
                                    size_t *out_size,
                                    struct lks_error *error)
{
    if (!batch->footer_is_read) {
        enum lks_status status =
            lks_lookup_footer(batch->stream, &batch->first.entry, NULL,
                              &batch->footer_bytes, &batch->footer, error);

        if (status != LKS_OK)
            return status;
        batch->footer_is_read = true;
    }
    *out_data = batch->footer.meta;
    *out_size = batch->footer.meta_size;
    return LKS_OK;
}
