/*
 * What a manifest says: getters, none of which can fail.
 */
#include "format/manifest.h"

#include <assert.h>
#include <string.h>

#include "format/manifest_inside.h"

const uint8_t *lks_manifest_stream(const struct lks_manifest *manifest)
{
    return manifest->stream;
}

uint64_t lks_manifest_version(const struct lks_manifest *manifest)
{
    return manifest->version;
}

uint64_t lks_manifest_next_step(const struct lks_manifest *manifest)
{
    return manifest->head->next_step;
}

uint64_t lks_manifest_first_live_step(const struct lks_manifest *manifest)
{
    return manifest->head->first_live_step;
}

uint64_t lks_manifest_claimed(const struct lks_manifest *manifest)
{
    return manifest->head->claimed;
}

uint64_t lks_manifest_total_bytes(const struct lks_manifest *manifest)
{
    return manifest->head->total_bytes;
}

uint64_t lks_manifest_live_bytes(const struct lks_manifest *manifest)
{
    return manifest->head->total_bytes - manifest->head->reclaimed_bytes;
}

uint64_t lks_manifest_max_live_steps(const struct lks_manifest *manifest)
{
    const Lks__Limits *limits = manifest->head->limits;

    return limits == NULL ? 0 : limits->live_steps;
}

uint64_t lks_manifest_max_live_bytes(const struct lks_manifest *manifest)
{
    const Lks__Limits *limits = manifest->head->limits;

    return limits == NULL ? 0 : limits->live_bytes;
}

bool lks_manifest_is_full(const struct lks_manifest *manifest)
{
    const Lks__ManifestHead *head = manifest->head;
    uint64_t steps_max = lks_manifest_max_live_steps(manifest);
    uint64_t bytes_max = lks_manifest_max_live_bytes(manifest);

    if (steps_max > 0 && head->next_step - head->claimed >= steps_max)
        return true;
    return bytes_max > 0 &&
           head->total_bytes - head->claimed_bytes >= bytes_max;
}

bool lks_manifest_ended(const struct lks_manifest *manifest)
{
    return manifest->head->ended;
}

bool lks_manifest_dropped(const struct lks_manifest *manifest)
{
    return manifest->head->dropped;
}

uint64_t lks_manifest_tail_first(const struct lks_manifest *manifest)
{
    return manifest->head->next_step - manifest->head->n_tail;
}

bool lks_manifest_tail_is_full(const struct lks_manifest *manifest)
{
    const Lks__ManifestHead *head = manifest->head;

    return head->n_tail > 0 && head->next_step % LKS_BLOCK_STEPS == 0;
}

struct lks_entries lks_manifest_tail(const struct lks_manifest *manifest)
{
    const Lks__ManifestHead *head = manifest->head;
    struct lks_entries tail = {
        .first = lks_manifest_tail_first(manifest),
        .count = head->n_tail,
        .items = head->tail,
        .writer_count = head->n_writers,
        .writers = head->writers,
    };

    return tail;
}

void lks_manifest_entry(const struct lks_manifest *manifest,
                        uint64_t step,
                        uint32_t slice_count,
                        struct lks_entry *out_entry)
{
    struct lks_entries tail = lks_manifest_tail(manifest);

    lks_entries_get(&tail, step, slice_count, out_entry);
}

uint32_t lks_manifest_producers_to_end(const struct lks_manifest *manifest)
{
    const Lks__ManifestControl *control = manifest->control;

    return control == NULL ? 0 : control->producers_to_end;
}

uint32_t lks_manifest_producer_count(const struct lks_manifest *manifest)
{
    const Lks__ManifestControl *control = manifest->control;

    return control == NULL ? 0 : (uint32_t)control->n_producers;
}

void lks_manifest_producer(const struct lks_manifest *manifest,
                           uint32_t index,
                           struct lks_producer_record *out_record)
{
    assert(index < lks_manifest_producer_count(manifest));

    lks_producer_get(manifest->control->producers[index], out_record);
}

bool lks_manifest_find_producer(const struct lks_manifest *manifest,
                                const char *id,
                                struct lks_producer_record *out_record)
{
    const Lks__ManifestControl *control = manifest->control;
    size_t place;

    if (control == NULL ||
        !lks_producers_find(control->producers, control->n_producers, id,
                            &place))
        return false;
    lks_producer_get(control->producers[place], out_record);
    return true;
}
