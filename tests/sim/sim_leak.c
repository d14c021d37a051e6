/*
 * Invariant 6: when all is done and a reclaim has run, the bucket holds what is
 * referenced, the head, and manifests too young to go. Nothing else.
 */
#include <inttypes.h>
#include <string.h>

#include "sim/sim_truth.h"

/* Y, and what the store's machines may differ by. */
#define YOUNG_MS (INT64_C(15) * 60 * 1000 + 60000)

static bool is_live_data(struct sim_truth *truth, const char *key)
{
    const struct sim_seat *seat;
    const struct sim_step *step;
    struct lks_data_parts name;

    if (!lks_data_name_parse(key, &name))
        return false;
    seat = sim_truth_seat(truth, name.producer);
    if (seat == NULL || name.seq >= seat->next_seq)
        return false;
    step = &truth->steps[seat->steps[name.seq]];
    return seat->steps[name.seq] >= truth->life.first_live &&
           step->epoch == name.epoch && step->owner_tag == name.owner_tag;
}

static bool is_live_index(const struct sim_truth *truth, const char *key)
{
    uint64_t number;

    return lks_index_name_parse(key, &number) &&
           number >= truth->life.first_live / LKS_BLOCK_STEPS &&
           (number + 1) * LKS_BLOCK_STEPS <= truth->step_count;
}

static bool is_shown_mark(const struct sim_truth *truth, const char *key)
{
    struct lks_watermark_parts whose;
    struct lks_group_record group;

    return lks_watermark_name_parse(key, &whose) &&
           lks_manifest_find_group(truth->life.head, whose.group, &group) &&
           strcmp(group.run.id, whose.run) == 0 &&
           group.run.attempt == whose.attempt;
}

/* The newest comes first; `before` is the one before it in the listing. */
static bool is_kept_manifest(const struct sim_truth *truth,
                             uint64_t version,
                             const struct sim_object *before)
{
    int64_t now_ms =
        SIM_EPOCH_MS + (int64_t)(truth->world->now_ns / LKS_NS_PER_MS);

    return version == truth->version ||
           (before != NULL && now_ms - before->modified_ms <= YOUNG_MS);
}

void sim_truth_check_swept(struct sim_truth *truth)
{
    const struct sim_objects *objects = &truth->bucket->objects;
    const struct sim_object *before = NULL;

    for (size_t i = 0; i < objects->count; i++) {
        const struct sim_object *object = objects->sorted[i];
        uint64_t version;
        bool kept;

        if (lks_manifest_name_parse(truth->stream, object->key, &version)) {
            kept = is_kept_manifest(truth, version, before);
            before = object;
        } else {
            kept =
                strcmp(object->key, LKS_DESCRIPTOR_NAME) == 0 ||
                (!truth->life.dropped && (is_live_data(truth, object->key) ||
                                          is_live_index(truth, object->key) ||
                                          is_shown_mark(truth, object->key)));
        }
        if (!kept)
            sim_fail(truth->world, SIM_NO_LEAK,
                     "%s is left; the first live step is %" PRIu64
                     ", and the newest version %" PRIu64,
                     object->key, truth->life.first_live, truth->version);
    }
}
