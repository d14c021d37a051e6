/*
 * What producers and readers claim, checked against what really happened; and
 * the bytes that everybody appends, from which a reader tells whose they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim_truth.h"

#define SLICE_SIZE_MIN 16u

struct sim_author sim_author_of(const char *id,
                                uint64_t epoch,
                                const uint8_t owner[LKS_ID_SIZE])
{
    struct sim_author author = {.epoch = epoch,
                                .owner_tag = lks_owner_tag(owner)};

    snprintf(author.id, sizeof(author.id), "%s", id);
    return author;
}

bool sim_author_equal(const struct sim_author *left,
                      const struct sim_author *right)
{
    return strcmp(left->id, right->id) == 0 && left->epoch == right->epoch &&
           left->owner_tag == right->owner_tag;
}

size_t sim_payload(const struct sim_author *author,
                   uint64_t seq,
                   uint32_t slice,
                   uint8_t data[SIM_SLICE_SIZE_MAX])
{
    struct sim_random random = sim_random_from(
        author->owner_tag ^ sim_mix(author->epoch ^ sim_mix(seq)));
    size_t size =
        SLICE_SIZE_MIN +
        sim_random_below(&random, SIM_SLICE_SIZE_MAX - SLICE_SIZE_MIN);

    for (const char *c = author->id; *c != '\0'; c++)
        random.state = sim_mix(random.state ^ (uint64_t)*c);
    random.state ^= sim_mix(slice + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)sim_random_next(&random);
    return size;
}

void sim_offset(const struct sim_author *author,
                uint64_t seq,
                char text[SIM_OFFSET_SIZE])
{
    snprintf(text, SIM_OFFSET_SIZE, "%" PRIu64 " by %" PRIu64 "-%08" PRIx32,
             seq + 1, author->epoch, author->owner_tag);
}

/* ---------------------------------------------------------- producers -- */

void sim_truth_check_opened(struct sim_truth *truth,
                            const struct sim_author *author,
                            uint64_t next_seq,
                            const char *offset)
{
    for (uint64_t i = 0; i < truth->opening_count; i++) {
        const struct sim_opening *opening = &truth->openings[i];

        if (!sim_author_equal(&opening->author, author))
            continue;
        if (opening->next_seq != next_seq ||
            strcmp(opening->offset, offset) != 0)
            sim_fail(truth->world, SIM_EXACTLY_ONCE,
                     "%s epoch %" PRIu64 " begins at seq %" PRIu64
                     " '%s', and the chain says %" PRIu64 " '%s'",
                     author->id, author->epoch, next_seq, offset,
                     opening->next_seq, opening->offset);
        return;
    }
    sim_fail(truth->world, SIM_EXACTLY_ONCE,
             "%s believes in epoch %" PRIu64 " (%08" PRIx32
             "), which the chain does not know",
             author->id, author->epoch, author->owner_tag);
}

void sim_truth_check_acked(struct sim_truth *truth,
                           const struct sim_author *author,
                           uint64_t first_seq,
                           uint64_t end_seq)
{
    struct sim_seat *seat = sim_truth_seat(truth, author->id);

    for (uint64_t seq = first_seq; seq < end_seq; seq++) {
        const struct sim_step *step;

        if (seat == NULL || seq >= seat->next_seq)
            sim_fail(truth->world, SIM_DURABLE,
                     "flush told %s that seq %" PRIu64
                     " is committed, and it is not",
                     author->id, seq);
        step = &truth->steps[seat->steps[seq]];
        if (step->epoch != author->epoch ||
            step->owner_tag != author->owner_tag)
            sim_fail(truth->world, SIM_DURABLE,
                     "flush told %s of epoch %" PRIu64 " that its seq %" PRIu64
                     " is committed, and that one is by epoch %" PRIu64,
                     author->id, author->epoch, seq, step->epoch);
    }
    truth->acked_count += end_seq - first_seq;
}

void sim_truth_check_finished(struct sim_truth *truth,
                              const struct sim_author *author)
{
    const struct sim_seat *seat = sim_truth_seat(truth, author->id);

    if (seat == NULL || seat->epoch < author->epoch + 1)
        sim_fail(truth->world, SIM_DURABLE,
                 "%s was told to be finished, and it is not", author->id);
}

/* ------------------------------------------------------------ readers -- */

