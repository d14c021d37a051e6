/*
 * The set of live TGBs, as runs of seqs in a table hashed by incarnation.
 */
#include "reclaim/live_set.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"

#define CAPACITY_FIRST 64u

void lks_live_set_init(struct lks_live_set *set)
{
    *set = (struct lks_live_set){.places = NULL};
}

void lks_live_set_done(struct lks_live_set *set)
{
    for (size_t i = 0; i < set->capacity; i++)
        lks_free(set->places[i].producer);
    lks_free(set->places);
    lks_live_set_init(set);
}

static bool is_of(const struct lks_live_run *run,
                  const char *producer,
                  uint64_t epoch,
                  uint32_t owner_tag)
{
    return run->epoch == epoch && run->owner_tag == owner_tag &&
           strcmp(run->producer, producer) == 0;
}

/* The incarnation's place, or the free one where it belongs. */
static struct lks_live_run *find(const struct lks_live_set *set,
                                 const char *producer,
                                 uint64_t epoch,
                                 uint32_t owner_tag)
{
    uint32_t hash = lks_crc32c(producer, strlen(producer));
    size_t place;

    assert(set->count < set->capacity);

    hash = (hash ^ owner_tag ^ (uint32_t)epoch) * UINT32_C(2654435761);
    for (place = hash % set->capacity; set->places[place].producer != NULL;
         place = (place + 1) % set->capacity) {
        if (is_of(&set->places[place], producer, epoch, owner_tag))
            break;
    }
    return &set->places[place];
}

static enum lks_status grow(struct lks_live_set *set, struct lks_error *error)
{
    struct lks_live_set grown = {.count = set->count};

    if (2 * (set->count + 1) <= set->capacity)
        return LKS_OK;
    grown.capacity = set->capacity == 0 ? CAPACITY_FIRST : 2 * set->capacity;
    grown.places = lks_alloc_zero(grown.capacity, sizeof(*grown.places));
    if (grown.places == NULL)
        return lks_error_no_memory(error);
    for (size_t i = 0; i < set->capacity; i++) {
        const struct lks_live_run *run = &set->places[i];

        if (run->producer != NULL)
            *find(&grown, run->producer, run->epoch, run->owner_tag) = *run;
    }
    lks_free(set->places);
    *set = grown;
    return LKS_OK;
}

enum lks_status lks_live_set_add(struct lks_live_set *set,
                                 const struct lks_entry *entry,
                                 struct lks_error *error)
{
    struct lks_live_run *run = set->last;
    enum lks_status status;
    char *producer;

    if (run == NULL ||
        !is_of(run, entry->producer, entry->epoch, entry->owner_tag)) {
        status = grow(set, error);
        if (status != LKS_OK)
            return status;
        run = find(set, entry->producer, entry->epoch, entry->owner_tag);
    }
    if (run->producer == NULL) {
        producer = lks_text_dup(entry->producer);
        if (producer == NULL)
            return lks_error_no_memory(error);
        *run = (struct lks_live_run){producer, entry->epoch, entry->owner_tag,
                                     entry->seq, entry->seq};
        set->count++;
    }
    if (entry->seq < run->low)
        run->low = entry->seq;
    if (entry->seq > run->high)
        run->high = entry->seq;
    set->last = run;
    return LKS_OK;
}

bool lks_live_set_has(const struct lks_live_set *set,
                      const struct lks_data_parts *name)
{
    const struct lks_live_run *run;

    if (set->count == 0)
        return false;
    run = find(set, name->producer, name->epoch, name->owner_tag);
    return run->producer != NULL && name->seq >= run->low &&
           name->seq <= run->high;
}
