/*
 * Entries and producers: checked once when decoded, then only read.
 *
 * Everything here looks at bytes that anybody could have written, so each
 * number is held against what the others say before it is used for anything.
 */
#include "format/entries.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/env.h"
#include "format/frames.h"

#define OBJECT_SIZE_MAX (LKS_SLICE_COUNT_MAX * LKS_FRAME_SIZE_MAX)

const char *lks_entry_problem(const Lks__Entry *entry)
{
    uint64_t frames_size;
    uint64_t total;

    if (entry->size > OBJECT_SIZE_MAX)
        return "its object is too large";
    if (entry->footer_size < LKS_TRAILER_SIZE ||
        entry->footer_size > LKS_FOOTER_SIZE_MAX ||
        entry->footer_size >= entry->size)
        return "its footer has an impossible size";
    if (entry->raw_max > LKS_SLICE_SIZE_MAX)
        return "its largest slice is too large";

    frames_size = entry->size - entry->footer_size;
    if (frames_size % LKS_FRAME_ALIGN != 0)
        return "its frames are not aligned";
    if (entry->n_frames > 0) {
        if (entry->uniform != 0 || entry->n_frames > LKS_TABLE_INLINE_MAX ||
            !lks_frames_sum(entry->frames, entry->n_frames, &total) ||
            total != frames_size)
            return "its slice table does not fill the object";
    } else if (entry->uniform != 0) {
        if (!lks_frame_size_is_valid(entry->uniform) ||
            frames_size % entry->uniform != 0)
            return "its slices' length does not fill the object";
    }
    return NULL;
}

static enum lks_status check_writers(const struct lks_entries *entries,
                                     struct lks_error *error)
{
    if (entries->writer_count > LKS_BLOCK_STEPS)
        return lks_error_set(error, LKS_CORRUPT, "it has too many writers");
    for (size_t i = 0; i < entries->writer_count; i++) {
        if (!lks_id_is_valid(entries->writers[i]->producer))
            return lks_error_set(error, LKS_CORRUPT,
                                 "writer %zu has no valid id", i);
    }
    return LKS_OK;
}

/* What an entry says against the one before it, which may be NULL. */
static const char *problem_after(const Lks__Entry *entry,
                                 const Lks__Entry *before)
{
    if (before == NULL)
        return entry->total < entry->size ? "its total is too small" : NULL;
    if (entry->total < before->total ||
        entry->total - before->total != entry->size)
        return "its total does not follow";
    if (entry->version < before->version)
        return "its version does not follow";
    return NULL;
}

enum lks_status lks_entries_check(const struct lks_entries *entries,
                                  uint64_t version_max,
                                  struct lks_error *error)
{
    enum lks_status status = check_writers(entries, error);
    const Lks__Entry *before = NULL;

    if (status != LKS_OK)
        return status;
    for (size_t i = 0; i < entries->count; i++) {
        const Lks__Entry *entry = entries->items[i];
        const char *problem = lks_entry_problem(entry);

        if (problem == NULL)
            problem = problem_after(entry, before);
        if (problem == NULL && entry->writer >= entries->writer_count)
            problem = "its writer is not there";
        if (problem == NULL &&
            (entry->version == 0 || entry->version > version_max))
            problem = "its version is impossible";
        if (problem != NULL)
            return lks_error_set(error, LKS_CORRUPT,
                                 "the entry of step %" PRIu64 " is wrong: %s",
                                 entries->first + i, problem);
        before = entry;
    }
    return LKS_OK;
}

static void get_table(const Lks__Entry *entry,
                      uint32_t slice_count,
                      struct lks_table *table)
{
    uint64_t frames_size = entry->size - entry->footer_size;

    table->kind = LKS_TABLE_FOOTER;
    table->count = slice_count;
    table->uniform = 0;
    table->frames = NULL;
    if (entry->uniform != 0 && frames_size / entry->uniform == slice_count) {
        table->kind = LKS_TABLE_UNIFORM;
        table->uniform = entry->uniform;
    } else if (entry->n_frames > 0 && entry->n_frames == slice_count) {
        table->kind = LKS_TABLE_INLINE;
        table->frames = entry->frames;
    }
}

void lks_entries_get(const struct lks_entries *entries,
                     uint64_t step,
                     uint32_t slice_count,
                     struct lks_entry *out_entry)
{
    const Lks__Writer *writer;
    const Lks__Entry *entry;

    assert(step >= entries->first);
    assert(step - entries->first < entries->count);

    entry = entries->items[step - entries->first];
    writer = entries->writers[entry->writer];
    out_entry->step = step;
    out_entry->producer = writer->producer;
    out_entry->epoch = writer->epoch;
    out_entry->owner_tag = writer->owner_tag;
    out_entry->seq = entry->seq;
    out_entry->size = entry->size;
    out_entry->version = entry->version;
    out_entry->total = entry->total;
    out_entry->footer_crc = entry->footer_crc;
    out_entry->footer_size = entry->footer_size;
    out_entry->raw_max = entry->raw_max;
    get_table(entry, slice_count, &out_entry->table);
}

static const char *producer_problem(const Lks__Producer *producer)
{
    if (!lks_id_is_valid(producer->id))
        return "its id is none";
    if (producer->owner.len != LKS_ID_SIZE)
        return "its owner has not 16 bytes";
    if (producer->offset.len > LKS_OFFSET_SIZE_MAX)
        return "its offset is too long";
    if (strlen(producer->host) >= LKS_HOST_SIZE)
        return "its host is too long";
    return NULL;
}

enum lks_status lks_producers_check(Lks__Producer *const *producers,
                                    size_t count,
                                    struct lks_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *problem = producer_problem(producers[i]);

        if (problem == NULL && i > 0 &&
            strcmp(producers[i - 1]->id, producers[i]->id) >= 0)
            problem = "its id is out of order";
        if (problem != NULL)
            return lks_error_set(error, LKS_CORRUPT,
                                 "producer %zu (%.64s) is wrong: %s", i,
                                 producers[i]->id, problem);
    }
    return LKS_OK;
}

bool lks_producers_find(Lks__Producer *const *producers,
                        size_t count,
                        const char *id,
                        size_t *out_place)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(producers[middle]->id, id);

        if (order == 0) {
            *out_place = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_place = low;
    return false;
}

void lks_producer_get(const Lks__Producer *producer,
                      struct lks_producer_record *out_record)
{
    out_record->id = producer->id;
    out_record->epoch = producer->epoch;
    memcpy(out_record->owner, producer->owner.data, LKS_ID_SIZE);
    out_record->host = producer->host;
    out_record->pid = producer->pid;
    out_record->next_seq = producer->next_seq;
    out_record->offset = producer->offset.data;
    out_record->offset_size = producer->offset.len;
    out_record->finished = producer->finished;
    out_record->version = producer->version;
}
