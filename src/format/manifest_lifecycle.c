/*
 * Groups, runs, pins and limits in a manifest.
 *
 * They are few and change seldom, so each change makes the array anew; what it
 * needs is allocated before anything is changed.
 */
#include "format/lifecycle.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "format/manifest_inside.h"

/* A copy of an array of pointers with a gap at `place`; NULL when memory is
 * out. */
static void *with_gap(void *const *items, size_t count, size_t place)
{
    void **grown = lks_alloc((count + 1) * sizeof(void *));

    if (grown == NULL)
        return NULL;
    if (place > 0)
        memcpy(grown, items, place * sizeof(void *));
    if (place < count)
        memcpy(grown + place + 1, items + place,
               (count - place) * sizeof(void *));
    return grown;
}

static void close_gap(void **items, size_t count, size_t place)
{
    memmove(items + place, items + place + 1,
            (count - place - 1) * sizeof(void *));
}

/* Replaces a text that decoding or lks_text_dup() made. */
static void take_text(char **field, char *text)
{
    if (*field != protobuf_c_empty_string)
        lks_free(*field);
    *field = text;
}

/* ------------------------------------------------------------- groups -- */

/* Where the group is, or would be. */
static bool find_group(const Lks__ManifestControl *control,
                       const char *name,
                       size_t *out_place)
{
    size_t place = 0;

    while (place < control->n_groups &&
           strcmp(control->groups[place]->name, name) < 0)
        place++;
    *out_place = place;
    return place < control->n_groups &&
           strcmp(control->groups[place]->name, name) == 0;
}

static Lks__Group *group_of(const struct lks_manifest *manifest,
                            const char *name)
{
    size_t place;
    bool found = find_group(manifest->control, name, &place);

    assert(found);
    return found ? manifest->control->groups[place] : NULL;
}

static void read_group(const Lks__Group *group,
                       struct lks_group_record *out_group)
{
    *out_group = (struct lks_group_record){
        .name = group->name,
        .run.id = group->run->id,
        .run.attempt = group->run->attempt,
        .run.ranks = group->run->ranks,
        .run.floor = group->run->floor,
        .evicted = group->run->evicted,
        .evicted_count = group->run->n_evicted,
    };
}

uint32_t lks_manifest_group_count(const struct lks_manifest *manifest)
{
    const Lks__ManifestControl *control = manifest->control;

    return control == NULL ? 0 : (uint32_t)control->n_groups;
}

void lks_manifest_group(const struct lks_manifest *manifest,
                        uint32_t index,
                        struct lks_group_record *out_group)
{
    assert(index < lks_manifest_group_count(manifest));

    read_group(manifest->control->groups[index], out_group);
}

bool lks_manifest_find_group(const struct lks_manifest *manifest,
                             const char *name,
                             struct lks_group_record *out_group)
{
    size_t place;

    if (manifest->control == NULL ||
        !find_group(manifest->control, name, &place))
        return false;
    read_group(manifest->control->groups[place], out_group);
    return true;
}

bool lks_manifest_run_is_former(const struct lks_manifest *manifest,
                                const char *group,
                                const char *run_id)
{
    size_t place;

    if (!find_group(manifest->control, group, &place))
        return false;
    for (size_t i = 0; i < manifest->control->groups[place]->n_former_ids;
         i++) {
        if (strcmp(manifest->control->groups[place]->former_ids[i], run_id) ==
            0)
            return true;
    }
    return false;
}

bool lks_group_rank_is_evicted(const struct lks_group_record *group,
                               uint32_t rank)
{
    for (size_t i = 0; i < group->evicted_count; i++) {
        if (group->evicted[i] == rank)
            return true;
    }
    return false;
}

static Lks__Run *run_new(const struct lks_run *from)
{
    Lks__Run *run = lks_alloc(sizeof(*run));

    if (run == NULL)
        return NULL;
    lks__run__init(run);
    run->id = lks_text_dup(from->id);
    if (run->id == NULL) {
        lks_free(run);
        return NULL;
    }
    run->attempt = from->attempt;
    run->ranks = from->ranks;
    run->floor = from->floor;
    return run;
}

/* Remembers the present run's id, dropping the oldest past the bound. */
static enum lks_status remember_run(Lks__Group *group, struct lks_error *error)
{
    void **ids = with_gap((void *const *)group->former_ids, group->n_former_ids,
                          group->n_former_ids);
    char *id = lks_text_dup(group->run->id);

