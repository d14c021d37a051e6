/*
 * Building the next version: every change either happens or leaves the
 * manifest as it was.
 *
 * So what a change needs is allocated first, and then put in by steps that
 * cannot fail. All of it is freed by freeing the messages.
 */
#include "format/manifest.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "format/manifest_inside.h"

void lks_manifest_advance(struct lks_manifest *manifest)
{
    Lks__ManifestHead *head = manifest->head;

    assert(manifest->control != NULL);
    assert(manifest->version < UINT64_MAX);

    manifest->version++;
    if (!lks_manifest_tail_is_full(manifest))
        return;
    for (size_t i = 0; i < head->n_tail; i++)
        lks_message_free(&head->tail[i]->base);
    for (size_t i = 0; i < head->n_writers; i++)
        lks_message_free(&head->writers[i]->base);
    head->n_tail = 0;
    head->n_writers = 0;
}

void *lks_manifest_grow(void *array, size_t count, size_t *capacity)
{
    size_t wanted = count < 8 ? 16 : 2 * count;
    void *grown;

    if (count < *capacity)
        return array;
    grown = lks_realloc(array, wanted * sizeof(void *));
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

/* All that an append puts in, made before anything is changed. */
struct addition {
    Lks__Producer *producer; /* the manifest's */
    Lks__Producer changed;   /* what that becomes */
    Lks__Entry *entry;
    Lks__Writer *writer; /* NULL: the table has it already */
};

static void addition_done(struct addition *addition)
{
    if (addition->entry != NULL)
        lks_message_free(&addition->entry->base);
    if (addition->writer != NULL)
        lks_message_free(&addition->writer->base);
    lks_free(addition->changed.offset.data);
}

/* The place of the entry's writer in the table, or the table's end. The last
 * one is the likeliest: commits append runs of one producer. */
static uint32_t find_writer(const Lks__ManifestHead *head,
                            const struct lks_entry *entry)
{
    for (size_t i = head->n_writers; i-- > 0;) {
        const Lks__Writer *writer = head->writers[i];

        if (writer->epoch == entry->epoch &&
            writer->owner_tag == entry->owner_tag &&
            strcmp(writer->producer, entry->producer) == 0)
            return (uint32_t)i;
    }
    return (uint32_t)head->n_writers;
}

static enum lks_status make_writer(const struct lks_entry *entry,
                                   struct addition *addition,
                                   struct lks_error *error)
{
    Lks__Writer *writer = lks_alloc(sizeof(*writer));

    if (writer == NULL)
        return lks_error_no_memory(error);
    lks__writer__init(writer);
    addition->writer = writer;
    writer->producer = lks_text_dup(entry->producer);
    if (writer->producer == NULL)
        return lks_error_no_memory(error);
    writer->epoch = entry->epoch;
    writer->owner_tag = entry->owner_tag;
    return LKS_OK;
}

static enum lks_status copy_table(const struct lks_table *table,
                                  Lks__Entry *message,
                                  struct lks_error *error)
{
    if (table->kind == LKS_TABLE_UNIFORM)
        message->uniform = table->uniform;
    if (table->kind != LKS_TABLE_INLINE)
        return LKS_OK;
    message->frames =
        lks_memory_dup(table->frames, table->count * sizeof(uint64_t));
    if (message->frames == NULL)
        return lks_error_no_memory(error);
    message->n_frames = table->count;
    return LKS_OK;
}

static enum lks_status make_entry(const struct lks_manifest *manifest,
                                  const struct lks_entry *entry,
                                  struct addition *addition,
                                  struct lks_error *error)
{
    Lks__Entry *message = lks_alloc(sizeof(*message));
    enum lks_status status;
    const char *problem;

    if (message == NULL)
        return lks_error_no_memory(error);
    lks__entry__init(message);
    addition->entry = message;
    message->writer = find_writer(manifest->head, entry);
    message->seq = entry->seq;
    message->size = entry->size;
    message->version = manifest->version;
    message->total = manifest->head->total_bytes + entry->size;
    message->footer_crc = entry->footer_crc;
    message->footer_size = entry->footer_size;
    message->raw_max = entry->raw_max;
    status = copy_table(&entry->table, message, error);
    if (status != LKS_OK)
        return status;
    problem = lks_entry_problem(message);
    if (problem != NULL)
        return lks_error_set(error, LKS_INVALID,
                             "seq %" PRIu64 " of producer %s is wrong: %s",
                             entry->seq, entry->producer, problem);
    if (message->writer < manifest->head->n_writers)
        return LKS_OK;
    return make_writer(entry, addition, error);
}

/* Whether the entry is what its producer's place in the map calls for. */
static enum lks_status check_place(const struct lks_manifest *manifest,
                                   const struct lks_entry *entry,
                                   struct addition *addition,
                                   struct lks_error *error)
{
    const Lks__ManifestControl *control = manifest->control;
    const Lks__ManifestHead *head = manifest->head;
    const Lks__Producer *producer;
    size_t place;

    if (head->ended)
        return lks_error_set(error, LKS_ENDED,
                             "the stream has ended at step %" PRIu64,
                             head->ended_at);
    if (head->next_step == LKS_STEP_MAX ||
        entry->size > LKS_STEP_MAX - head->total_bytes)
        return lks_error_set(error, LKS_INVALID, "the stream is full");
    if (!lks_producers_find(control->producers, control->n_producers,
                            entry->producer, &place))
        return lks_error_set(error, LKS_INVALID,
                             "producer %s is not in the manifest",
                             entry->producer);

    producer = control->producers[place];
    if (producer->next_seq == UINT64_MAX)
        return lks_error_set(error, LKS_INVALID, "producer %s has no seq left",
                             producer->id);
    if (producer->epoch != entry->epoch ||
        lks_owner_tag(producer->owner.data) != entry->owner_tag)
        return lks_error_set(error, LKS_FENCED,
                             "producer %s has another owner (%s, pid %" PRId64
                             ")",
                             producer->id, producer->host, producer->pid);
    if (producer->next_seq != entry->seq)
        return lks_error_set(error, LKS_INVALID,
                             "producer %s would commit seq %" PRIu64
                             " where %" PRIu64 " is next",
                             producer->id, entry->seq, producer->next_seq);
    addition->producer = control->producers[place];
    return LKS_OK;
}

/* What the producer becomes, its offset a copy. */
static enum lks_status make_producer(struct lks_manifest *manifest,
                                     const void *offset,
                                     size_t offset_size,
                                     struct addition *addition,
                                     struct lks_error *error)
{
    Lks__Producer *changed = &addition->changed;
    enum lks_status status;

    *changed = *addition->producer;
    changed->offset = lks_message_bytes(offset, offset_size);
    changed->next_seq++;
    changed->finished = false;
    changed->version = manifest->version;
    status =
        lks_manifest_check_map(manifest, changed->id,
                               lks_manifest_record_size(addition->producer),
                               lks_manifest_record_size(changed), error);
    changed->offset.data = NULL;
    if (status != LKS_OK || offset_size == 0)
        return status;
    changed->offset.data = lks_memory_dup(offset, offset_size);
    if (changed->offset.data == NULL)
        return lks_error_no_memory(error);
    return LKS_OK;
}

static enum lks_status make_room(struct lks_manifest *manifest,
                                 struct lks_error *error)
{
    Lks__ManifestHead *head = manifest->head;
    void *grown;

    grown =
        lks_manifest_grow(head->tail, head->n_tail, &manifest->tail_capacity);
    if (grown == NULL)
        return lks_error_no_memory(error);
    head->tail = grown;
    grown = lks_manifest_grow(head->writers, head->n_writers,
                              &manifest->writer_capacity);
    if (grown == NULL)
        return lks_error_no_memory(error);
    head->writers = grown;
    return LKS_OK;
}

/* Cannot fail, and leaves nothing in the addition. */
static void put_in(struct lks_manifest *manifest, struct addition *addition)
{
    Lks__ManifestHead *head = manifest->head;
    Lks__Producer *producer = addition->producer;

    lks_manifest_count_map(manifest, lks_manifest_record_size(producer),
                           lks_manifest_record_size(&addition->changed));
    lks_free(producer->offset.data);
    *producer = addition->changed;

    if (addition->writer != NULL)
        head->writers[head->n_writers++] = addition->writer;
    head->tail[head->n_tail++] = addition->entry;
    head->total_bytes = addition->entry->total;
    head->next_step++;
}

enum lks_status lks_manifest_append(struct lks_manifest *manifest,
                                    const struct lks_entry *entry,
                                    const void *offset,
                                    size_t offset_size,
                                    struct lks_error *error)
{
    struct addition addition = {0};
    enum lks_status status;

    assert(manifest->control != NULL);
    assert(manifest->version > 0);
    assert(!lks_manifest_tail_is_full(manifest));

    status = lks_manifest_check_offset(offset_size, error);
    if (status == LKS_OK)
        status = check_place(manifest, entry, &addition, error);
    if (status == LKS_OK)
        status = make_entry(manifest, entry, &addition, error);
    if (status == LKS_OK)
        status = make_producer(manifest, offset, offset_size, &addition, error);
    if (status == LKS_OK)
        status = make_room(manifest, error);
    if (status != LKS_OK) {
        addition_done(&addition);
        return status;
    }
    put_in(manifest, &addition);
    return LKS_OK;
}

void lks_manifest_end(struct lks_manifest *manifest)
{
    Lks__ManifestHead *head = manifest->head;

    if (head->ended)
        return;
    head->ended = true;
    head->ended_at = head->next_step;
}

void lks_manifest_end_if_complete(struct lks_manifest *manifest)
{
    const Lks__ManifestControl *control = manifest->control;

    assert(control != NULL);

    if (control->producers_to_end == 0 ||
        control->n_producers < control->producers_to_end)
        return;
    for (size_t i = 0; i < control->n_producers; i++) {
        if (!control->producers[i]->finished)
            return;
    }
    lks_manifest_end(manifest);
}
