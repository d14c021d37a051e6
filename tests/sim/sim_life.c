/*
 * What must stay, judged when a manifest moves the first live step, and when an
 * object is removed: whoever did it, and whatever he knew.
 */
#include "sim/sim_life.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/watermark.h"
#include "sim/sim_truth.h"

/* ---------------------------------------------------------- watermarks -- */

static bool is_same_run(const struct lks_watermark_parts *left,
                        const struct lks_group_record *group)
{
    return strcmp(left->group, group->name) == 0 &&
           strcmp(left->run, group->run.id) == 0 &&
           left->attempt == group->run.attempt;
}

/* They only rise: one that lands late takes nothing back. */
void sim_life_marked(struct sim_truth *truth, const struct sim_object *object)
{
    struct sim_life *life = &truth->life;
    struct lks_watermark_parts whose;
    struct lks_error error;
    uint64_t step;

    if (!lks_watermark_name_parse(object->key, &whose))
        return;
    if (lks_watermark_decode(object->data, object->size, truth->stream,
                             object->key, &step, &error) != LKS_OK)
        sim_fail(truth->world, SIM_ATOMIC, "%s: %s", object->key,
                 error.message);
    for (uint64_t i = 0; i < life->mark_count; i++) {
        struct sim_mark *mark = &life->marks[i];

        if (strcmp(mark->whose.group, whose.group) == 0 &&
            strcmp(mark->whose.run, whose.run) == 0 &&
            mark->whose.attempt == whose.attempt &&
            mark->whose.rank == whose.rank) {
            mark->step = step > mark->step ? step : mark->step;
            return;
        }
    }
    if (life->mark_count == life->mark_capacity)
        life->marks = sim_more(life->marks, &life->mark_capacity,
                               sizeof(struct sim_mark));
    life->marks[life->mark_count++] = (struct sim_mark){whose, step};
}

static uint64_t rank_claims(const struct sim_life *life,
                            const struct lks_group_record *group,
                            uint32_t rank)
{
    uint64_t step = group->run.floor;

    for (uint64_t i = 0; i < life->mark_count; i++) {
        const struct sim_mark *mark = &life->marks[i];

        if (is_same_run(&mark->whose, group) &&
            (mark->whose.rank == rank || mark->whose.rank == LKS_RANK_ALL) &&
            mark->step > step)
            step = mark->step;
    }
    return step;
}

/* The least step that a group of the manifest claims; none: UINT64_MAX. */
static uint64_t groups_claim(const struct sim_life *life,
                             const struct lks_manifest *manifest)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < lks_manifest_group_count(manifest); i++) {
        struct lks_group_record group;

        lks_manifest_group(manifest, i, &group);
        for (uint32_t rank = 0; rank < group.run.ranks; rank++) {
            uint64_t step = rank_claims(life, &group, rank);

            if (!lks_group_rank_is_evicted(&group, rank) && step < least)
                least = step;
        }
    }
    return least;
}

/* ----------------------------------------------------------- manifests -- */

static void check_pins(struct sim_truth *truth,
                       const struct lks_manifest *manifest)
{
    uint64_t first = lks_manifest_first_live_step(manifest);
    uint64_t version = lks_manifest_version(manifest);
    struct lks_pin_record pin;

    for (uint32_t i = 0; i < lks_manifest_pin_count(manifest); i++) {
        lks_manifest_pin(manifest, i, &pin);
        if (pin.step < first)
            sim_fail(truth->world, SIM_SAFE,
                     "version %" PRIu64 " gives up steps below %" PRIu64
                     ", and pin %s holds step %" PRIu64,
                     version, first, pin.name, pin.step);
    }
    for (uint32_t i = 0; i < SIM_VOWS_MAX; i++) {
        const struct sim_vow *vow = &truth->life.vows[i];

        if (vow->name[0] != '\0' &&
            (!lks_manifest_find_pin(manifest, vow->name, &pin) ||
             pin.step != vow->step))
            sim_fail(truth->world, SIM_SAFE,
                     "version %" PRIu64 " has lost pin %s at step %" PRIu64,
                     version, vow->name, vow->step);
    }
}

static const struct sim_need *need_of(const struct sim_life *life,
                                      const struct lks_group_record *group)
{
    for (uint64_t i = 0; i < life->need_count; i++) {
        const struct sim_need *need = &life->needs[i];

        if (strcmp(need->group, group->name) == 0 &&
            strcmp(need->run, group->run.id) == 0 &&
            need->attempt == group->run.attempt)
            return need;
    }
    return NULL;
}

