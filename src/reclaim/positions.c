/*
 * Finding producers' positions at a step, by nothing below it: that may be
 * deleted, with the footers that had the offsets after those TGBs.
 *
 * The map at the end of the step's block says where each producer was then. For
 * one that has no TGB between, that is where it was at the step. For any other,
 * its first TGB from the step on says it: its seq, and the offset before it.
 */
#include "reclaim/positions.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "manifest/lookup.h"

struct search {
    struct lks_positions *positions;
    struct lks_log *log;
    struct lks_lookup lookup;
    uint64_t end; /* of the steps that the map counts */
};

void lks_positions_init(struct lks_positions *positions)
{
    *positions = (struct lks_positions){.items = NULL};
}

void lks_positions_done(struct lks_positions *positions)
{
    lks_free(positions->items);
    lks_positions_init(positions);
}

static enum lks_status set_offset(struct lks_position *position,
                                  const void *offset,
                                  size_t size,
                                  struct lks_error *error)
{
    if (size > sizeof(position->offset))
        return lks_error_set(error, LKS_CORRUPT,
                             "an offset of producer %s has %zu bytes",
                             position->id, size);
    if (size > 0)
        memcpy(position->offset, offset, size);
    position->offset_size = size;
    return LKS_OK;
}

static enum lks_status take_record(struct lks_positions *positions,
                                   const struct lks_producer_record *record,
                                   struct lks_error *error)
{
    struct lks_position *position = &positions->items[positions->count];

    memcpy(position->id, record->id, strlen(record->id) + 1);
    position->epoch = record->epoch;
    position->next_seq = record->next_seq;
    positions->count++;
    return set_offset(position, record->offset, record->offset_size, error);
}

static enum lks_status reserve(struct lks_positions *positions,
                               uint32_t count,
                               struct lks_error *error)
{
    positions->items = lks_alloc_zero(count, sizeof(*positions->items));
    return positions->items == NULL ? lks_error_no_memory(error) : LKS_OK;
}

static enum lks_status take_head(struct search *search, struct lks_error *error)
{
    const struct lks_manifest *head = search->log->head;
    uint32_t count = lks_manifest_producer_count(head);
    enum lks_status status = reserve(search->positions, count, error);

    for (uint32_t i = 0; i < count && status == LKS_OK; i++) {
        struct lks_producer_record record;

        lks_manifest_producer(head, i, &record);
        status = take_record(search->positions, &record, error);
    }
    search->end = lks_manifest_next_step(head);
    return status;
}

static enum lks_status read_block(struct search *search,
                                  uint64_t step,
                                  struct lks_index **out_index,
                                  struct lks_error *error)
{
    const struct lks_stream *stream = search->log->stream;
    uint64_t number = step / LKS_BLOCK_STEPS;
    struct lks_call call = LKS_CALL_INIT;
    char name[LKS_NAME_SIZE];
    struct lks_buf buf;
    enum lks_status status;

    lks_index_name(number, name);
    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    status = lks_store_get_all(stream->store, name, 4 * LKS_MANIFEST_GUESS,
                               &buf, &call, error);
    if (status == LKS_NOT_FOUND) {
        status =
            lks_lookup_explain(search->log->stream, NULL, step, name, error);
    } else if (status == LKS_OK) {
        status = lks_index_decode(buf.data, buf.size, stream->descriptor.stream,
                                  number, out_index, error);
        if (status != LKS_OK)
            lks_error_prefix(error, status, "%s/%s", stream->store->url, name);
    }
    lks_buf_done(&buf);
    return status;
}

static enum lks_status take_block(struct search *search,
                                  uint64_t step,
                                  struct lks_error *error)
{
    struct lks_index *index = NULL;
    enum lks_status status = read_block(search, step, &index, error);
    uint32_t count;

    if (status != LKS_OK)
        return status;
    count = lks_index_producer_count(index);
    status = reserve(search->positions, count, error);
    for (uint32_t i = 0; i < count && status == LKS_OK; i++) {
        struct lks_producer_record record;

        lks_index_producer(index, i, &record);
        status = take_record(search->positions, &record, error);
    }
    search->end = (step / LKS_BLOCK_STEPS + 1) * LKS_BLOCK_STEPS;
    lks_index_free(index);
    return status;
}

static struct lks_position *find(const struct lks_positions *positions,
                                 const char *id)
{
    for (uint32_t i = 0; i < positions->count; i++) {
        if (strcmp(positions->items[i].id, id) == 0)
            return &positions->items[i];
    }
    return NULL;
}

/* By the producer's first TGB from the step on. */
static enum lks_status settle(struct search *search,
                              struct lks_position *position,
                              const struct lks_entry *entry,
                              struct lks_error *error)
{
    struct lks_footer footer;
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, entry->footer_size);
    status = lks_lookup_footer(search->log->stream, entry, NULL, &buf, &footer,
                               error);
    if (status == LKS_OK) {
        position->next_seq = entry->seq;
        position->settled = true;
        status = set_offset(position, footer.offset_before,
                            footer.offset_before_size, error);
        lks_footer_done(&footer);
    }
    lks_buf_done(&buf);
    return status;
}

static enum lks_status settle_all(struct search *search,
                                  uint64_t step,
                                  struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    for (; step < search->end && status == LKS_OK; step++) {
        struct lks_position *position;
        struct lks_entry entry;

        status =
            lks_lookup_entry(&search->lookup, search->log, step, &entry, error);
        if (status != LKS_OK)
            break;
        position = find(search->positions, entry.producer);
        if (position == NULL)
            status = lks_error_set(error, LKS_CORRUPT,
                                   "producer %s of step %" PRIu64
                                   " is not in the map: run 'lakestream "
                                   "verify'",
                                   entry.producer, step);
        else if (!position->settled)
            status = settle(search, position, &entry, error);
    }
    return status;
}

enum lks_status lks_positions_find(struct lks_positions *positions,
                                   struct lks_log *log,
                                   uint64_t step,
                                   struct lks_error *error)
{
    struct search search = {.positions = positions, .log = log};
    enum lks_status status;

    assert(step >= lks_manifest_first_live_step(log->head));
    assert(step <= lks_manifest_next_step(log->head));

    lks_lookup_init(&search.lookup, log->stream, log->cancel);
    if (step >= lks_manifest_tail_first(log->head))
        status = take_head(&search, error);
    else
        status = take_block(&search, step, error);
    if (status == LKS_OK)
        status = settle_all(&search, step, error);
    lks_lookup_done(&search.lookup);
    return status;
}
