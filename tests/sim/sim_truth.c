/*
 * The chain as it landed. A manifest is judged the moment it comes to be in the
 * bucket, whoever sent it and whatever he knows of it, against all before it.
 */
#include "sim/sim_truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"

/* Bytes that a manifest may have whatever its age: per entry, per producer,
 * per group with its former runs, per pin, and for the rest. */
#define ENTRY_BYTES 48u
#define SEAT_BYTES 320u
#define GROUP_BYTES 4800u
#define PIN_BYTES 96u
#define REST_BYTES 1024u

void *sim_more(void *items, uint64_t *capacity, size_t size)
{
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    items = realloc(items, *capacity * size);
    if (items == NULL)
        abort();
    return items;
}

/* Versions come in order. */
static void note_version(struct sim_truth *truth, uint64_t version)
{
    if (version >= truth->version_capacity)
        truth->next_steps =
            sim_more(truth->next_steps, &truth->version_capacity,
                     sizeof(uint64_t));
    truth->next_steps[version] = truth->step_count;
    truth->version = version;
}

void sim_truth_init(struct sim_truth *truth,
                    struct sim_bucket *bucket,
                    const struct lks_descriptor *descriptor)
{
    *truth = (struct sim_truth){
        .world = bucket->world,
        .bucket = bucket,
        .slice_count = descriptor->dp * descriptor->cp,
    };
    memcpy(truth->stream, descriptor->stream, LKS_ID_SIZE);
    bucket->landed = sim_truth_landed;
    bucket->removed = sim_life_removed;
    bucket->landed_arg = truth;
    note_version(truth, 0);
}

struct sim_seat *sim_truth_seat(struct sim_truth *truth, const char *id)
{
    for (uint32_t i = 0; i < truth->seat_count; i++) {
        if (strcmp(truth->seats[i].id, id) == 0)
            return &truth->seats[i];
    }
    return NULL;
}

/* -------------------------------------------------------------- steps -- */

static struct sim_step step_of(struct sim_truth *truth,
                               const struct lks_entry *entry)
{
    struct sim_seat *seat = sim_truth_seat(truth, entry->producer);

    if (seat == NULL)
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "step %" PRIu64 " is by %s, who was never opened", entry->step,
                 entry->producer);
    return (struct sim_step){
        .seat = (uint32_t)(seat - truth->seats),
        .epoch = entry->epoch,
        .owner_tag = entry->owner_tag,
        .seq = entry->seq,
        .size = entry->size,
        .version = entry->version,
        .footer_crc = entry->footer_crc,
        .footer_size = entry->footer_size,
    };
}

static bool steps_equal(const struct sim_step *left,
                        const struct sim_step *right)
{
    return left->seat == right->seat && left->epoch == right->epoch &&
           left->owner_tag == right->owner_tag && left->seq == right->seq &&
           left->size == right->size && left->version == right->version &&
           left->footer_crc == right->footer_crc;
}

/* The object that a new step names is there, whole. */
static void check_object(struct sim_truth *truth, const struct sim_step *step)
{
    const char *id = truth->seats[step->seat].id;
    const struct sim_object *object;
    char name[LKS_NAME_SIZE];

    lks_data_name(id, step->epoch, step->owner_tag, step->seq, name);
    object = sim_objects_find(&truth->bucket->objects, name);
    if (object == NULL)
        sim_fail(truth->world, SIM_ATOMIC,
                 "version %" PRIu64 " names %s, which is not there",
                 step->version, name);
    if (object->size != step->size || object->size < step->footer_size ||
        lks_crc32c(object->data + object->size - step->footer_size,
                   step->footer_size) != step->footer_crc)
        sim_fail(truth->world, SIM_ATOMIC,
                 "%s is not the object that version %" PRIu64 " names", name,
                 step->version);
}