    if (ids == NULL || id == NULL) {
        lks_free(ids);
        lks_free(id);
        return lks_error_no_memory(error);
    }
    lks_free(group->former_ids);
    ids[group->n_former_ids++] = id;
    if (group->n_former_ids > LKS_FORMER_IDS_MAX) {
        take_text((char **)&ids[0], NULL);
        close_gap(ids, group->n_former_ids, 0);
        group->n_former_ids--;
    }
    group->former_ids = (char **)ids;
    return LKS_OK;
}

static enum lks_status add_group(Lks__ManifestControl *control,
                                 size_t place,
                                 const char *name,
                                 Lks__Run *run,
                                 struct lks_error *error)
{
    Lks__Group *group;
    void **groups;

    if (control->n_groups >= LKS_GROUPS_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "group %s would be one more than the %u that a "
                             "stream can have: evict one that is done",
                             name, LKS_GROUPS_MAX);
    groups = with_gap((void *const *)control->groups, control->n_groups, place);
    group = lks_alloc(sizeof(*group));
    if (group != NULL) {
        lks__group__init(group);
        group->name = lks_text_dup(name);
    }
    if (groups == NULL || group == NULL || group->name == NULL) {
        lks_free(groups);
        if (group != NULL)
            lks_free(group->name);
        lks_free(group);
        return lks_error_no_memory(error);
    }
    group->run = run;
    groups[place] = group;
    lks_free(control->groups);
    control->groups = (Lks__Group **)groups;
    control->n_groups++;
    return LKS_OK;
}

enum lks_status lks_manifest_put_run(struct lks_manifest *manifest,
                                     const char *group_name,
                                     const struct lks_run *from,
                                     struct lks_error *error)
{
    Lks__ManifestControl *control = manifest->control;
    Lks__Run *run = run_new(from);
    enum lks_status status = LKS_OK;
    size_t place;

    assert(control != NULL);

    if (run == NULL)
        return lks_error_no_memory(error);
    if (find_group(control, group_name, &place)) {
        Lks__Group *group = control->groups[place];

        if (strcmp(group->run->id, run->id) != 0)
            status = remember_run(group, error);
        if (status == LKS_OK) {
            lks_message_free(&group->run->base);
            group->run = run;
        }
    } else {
        status = add_group(control, place, group_name, run, error);
    }
    if (status != LKS_OK)
        lks_message_free(&run->base);
    return status;
}

void lks_manifest_set_floor(struct lks_manifest *manifest,
                            const char *group,
                            uint64_t floor)
{
    group_of(manifest, group)->run->floor = floor;
}

void lks_manifest_remove_group(struct lks_manifest *manifest, const char *name)
{
    Lks__ManifestControl *control = manifest->control;
    size_t place;
    bool found = find_group(control, name, &place);

    assert(found);
    if (!found)
        return;
    lks_message_free(&control->groups[place]->base);
    close_gap((void **)control->groups, control->n_groups, place);
    control->n_groups--;
}

enum lks_status lks_manifest_evict_rank(struct lks_manifest *manifest,
                                        const char *group,
                                        uint32_t rank,
                                        struct lks_error *error)
{
    Lks__Run *run = group_of(manifest, group)->run;
    uint32_t *evicted;
    size_t place = 0;

    while (place < run->n_evicted && run->evicted[place] < rank)
        place++;
    if (place < run->n_evicted && run->evicted[place] == rank)
        return LKS_OK;
    if (run->n_evicted >= LKS_EVICTED_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "group %s has %u evicted ranks, and that is the "
                             "most: evict the group",
                             group, LKS_EVICTED_MAX);
    evicted =
        lks_realloc(run->evicted, (run->n_evicted + 1) * sizeof(*evicted));
    if (evicted == NULL)
        return lks_error_no_memory(error);
    memmove(evicted + place + 1, evicted + place,
            (run->n_evicted - place) * sizeof(*evicted));
    evicted[place] = rank;
    run->evicted = evicted;
    run->n_evicted++;
    return LKS_OK;
}

/* --------------------------------------------------------------- pins -- */

