/*
 * Checking an index block against the chain, when the first manifest lands that
 * relies on it.
 */
#include <inttypes.h>

#include "format/index.h"
#include "sim/sim_truth.h"

static bool is_entry_of(struct sim_truth *truth,
                        const struct lks_entry *entry,
                        const struct sim_step *step)
{
    const struct sim_seat *seat = sim_truth_seat(truth, entry->producer);

    return seat == &truth->seats[step->seat] && entry->epoch == step->epoch &&
           entry->owner_tag == step->owner_tag && entry->seq == step->seq &&
           entry->size == step->size && entry->version == step->version;
}

static void check_block(struct sim_truth *truth,
                        const struct lks_index *index,
                        uint64_t number)
{
    uint64_t first = number * LKS_BLOCK_STEPS;

    for (uint64_t i = first; i < first + LKS_BLOCK_STEPS; i++) {
        struct lks_entry entry;

        lks_index_entry(index, i, truth->slice_count, &entry);
        if (!is_entry_of(truth, &entry, &truth->steps[i]))
            sim_fail(truth->world, SIM_LINEAR,
                     "index block %" PRIu64 " has another step %" PRIu64,
                     number, i);
    }
}

/* Its map is that of the manifest before, so only then it can be compared. */
static void check_map(struct sim_truth *truth,
                      const struct lks_index *index,
                      uint64_t number)
{
    for (uint32_t i = 0; i < lks_index_producer_count(index); i++) {
        struct lks_producer_record record;
        const struct sim_seat *seat;

        lks_index_producer(index, i, &record);
        seat = sim_truth_seat(truth, record.id);
        if (seat == NULL || seat->next_seq != record.next_seq)
            sim_fail(truth->world, SIM_EXACTLY_ONCE,
                     "index block %" PRIu64 " says next_seq %" PRIu64 " of %s",
                     number, record.next_seq, record.id);
    }
}

void sim_truth_check_index(struct sim_truth *truth, uint64_t number, bool now)
{
    const struct sim_object *object;
    struct lks_index *index = NULL;
    struct lks_error error;
    char name[LKS_NAME_SIZE];

    lks_index_name(number, name);
    object = sim_objects_find(&truth->bucket->objects, name);
    if (object == NULL)
        sim_fail(truth->world, SIM_ATOMIC,
                 "version %" PRIu64 " left its entries to %s, which is not "
                 "there",
                 truth->version + 1, name);
    if (lks_index_decode(object->data, object->size, truth->stream, number,
                         &index, &error) != LKS_OK)
        sim_fail(truth->world, SIM_ATOMIC, "%s: %s", name, error.message);
    check_block(truth, index, number);
    if (now)
        check_map(truth, index, number);
    lks_index_free(index);
}