static void add_step(struct sim_truth *truth, const struct lks_entry *entry)
{
    struct sim_step step = step_of(truth, entry);
    struct sim_seat *seat = &truth->seats[step.seat];

    if (step.epoch != seat->epoch ||
        step.owner_tag != lks_owner_tag(seat->owner))
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "step %" PRIu64 " is by %s of epoch %" PRIu64 " (%08" PRIx32
                 "), and epoch %" PRIu64 " (%08" PRIx32 ") has opened",
                 entry->step, seat->id, step.epoch, step.owner_tag, seat->epoch,
                 lks_owner_tag(seat->owner));
    if (step.seq != seat->next_seq)
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "step %" PRIu64 " is seq %" PRIu64 " of %s, and %" PRIu64
                 " was next",
                 entry->step, step.seq, seat->id, seat->next_seq);
    if (truth->ended)
        sim_fail(truth->world, SIM_LINEAR,
                 "step %" PRIu64 " came after the end", entry->step);
    check_object(truth, &step);
    if (truth->step_count == truth->step_capacity)
        truth->steps =
            sim_more(truth->steps, &truth->step_capacity, sizeof(step));
    if (seat->next_seq == seat->step_capacity)
        seat->steps =
            sim_more(seat->steps, &seat->step_capacity, sizeof(uint64_t));
    seat->steps[seat->next_seq++] = truth->step_count;
    truth->steps[truth->step_count++] = step;
}

static void check_steps(struct sim_truth *truth,
                        const struct lks_manifest *manifest)
{
    uint64_t first = lks_manifest_tail_first(manifest);
    uint64_t next = lks_manifest_next_step(manifest);
    uint64_t known = truth->step_count;
    uint64_t block = known - known % LKS_BLOCK_STEPS;

    if (next < known)
        sim_fail(truth->world, SIM_LINEAR,
                 "next_step went back from %" PRIu64 " to %" PRIu64, known,
                 next);
    if (first != (block > truth->base ? block : truth->base))
        sim_fail(truth->world, SIM_LINEAR,
                 "the tail begins at %" PRIu64 " after %" PRIu64 " steps",
                 first, known);
    if (first == known && known > truth->base)
        sim_truth_check_index(truth, known / LKS_BLOCK_STEPS - 1, true);
    for (uint64_t step = first; step < next; step++) {
        struct lks_entry entry;
        struct sim_step seen;

        lks_manifest_entry(manifest, step, truth->slice_count, &entry);
        seen = step_of(truth, &entry);
        if (step >= known)
            add_step(truth, &entry);
        else if (!steps_equal(&seen, &truth->steps[step]))
            sim_fail(truth->world, SIM_LINEAR, "step %" PRIu64 " was rewritten",
                     step);
    }
}

/* -------------------------------------------------------------- seats -- */

static void copy_offset(char text[SIM_OFFSET_SIZE],
                        const void *offset,
                        size_t size)
{
    if (size >= SIM_OFFSET_SIZE)
        size = SIM_OFFSET_SIZE - 1;
    if (size > 0)
        memcpy(text, offset, size);
    text[size] = '\0';
}

static void add_opening(struct sim_truth *truth, const struct sim_seat *seat)
{
    struct sim_opening opening = {
        .author = sim_author_of(seat->id, seat->epoch, seat->owner),
        .next_seq = seat->next_seq,
    };

    memcpy(opening.offset, seat->offset, sizeof(opening.offset));
    if (truth->opening_count == truth->opening_capacity)
        truth->openings = sim_more(truth->openings, &truth->opening_capacity,
                                   sizeof(opening));
    truth->openings[truth->opening_count++] = opening;
}

static struct sim_seat *seat_for(struct sim_truth *truth, const char *id)
{
    struct sim_seat *seat = sim_truth_seat(truth, id);

    if (seat != NULL)
        return seat;
    if (truth->seat_count == SIM_SEATS_MAX)
        abort();
    seat = &truth->seats[truth->seat_count++];
    snprintf(seat->id, sizeof(seat->id), "%s", id);
    return seat;
}

/* An epoch changes by one, and with it the owner, unless it finishes. */
static void check_epoch(struct sim_truth *truth,
                        struct sim_seat *seat,
                        const struct lks_producer_record *record)
{
    bool same_owner = memcmp(seat->owner, record->owner, LKS_ID_SIZE) == 0;

    if (record->epoch == seat->epoch && same_owner)
        return;
    if (record->epoch != seat->epoch + 1 || (same_owner && !record->finished))
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "%s went from epoch %" PRIu64 " to %" PRIu64 "%s", seat->id,
                 seat->epoch, record->epoch,
                 same_owner ? " of the same owner" : "");
    seat->epoch = record->epoch;
    memcpy(seat->owner, record->owner, LKS_ID_SIZE);
    if (!same_owner)
        add_opening(truth, seat);
}

