/*
 * The ring's state, in and out of a manifest.
 *
 * It lies with the producers it is about, one flag and two small numbers each.
 * What they mean and how they change is for those who commit: see
 * src/producer/pacing_ring.h.
 */
#include "format/manifest.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "format/manifest_inside.h"

bool lks_manifest_find_place(const struct lks_manifest *manifest,
                             const char *id,
                             uint32_t *out_index)
{
    const Lks__ManifestControl *control = manifest->control;
    size_t place;

    if (control == NULL ||
        !lks_producers_find(control->producers, control->n_producers, id,
                            &place))
        return false;
    *out_index = (uint32_t)place;
    return true;
}

uint32_t lks_manifest_active_count(const struct lks_manifest *manifest,
                                   uint64_t span)
{
    const Lks__ManifestControl *control = manifest->control;
    uint32_t count = 0;

    for (size_t i = 0; control != NULL && i < control->n_producers; i++) {
        const Lks__Producer *producer = control->producers[i];

        count += !producer->finished &&
                 producer->version + span >= manifest->version;
    }
    return count;
}

void lks_manifest_read_ring(const struct lks_manifest *manifest,
                            struct lks_ring *ring)
{
    const Lks__ManifestControl *control = manifest->control;
    const Lks__Ring *stored;

    assert(control != NULL);
    assert(control->n_producers <= LKS_PRODUCERS_MAX);

    stored = control->ring;
    ring->count = (uint32_t)control->n_producers;
    for (uint32_t i = 0; i < ring->count; i++) {
        const Lks__Producer *producer = control->producers[i];

        /* Who has finished takes no turns, whoever said so. */
        ring->places[i].in_ring = producer->in_ring && !producer->finished;
        ring->places[i].misses = producer->misses;
        ring->places[i].slowness_permille = producer->slowness_permille;
    }
    ring->last = UINT32_MAX;
    ring->guest_version = stored == NULL ? 0 : stored->guest_version;
    ring->guest_gap = stored == NULL ? 0 : stored->guest_gap;
    ring->turn_us = stored == NULL ? 0 : stored->turn_us;
    if (stored != NULL)
        lks_manifest_find_place(manifest, stored->last, &ring->last);
}

/* A changed place, kept only if the map may grow by what it takes. */
static enum lks_status write_place(struct lks_manifest *manifest,
                                   Lks__Producer *producer,
                                   const struct lks_ring_place *place,
                                   struct lks_error *error)
{
    Lks__Producer changed = *producer;
    size_t before;
    size_t after;
    enum lks_status status;

    changed.in_ring = place->in_ring;
    changed.misses = place->misses;
    changed.slowness_permille = place->slowness_permille;
    if (changed.in_ring == producer->in_ring &&
        changed.misses == producer->misses &&
        changed.slowness_permille == producer->slowness_permille)
        return LKS_OK;
    before = lks_manifest_record_size(producer);
    after = lks_manifest_record_size(&changed);
    status =
        lks_manifest_check_map(manifest, producer->id, before, after, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_count_map(manifest, before, after);
    *producer = changed;
    return LKS_OK;
}

enum lks_status lks_manifest_join_ring(struct lks_manifest *manifest,
                                       const char *id,
                                       struct lks_error *error)
{
    const struct lks_ring_place place = {.in_ring = true};
    uint32_t index = 0;
    bool found = lks_manifest_find_place(manifest, id, &index);

    (void)found;
    assert(found);
    return write_place(manifest, manifest->control->producers[index], &place,
                       error);
}

/* The message of the ring's own; made if there is none. */
static enum lks_status need_ring(Lks__ManifestControl *control,
                                 struct lks_error *error)
{
    Lks__Ring *ring;

    if (control->ring != NULL)
        return LKS_OK;
    ring = lks_alloc(sizeof(*ring));
    if (ring == NULL)
        return lks_error_no_memory(error);
    lks__ring__init(ring);
    control->ring = ring;
    return LKS_OK;
}

static enum lks_status write_last(Lks__Ring *stored,
                                  const char *id,
                                  struct lks_error *error)
{
    char *copy;

    if (strcmp(stored->last, id) == 0)
        return LKS_OK;
    copy = lks_text_dup(id);
    if (copy == NULL)
        return lks_error_no_memory(error);
    if (stored->last != protobuf_c_empty_string)
        lks_free(stored->last);
    stored->last = copy;
    return LKS_OK;
}

enum lks_status lks_manifest_write_ring(struct lks_manifest *manifest,
                                        const struct lks_ring *ring,
                                        struct lks_error *error)
{
    Lks__ManifestControl *control = manifest->control;
    enum lks_status status;

    assert(control != NULL);
    assert(ring->count <= control->n_producers);

    status = need_ring(control, error);
    if (status == LKS_OK && ring->last < ring->count)
        status = write_last(control->ring, control->producers[ring->last]->id,
                            error);
    for (uint32_t i = 0; i < ring->count && status == LKS_OK; i++)
        status = write_place(manifest, control->producers[i], &ring->places[i],
                             error);
    if (status != LKS_OK)
        return status;
    control->ring->guest_version = ring->guest_version;
    control->ring->guest_gap = ring->guest_gap;
    control->ring->turn_us = ring->turn_us;
    return LKS_OK;
}