void sim_truth_check_look(struct sim_truth *truth,
                          uint64_t version,
                          const struct lks_manifest *seen)
{
    uint64_t seen_version = lks_manifest_version(seen);
    uint64_t next_step = lks_manifest_next_step(seen);

    if (seen_version < version)
        sim_fail(truth->world, SIM_LINEAR,
                 "a look found version %" PRIu64 " to be the newest, and it "
                 "was %" PRIu64 " before the look",
                 seen_version, version);
    if (seen_version > truth->version)
        sim_fail(truth->world, SIM_LINEAR,
                 "a look found version %" PRIu64 ", which never was",
                 seen_version);
    if (truth->next_steps[seen_version] != next_step)
        sim_fail(truth->world, SIM_LINEAR,
                 "a look found version %" PRIu64 " with next_step %" PRIu64
                 ", and that was a stray: it has %" PRIu64,
                 seen_version, next_step, truth->next_steps[seen_version]);
}

static struct sim_author author_of_step(const struct sim_truth *truth,
                                        const struct sim_step *step)
{
    struct sim_author author = {.epoch = step->epoch,
                                .owner_tag = step->owner_tag};

    memcpy(author.id, truth->seats[step->seat].id, sizeof(author.id));
    return author;
}

void sim_truth_check_slice(struct sim_truth *truth,
                           uint64_t step,
                           uint32_t slice,
                           const void *data,
                           size_t size)
{
    uint8_t expected[SIM_SLICE_SIZE_MAX];
    struct sim_author author;

    if (step >= truth->step_count)
        sim_fail(truth->world, SIM_LINEAR,
                 "a reader saw step %" PRIu64 ", and there are %" PRIu64, step,
                 truth->step_count);
    author = author_of_step(truth, &truth->steps[step]);
    if (sim_payload(&author, truth->steps[step].seq, slice, expected) != size ||
        memcmp(expected, data, size) != 0)
        sim_fail(truth->world, SIM_ATOMIC,
                 "slice %u of step %" PRIu64 " has other bytes than %s "
                 "appended as seq %" PRIu64,
                 slice, step, author.id, truth->steps[step].seq);
    truth->read_count++;
}

void sim_truth_check_end(struct sim_truth *truth, uint64_t step)
{
    if (!truth->ended || step < truth->step_count)
        sim_fail(truth->world, SIM_LINEAR,
                 "a reader was told that the stream ends at step %" PRIu64
                 ", and it has %" PRIu64 " steps%s",
                 step, truth->step_count, truth->ended ? "" : " and goes on");
}

static void audit_step(struct sim_truth *truth, uint64_t number)
{
    const struct sim_step *step = &truth->steps[number];
    struct sim_author author = author_of_step(truth, step);
    const struct sim_object *object;
    struct lks_error error;
    char name[LKS_NAME_SIZE];
    uint64_t place = 0;

    lks_data_name(author.id, step->epoch, step->owner_tag, step->seq, name);
    object = sim_objects_find(&truth->bucket->objects, name);
    if (object == NULL || object->size != step->size)
        sim_fail(truth->world, SIM_DURABLE,
                 "step %" PRIu64 " has lost its object %s", number, name);
    for (uint32_t i = 0; i < truth->slice_count; i++) {
        uint8_t expected[SIM_SLICE_SIZE_MAX];
        size_t size = sim_payload(&author, step->seq, i, expected);
        uint64_t frame_size = lks_frame_size(size);
        struct lks_frame frame;

        if (place + frame_size > object->size ||
            lks_frame_decode(object->data + place, frame_size, i, step->seq,
                             &frame, &error) != LKS_OK ||
            memcmp(object->data + place + LKS_FRAME_HEADER_SIZE, expected,
                   size) != 0)
            sim_fail(truth->world, SIM_ATOMIC,
                     "slice %u of %s is not what was appended", i, name);
        place += frame_size;
    }
}

void sim_truth_audit(struct sim_truth *truth)
{
    uint64_t first = truth->life.first_live;

    for (uint64_t i = first; i < truth->step_count; i++)
        audit_step(truth, i);
    for (uint64_t i = first / LKS_BLOCK_STEPS;
         i < truth->step_count / LKS_BLOCK_STEPS; i++) {
        if ((i + 1) * LKS_BLOCK_STEPS < truth->step_count)
            sim_truth_check_index(truth, i, false);
    }
}
