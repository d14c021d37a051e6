/*
 * Index blocks: a full tail and the map of producers, as the manifest that
 * filled it has them.
 *
 * The messages in both are the same, so sealing copies nothing but bytes, and
 * two who seal from one manifest write the same. docs/format.md, "Index block".
 */
#include "format/index.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "format/manifest_inside.h"
#include "format/sections.h"

static const struct lks_sections_kind index_kind = {"LKSINDX", "index block",
                                                    LKS_INDEX_SIZE_MAX};

struct lks_index {
    uint64_t number;
    Lks__IndexHead *head;
    Lks__IndexControl *control; /* NULL: only the head was decoded */
};

enum lks_status lks_index_encode(const struct lks_manifest *manifest,
                                 struct lks_buf *buf,
                                 struct lks_error *error)
{
    Lks__IndexHead head = LKS__INDEX_HEAD__INIT;
    Lks__IndexControl control = LKS__INDEX_CONTROL__INIT;

    assert(manifest->control != NULL);
    assert(lks_manifest_tail_is_full(manifest));

    head.n_writers = manifest->head->n_writers;
    head.writers = manifest->head->writers;
    head.n_entries = manifest->head->n_tail;
    head.entries = manifest->head->tail;
    control.n_producers = manifest->control->n_producers;
    control.producers = manifest->control->producers;
    return lks_sections_encode(&index_kind, manifest->stream,
                               lks_manifest_tail_first(manifest) /
                                   LKS_BLOCK_STEPS,
                               &head.base, &control.base, buf, error);
}

/* A block ends where the next begins; a fork's first may begin later. */
uint64_t lks_index_first(const struct lks_index *index)
{
    return index->number * LKS_BLOCK_STEPS + LKS_BLOCK_STEPS -
           index->head->n_entries;
}

static struct lks_entries index_entries(const struct lks_index *index)
{
    struct lks_entries entries = {
        .first = lks_index_first(index),
        .count = index->head->n_entries,
        .items = index->head->entries,
        .writer_count = index->head->n_writers,
        .writers = index->head->writers,
    };

    return entries;
}

static enum lks_status check_head(const struct lks_index *index,
                                  struct lks_error *error)
{
    const Lks__IndexHead *head = index->head;
    struct lks_entries entries;
    enum lks_status status;

    status = lks_required_check(head->n_required, head->required, error);
    if (status != LKS_OK)
        return status;
    if (index->number > LKS_STEP_MAX / LKS_BLOCK_STEPS)
        return lks_error_set(error, LKS_CORRUPT,
                             "no index block has such a number");
    if (head->n_entries == 0 || head->n_entries > LKS_BLOCK_STEPS)
        return lks_error_set(error, LKS_CORRUPT,
                             "an index block cannot have %zu entries",
                             head->n_entries);
    entries = index_entries(index);
    return lks_entries_check(&entries, UINT64_MAX, error);
}

static enum lks_status check_control(const struct lks_index *index,
                                     struct lks_error *error)
{
    const Lks__IndexControl *control = index->control;

    if (control->n_producers > LKS_PRODUCERS_MAX)
        return lks_error_set(error, LKS_CORRUPT,
                             "the index block has too many producers");
    return lks_producers_check(control->producers, control->n_producers, error);
}

static enum lks_status decode_sections(const struct lks_sections *sections,
                                       struct lks_index *index,
                                       struct lks_error *error)
{
    ProtobufCMessage *message;
    enum lks_status status;

    status =
        lks_message_unpack(&lks__index_head__descriptor, sections->head,
                           sections->head_size, "index block", &message, error);
    if (status != LKS_OK)
        return status;
    index->head = (Lks__IndexHead *)message;
    status = check_head(index, error);
    if (status != LKS_OK || sections->control == NULL)
        return status;

    status = lks_message_unpack(&lks__index_control__descriptor,
                                sections->control, sections->control_size,
                                "index block", &message, error);
    if (status != LKS_OK)
        return status;
    index->control = (Lks__IndexControl *)message;
    return check_control(index, error);
}