/* What the run that is shown may go back to is there, and was when it came. */
static void check_groups(struct sim_truth *truth,
                         const struct lks_manifest *manifest)
{
    uint64_t first = lks_manifest_first_live_step(manifest);

    for (uint32_t i = 0; i < lks_manifest_group_count(manifest); i++) {
        struct lks_group_record group;
        const struct sim_need *need;

        lks_manifest_group(manifest, i, &group);
        need = need_of(&truth->life, &group);
        if (need != NULL && need->step < first)
            sim_fail(truth->world, SIM_SAFE,
                     "version %" PRIu64 " gives up steps below %" PRIu64
                     ", and run %s.%" PRIu64 " of group %s may go back to "
                     "%" PRIu64,
                     lks_manifest_version(manifest), first, group.run.id,
                     group.run.attempt, group.name, need->step);
    }
}

static void check_first_live(struct sim_truth *truth,
                             const struct lks_manifest *manifest)
{
    const struct sim_life *life = &truth->life;
    uint64_t version = lks_manifest_version(manifest);
    uint64_t first = lks_manifest_first_live_step(manifest);
    uint64_t claimed = lks_manifest_claimed(manifest);
    uint64_t groups = groups_claim(life, manifest);

    if (first < life->first_live || first > lks_manifest_next_step(manifest))
        sim_fail(truth->world, SIM_LINEAR,
                 "version %" PRIu64 " moves the first live step from %" PRIu64
                 " to %" PRIu64 ", of %" PRIu64 " steps",
                 version, life->first_live, first,
                 lks_manifest_next_step(manifest));
    if (claimed < first || claimed > lks_manifest_next_step(manifest))
        sim_fail(truth->world, SIM_LINEAR,
                 "version %" PRIu64 " says that step %" PRIu64
                 " is claimed; its first live step is %" PRIu64,
                 version, claimed, first);
    if ((first > life->first_live && groups == UINT64_MAX) ||
        (first > life->first_live && first > groups))
        sim_fail(truth->world, SIM_SAFE,
                 "version %" PRIu64 " gives up steps below %" PRIu64
                 ", and the groups claim %" PRIu64,
                 version, first, groups);
    if (claimed > life->claimed && claimed > groups && claimed > first)
        sim_fail(truth->world, SIM_SAFE,
                 "version %" PRIu64 " says that step %" PRIu64
                 " is the first claimed, and the groups claim %" PRIu64,
                 version, claimed, groups);
}

/* What was live when the last of these steps was appended. */
static uint64_t bytes_before_last(const struct sim_truth *truth,
                                  uint64_t first,
                                  uint64_t next)
{
    uint64_t bytes = 0;

    for (uint64_t i = first; i + 1 < next; i++)
        bytes += truth->steps[i].size;
    return bytes;
}

/* Appends wait at the limit. The one that reaches a limit in bytes passes it.
 */
static void check_limit(struct sim_truth *truth,
                        const struct lks_manifest *manifest)
{
    uint64_t steps_max = lks_manifest_max_live_steps(manifest);
    uint64_t before = truth->life.head == NULL
                          ? truth->base
                          : lks_manifest_next_step(truth->life.head);
    uint64_t next = lks_manifest_next_step(manifest);
    uint64_t bytes_max = lks_manifest_max_live_bytes(manifest);

    if (bytes_max > 0 && next > before &&
        bytes_before_last(truth, lks_manifest_claimed(manifest), next) >=
            bytes_max)
        sim_fail(truth->world, SIM_BOUNDED,
                 "version %" PRIu64 " appends up to step %" PRIu64 ", %" PRIu64
                 " is the first claimed, and the limit is %" PRIu64 " bytes",
                 lks_manifest_version(manifest), next,
                 lks_manifest_claimed(manifest), bytes_max);
    if (steps_max > 0 && next > before &&
        next - lks_manifest_claimed(manifest) > steps_max)
        sim_fail(truth->world, SIM_BOUNDED,
                 "version %" PRIu64 " appends up to step %" PRIu64 ", %" PRIu64
                 " is the first claimed, and the limit is "
                 "%" PRIu64,
                 lks_manifest_version(manifest), next,
                 lks_manifest_claimed(manifest), steps_max);
}

/* Dropped once, dropped for ever; and no step is added. */
static void check_dropped(struct sim_truth *truth,
                          const struct lks_manifest *manifest)
{
    const struct sim_life *life = &truth->life;
    uint64_t next = lks_manifest_next_step(manifest);

    if (!lks_manifest_dropped(manifest) ||
        lks_manifest_first_live_step(manifest) != next ||
        (life->dropped && next != lks_manifest_next_step(life->head)))
        sim_fail(truth->world, SIM_LINEAR,
                 "version %" PRIu64 " goes on after a drop",
                 lks_manifest_version(manifest));
}

void sim_life_landed(struct sim_truth *truth, struct lks_manifest *manifest)
{
    struct sim_life *life = &truth->life;

    if (life->dropped || lks_manifest_dropped(manifest)) {
        check_dropped(truth, manifest);
        life->dropped = true;
    } else {
        check_first_live(truth, manifest);
        check_pins(truth, manifest);
        check_groups(truth, manifest);
        check_limit(truth, manifest);
    }
    lks_manifest_free(life->head);
    life->head = manifest;
    life->first_live = lks_manifest_first_live_step(manifest);
    life->claimed = lks_manifest_claimed(manifest);
}

