/*
 * Which TGBs the live steps name: for each incarnation of a producer, the run
 * of its seqs.
 */
#ifndef LKS_RECLAIM_LIVE_SET_H
#define LKS_RECLAIM_LIVE_SET_H

#include "format/entry.h"

/* One incarnation. Its live seqs are within [low, high]: it commits in order,
 * so they are a run; and if they were not, too much would be kept. */
struct lks_live_run {
    char *producer; /* NULL: a free place */
    uint64_t epoch;
    uint32_t owner_tag;
    uint64_t low;
    uint64_t high;
};

/* Grows with the incarnations among the live steps, not with the steps. */
struct lks_live_set {
    struct lks_live_run *places; /* hashed, never more than half full */
    size_t capacity;
    size_t count;
    struct lks_live_run *last; /* the next entry is most often of the same */
};

void lks_live_set_init(struct lks_live_set *set);
void lks_live_set_done(struct lks_live_set *set);

enum lks_status lks_live_set_add(struct lks_live_set *set,
                                 const struct lks_entry *entry,
                                 struct lks_error *error);

bool lks_live_set_has(const struct lks_live_set *set,
                      const struct lks_data_parts *name);

#endif
