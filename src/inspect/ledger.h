/*
 * What a verification has learnt of each producer on its way through the steps:
 * the seq, epoch and offset that its next TGB must continue.
 */
#ifndef LKS_INSPECT_LEDGER_H
#define LKS_INSPECT_LEDGER_H

#include "format/entry.h"
#include "inspect/findings.h"

struct lks_account {
    char id[LKS_PRODUCER_ID_SIZE_MAX + 1];
    bool seq_known;
    bool offset_known;
    bool owner_known;
    uint64_t next_seq;
    uint64_t epoch; /* 0: none was seen */
    uint32_t owner_tag;
    uint64_t last_map; /* the last one it was in, counted from 1 */
    uint8_t offset[LKS_OFFSET_SIZE_MAX];
    size_t offset_size;
};

struct lks_ledger {
    struct lks_report *report;
    /* Nothing of the stream is before the first step that is looked at: who is
     * not in here yet starts at seq 0, with no offset. */
    bool complete;
    uint64_t map_count;            /* maps that were closed */
    struct lks_account **accounts; /* by id */
    size_t count;
    size_t capacity;
};

void lks_ledger_init(struct lks_ledger *ledger, struct lks_report *report);
void lks_ledger_done(struct lks_ledger *ledger);

/* Steps are missing: what was known of seqs and offsets is so no more. */
void lks_ledger_forget(struct lks_ledger *ledger);

/* The next step's entry, as found in the object `where`. */
enum lks_status lks_ledger_take_entry(struct lks_ledger *ledger,
                                      const char *where,
                                      const struct lks_entry *entry,
                                      struct lks_error *error);

/* The footer of the same TGB, whose object is `name`. */
enum lks_status lks_ledger_take_footer(struct lks_ledger *ledger,
                                       const char *name,
                                       const struct lks_footer *footer,
                                       struct lks_error *error);

/* Instead, if it cannot be read. */
void lks_ledger_lose_offset(struct lks_ledger *ledger, const char *id);

/*
 * A producer as the object `where` has it after the steps so far. What is not
 * known yet is learnt from it.
 */
enum lks_status lks_ledger_take_record(struct lks_ledger *ledger,
                                       const char *where,
                                       const struct lks_producer_record *record,
                                       struct lks_error *error);

/* The map of `where` has no more producers than were taken: whoever was met
 * before must have been among them, since nobody ever leaves the map. */
enum lks_status lks_ledger_close_map(struct lks_ledger *ledger,
                                     const char *where,
                                     struct lks_error *error);

#endif