static bool find_pin(const Lks__ManifestControl *control,
                     const char *name,
                     size_t *out_place)
{
    size_t place = 0;

    while (place < control->n_pins &&
           strcmp(control->pins[place]->name, name) < 0)
        place++;
    *out_place = place;
    return place < control->n_pins &&
           strcmp(control->pins[place]->name, name) == 0;
}

uint32_t lks_manifest_pin_count(const struct lks_manifest *manifest)
{
    const Lks__ManifestControl *control = manifest->control;

    return control == NULL ? 0 : (uint32_t)control->n_pins;
}

void lks_manifest_pin(const struct lks_manifest *manifest,
                      uint32_t index,
                      struct lks_pin_record *out_pin)
{
    assert(index < lks_manifest_pin_count(manifest));

    out_pin->name = manifest->control->pins[index]->name;
    out_pin->step = manifest->control->pins[index]->step;
}

bool lks_manifest_find_pin(const struct lks_manifest *manifest,
                           const char *name,
                           struct lks_pin_record *out_pin)
{
    size_t place;

    if (manifest->control == NULL || !find_pin(manifest->control, name, &place))
        return false;
    lks_manifest_pin(manifest, (uint32_t)place, out_pin);
    return true;
}

enum lks_status lks_manifest_put_pin(struct lks_manifest *manifest,
                                     const char *name,
                                     uint64_t step,
                                     struct lks_error *error)
{
    Lks__ManifestControl *control = manifest->control;
    Lks__Pin *pin;
    void **pins;
    size_t place;

    if (find_pin(control, name, &place)) {
        control->pins[place]->step = step;
        return LKS_OK;
    }
    if (control->n_pins >= LKS_PINS_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "pin %s would be one more than the %u that a "
                             "stream can have: remove one",
                             name, LKS_PINS_MAX);
    pins = with_gap((void *const *)control->pins, control->n_pins, place);
    pin = lks_alloc(sizeof(*pin));
    if (pin != NULL) {
        lks__pin__init(pin);
        pin->name = lks_text_dup(name);
    }
    if (pins == NULL || pin == NULL || pin->name == NULL) {
        lks_free(pins);
        if (pin != NULL)
            lks_free(pin->name);
        lks_free(pin);
        return lks_error_no_memory(error);
    }
    pin->step = step;
    pins[place] = pin;
    lks_free(control->pins);
    control->pins = (Lks__Pin **)pins;
    control->n_pins++;
    return LKS_OK;
}

void lks_manifest_remove_pin(struct lks_manifest *manifest, const char *name)
{
    Lks__ManifestControl *control = manifest->control;
    size_t place;
    bool found = find_pin(control, name, &place);

    assert(found);
    if (!found)
        return;
    lks_message_free(&control->pins[place]->base);
    close_gap((void **)control->pins, control->n_pins, place);
    control->n_pins--;
}

/* ------------------------------------------------- limits, live steps -- */

enum lks_status lks_manifest_set_limits(struct lks_manifest *manifest,
                                        uint64_t max_live_steps,
                                        uint64_t max_live_bytes,
                                        struct lks_error *error)
{
    Lks__ManifestHead *head = manifest->head;

    if (head->limits == NULL) {
        head->limits = lks_alloc(sizeof(*head->limits));
        if (head->limits == NULL)
            return lks_error_no_memory(error);
        lks__limits__init(head->limits);
    }
    head->limits->live_steps = max_live_steps;
    head->limits->live_bytes = max_live_bytes;
    return LKS_OK;
}

void lks_manifest_set_first_live(struct lks_manifest *manifest,
                                 uint64_t step,
                                 uint64_t bytes)
{
    Lks__ManifestHead *head = manifest->head;

    assert(step >= head->first_live_step);
    assert(step <= head->next_step);
    assert(bytes >= head->reclaimed_bytes);
    assert(bytes <= head->total_bytes);

    head->first_live_step = step;
    head->reclaimed_bytes = bytes;
}

void lks_manifest_set_claimed(struct lks_manifest *manifest,
                              uint64_t step,
                              uint64_t bytes)
{
    Lks__ManifestHead *head = manifest->head;

    assert(step <= head->next_step);
    assert(bytes <= head->total_bytes);

    head->claimed = step;
    head->claimed_bytes = bytes;
}

void lks_manifest_drop(struct lks_manifest *manifest)
{
    lks_manifest_end(manifest);
    manifest->head->dropped = true;
}