/* ------------------------------------------------------------ removals -- */

static void check_data(struct sim_truth *truth, const char *key)
{
    const struct sim_seat *seat;
    struct lks_data_parts name;
    uint64_t number;

    if (!lks_data_name_parse(key, &name))
        sim_fail(truth->world, SIM_SAFE, "%s was removed: who knows what it is",
                 key);
    seat = sim_truth_seat(truth, name.producer);
    if (seat == NULL ||
        (!truth->ended &&
         (name.epoch > seat->epoch ||
          (name.epoch == seat->epoch && name.seq >= seat->next_seq &&
           name.owner_tag == lks_owner_tag(seat->owner)))))
        sim_fail(truth->world, SIM_SAFE,
                 "%s was removed, and it may yet be committed", key);
    if (name.seq >= seat->next_seq)
        return;
    number = seat->steps[name.seq];
    if (number >= truth->life.first_live &&
        truth->steps[number].epoch == name.epoch &&
        truth->steps[number].owner_tag == name.owner_tag)
        sim_fail(truth->world, SIM_SAFE,
                 "%s was removed, and it is step %" PRIu64
                 "; the first live step is %" PRIu64,
                 key, number, truth->life.first_live);
}

static bool is_mark_shown(const struct sim_truth *truth, const char *key)
{
    struct lks_watermark_parts whose;
    struct lks_group_record group;

    return truth->life.head != NULL && lks_watermark_name_parse(key, &whose) &&
           lks_manifest_find_group(truth->life.head, whose.group, &group) &&
           is_same_run(&whose, &group) &&
           (whose.rank < group.run.ranks || whose.rank == LKS_RANK_ALL);
}

static void check_index(struct sim_truth *truth, const char *key)
{
    uint64_t number;

    if (!lks_index_name_parse(key, &number) ||
        number >= truth->life.first_live / LKS_BLOCK_STEPS)
        sim_fail(truth->world, SIM_SAFE,
                 "%s was removed, and the first live step is %" PRIu64, key,
                 truth->life.first_live);
}

void sim_life_removed(void *arg, const struct sim_object *object)
{
    struct sim_truth *truth = arg;
    const char *key = object->key;
    uint64_t version;

    truth->life.removed_count++;
    if (lks_manifest_name_parse(truth->stream, key, &version)) {
        if (version >= truth->version)
            sim_fail(truth->world, SIM_SAFE,
                     "version %" PRIu64 " was removed, and is the newest",
                     version);
    } else if (strcmp(key, LKS_DESCRIPTOR_NAME) == 0) {
        sim_fail(truth->world, SIM_SAFE, "the descriptor was removed");
    } else if (truth->life.dropped) {
        return; /* Nothing else is needed. */
    } else if (strncmp(key, "data/", 5) == 0) {
        check_data(truth, key);
    } else if (strncmp(key, "index/", 6) == 0) {
        check_index(truth, key);
    } else if (strncmp(key, "watermark/", 10) != 0 ||
               is_mark_shown(truth, key)) {
        sim_fail(truth->world, SIM_SAFE, "%s was removed, and is needed", key);
    }
}

/* -------------------------------------------------------------- claims -- */

void sim_truth_check_reclaimed(struct sim_truth *truth,
                               uint64_t step,
                               const char *what)
{
    if (step >= truth->life.first_live)
        sim_fail(truth->world, SIM_SAFE,
                 "%s was told that step %" PRIu64
                 " is reclaimed, and the first live step is %" PRIu64,
                 what, step, truth->life.first_live);
}

struct sim_vow *sim_truth_vow(struct sim_truth *truth, const char *name)
{
    struct sim_vow *free_place = NULL;

    for (uint32_t i = 0; i < SIM_VOWS_MAX; i++) {
        struct sim_vow *vow = &truth->life.vows[i];

        if (strcmp(vow->name, name) == 0)
            return vow;
        if (vow->name[0] == '\0' && free_place == NULL)
            free_place = vow;
    }
    if (free_place == NULL)
        abort();
    return free_place;
}

uint64_t sim_truth_add_need(struct sim_truth *truth,
                            const struct sim_need *need)
{
    struct sim_life *life = &truth->life;

    if (life->need_count == life->need_capacity)
        life->needs = sim_more(life->needs, &life->need_capacity,
                               sizeof(struct sim_need));
    life->needs[life->need_count] = *need;
    return life->need_count++;
}

bool sim_truth_shows(const struct sim_truth *truth, uint64_t need)
{
    const struct sim_need *wanted = &truth->life.needs[need];
    struct lks_group_record group;

    return truth->life.head != NULL &&
           lks_manifest_find_group(truth->life.head, wanted->group, &group) &&
           need_of(&truth->life, &group) == wanted;
}
