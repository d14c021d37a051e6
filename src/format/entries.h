/*
 * What manifests and index blocks have in common: entries with their writers,
 * and the map of producers. Private to this room.
 */
#ifndef LKS_FORMAT_ENTRIES_H
#define LKS_FORMAT_ENTRIES_H

#include "format/entry.h"
#include "format/message.h"

/* A block's share of a section, borrowed. Entry 0 is step `first`. */
struct lks_entries {
    uint64_t first;
    size_t count;
    Lks__Entry *const *items;
    size_t writer_count;
    Lks__Writer *const *writers;
};

/* What is off with one entry by itself; NULL: nothing. */
const char *lks_entry_problem(const Lks__Entry *entry);

/* All of them: totals and versions ascending, none past `version_max`. */
enum lks_status lks_entries_check(const struct lks_entries *entries,
                                  uint64_t version_max,
                                  struct lks_error *error);

/* `step` must be one of theirs. A table that does not fit the mesh is given as
 * LKS_TABLE_FOOTER: the object's own is then looked at, and is checked. */
void lks_entries_get(const struct lks_entries *entries,
                     uint64_t step,
                     uint32_t slice_count,
                     struct lks_entry *out_entry);

/* Ids ascending and unique, and each record plausible. */
enum lks_status lks_producers_check(Lks__Producer *const *producers,
                                    size_t count,
                                    struct lks_error *error);

/* The place of `id`, or where it would have to stand. */
bool lks_producers_find(Lks__Producer *const *producers,
                        size_t count,
                        const char *id,
                        size_t *out_place);

void lks_producer_get(const Lks__Producer *producer,
                      struct lks_producer_record *out_record);

#endif