static enum lks_status make_from_sections(const struct lks_sections *sections,
                                          uint64_t number,
                                          struct lks_index **out_index,
                                          struct lks_error *error)
{
    struct lks_index *index = lks_alloc_zero(1, sizeof(*index));
    enum lks_status status;

    if (index == NULL)
        return lks_error_no_memory(error);
    index->number = number;
    status = decode_sections(sections, index, error);
    if (status != LKS_OK) {
        lks_index_free(index);
        return status;
    }
    *out_index = index;
    return LKS_OK;
}

enum lks_status lks_index_decode(const uint8_t *bytes,
                                 size_t size,
                                 const uint8_t stream[LKS_ID_SIZE],
                                 uint64_t number,
                                 struct lks_index **out_index,
                                 struct lks_error *error)
{
    struct lks_sections sections;
    enum lks_status status;

    status = lks_sections_decode(&index_kind, bytes, size, stream, number,
                                 &sections, error);
    if (status != LKS_OK)
        return status;
    return make_from_sections(&sections, number, out_index, error);
}

enum lks_status lks_index_decode_head(const uint8_t *bytes,
                                      size_t size,
                                      const uint8_t stream[LKS_ID_SIZE],
                                      uint64_t number,
                                      struct lks_index **out_index,
                                      size_t *out_needed,
                                      struct lks_error *error)
{
    struct lks_index *index = NULL;
    struct lks_sections sections;
    enum lks_status status;
    size_t needed;

    status = lks_sections_decode_head(&index_kind, bytes, size, stream, number,
                                      &sections, &needed, error);
    if (status == LKS_OK && needed == 0)
        status = make_from_sections(&sections, number, &index, error);
    if (status != LKS_OK)
        return status;
    *out_index = index;
    *out_needed = needed;
    return LKS_OK;
}

void lks_index_free(struct lks_index *index)
{
    if (index == NULL)
        return;
    lks_message_free((ProtobufCMessage *)index->head);
    lks_message_free((ProtobufCMessage *)index->control);
    lks_free(index);
}

/* Both messages as this library packs them, whoever packed them first. */
static enum lks_status repack(const struct lks_buf *block,
                              const uint8_t stream[LKS_ID_SIZE],
                              uint64_t number,
                              struct lks_buf *packed,
                              struct lks_error *error)
{
    struct lks_index *index;
    enum lks_status status;

    status = lks_index_decode(block->data, block->size, stream, number, &index,
                              error);
    if (status != LKS_OK)
        return status;
    status =
        lks_sections_encode(&index_kind, stream, number, &index->head->base,
                            &index->control->base, packed, error);
    lks_index_free(index);
    return status;
}

enum lks_status lks_index_compare(const struct lks_buf *left,
                                  const struct lks_buf *right,
                                  const uint8_t stream[LKS_ID_SIZE],
                                  uint64_t number,
                                  bool *out_equal,
                                  struct lks_error *error)
{
    struct lks_buf packed[2];
    enum lks_status status;

    lks_buf_init(&packed[0], LKS_INDEX_SIZE_MAX);
    lks_buf_init(&packed[1], LKS_INDEX_SIZE_MAX);
    status = repack(left, stream, number, &packed[0], error);
    if (status == LKS_OK)
        status = repack(right, stream, number, &packed[1], error);
    if (status == LKS_OK)
        *out_equal =
            packed[0].size == packed[1].size &&
            memcmp(packed[0].data, packed[1].data, packed[0].size) == 0;
    lks_buf_done(&packed[0]);
    lks_buf_done(&packed[1]);
    return status;
}

void lks_index_entry(const struct lks_index *index,
                     uint64_t step,
                     uint32_t slice_count,
                     struct lks_entry *out_entry)
{
    struct lks_entries entries = index_entries(index);

    lks_entries_get(&entries, step, slice_count, out_entry);
}

uint32_t lks_index_producer_count(const struct lks_index *index)
{
    return index->control == NULL ? 0 : (uint32_t)index->control->n_producers;
}

void lks_index_producer(const struct lks_index *index,
                        uint32_t place,
                        struct lks_producer_record *out_record)
{
    assert(place < lks_index_producer_count(index));

    lks_producer_get(index->control->producers[place], out_record);
}