static void check_seat(struct sim_truth *truth,
                       const struct lks_producer_record *record,
                       uint64_t version)
{
    struct sim_seat *seat = seat_for(truth, record->id);
    char offset[SIM_OFFSET_SIZE];
    char expected[SIM_OFFSET_SIZE];

    check_epoch(truth, seat, record);
    copy_offset(offset, record->offset, record->offset_size);
    if (record->next_seq != seat->next_seq)
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "version %" PRIu64 " says next_seq %" PRIu64
                 " of %s and has its seqs up to %" PRIu64,
                 version, record->next_seq, seat->id, seat->next_seq);
    memcpy(expected, seat->offset, sizeof(expected));
    if (seat->next_seq > 0) {
        const struct sim_step *last =
            &truth->steps[seat->steps[seat->next_seq - 1]];
        struct sim_author author = {.epoch = last->epoch,
                                    .owner_tag = last->owner_tag};

        memcpy(author.id, seat->id, sizeof(author.id));
        sim_offset(&author, last->seq, expected);
    }
    if (strcmp(offset, expected) != 0)
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "version %" PRIu64 " has offset '%s' of %s, and '%s' goes "
                 "with its last TGB",
                 version, offset, seat->id, expected);
    memcpy(seat->offset, offset, sizeof(seat->offset));
    seat->finished = record->finished;
}

/* ---------------------------------------------------------- manifests -- */

/* Steps are judged by the owners that were, and move the next_seqs that the
 * map is judged by. */
static void check_manifest(struct sim_truth *truth,
                           const struct lks_manifest *manifest,
                           size_t size)
{
    uint32_t count = lks_manifest_producer_count(manifest);
    uint64_t tail =
        lks_manifest_next_step(manifest) - lks_manifest_tail_first(manifest);
    size_t bound = REST_BYTES + (size_t)tail * ENTRY_BYTES +
                   count * SEAT_BYTES +
                   lks_manifest_group_count(manifest) * GROUP_BYTES +
                   lks_manifest_pin_count(manifest) * PIN_BYTES;

    if (size > bound)
        sim_fail(truth->world, SIM_BOUNDED,
                 "version %" PRIu64 " has %zu bytes, for %" PRIu64
                 " entries and %u producers",
                 truth->version + 1, size, tail, count);
    if (size > truth->largest_manifest)
        truth->largest_manifest = size;
    if (count < truth->seat_count)
        sim_fail(truth->world, SIM_LINEAR, "a producer left the map");
    check_steps(truth, manifest);
    for (uint32_t i = 0; i < count; i++) {
        struct lks_producer_record record;

        lks_manifest_producer(manifest, i, &record);
        check_seat(truth, &record, truth->version + 1);
    }
    if (truth->ended && !lks_manifest_ended(manifest))
        sim_fail(truth->world, SIM_LINEAR, "the end was taken back");
    truth->ended = lks_manifest_ended(manifest);
}

void sim_truth_landed(void *arg, const struct sim_object *object)
{
    struct sim_truth *truth = arg;
    struct lks_manifest *manifest = NULL;
    struct lks_error error;
    uint64_t version;

    if (!lks_manifest_name_parse(truth->stream, object->key, &version)) {
        sim_life_marked(truth, object);
        return;
    }
    if (version <= truth->version) {
        sim_trace(truth->world, "    a stray of version %" PRIu64, version);
        truth->stray_count++;
        return;
    }
    if (version != truth->version + 1)
        sim_fail(truth->world, SIM_LINEAR,
                 "version %" PRIu64 " was made, and the newest is %" PRIu64,
                 version, truth->version);
    if (lks_manifest_decode(object->data, object->size, truth->stream, version,
                            &manifest, &error) != LKS_OK)
        sim_fail(truth->world, SIM_LINEAR, "version %" PRIu64 ": %s", version,
                 error.message);
    check_manifest(truth, manifest, object->size);
    sim_life_landed(truth, manifest);
    note_version(truth, version);
    sim_world_note(truth->world, truth->step_count);
}
