/*
 * Whose a producer id is: taking it at open, checking it before every commit,
 * giving it up at finish.
 */
#ifndef LKS_PRODUCER_OWNERSHIP_H
#define LKS_PRODUCER_OWNERSHIP_H

#include "manifest/log.h"

/* One incarnation of a producer id. */
struct lks_identity {
    char id[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t epoch;
    uint8_t owner[LKS_ID_SIZE];
    char host[LKS_HOST_SIZE];
    int64_t pid;
    bool takes_turns; /* and so gets a place in the ring at its open */
};

/*
 * Takes the id: commits the next epoch with a fresh owner. The log's head is
 * then a manifest that shows it. `identity` has its id; the rest is filled in.
 */
enum lks_status lks_ownership_take(struct lks_log *log,
                                   struct lks_identity *identity,
                                   uint64_t deadline_ns,
                                   struct lks_error *error);

/* The record of the id if this head still shows it as ours; LKS_FENCED names
 * who has it now. */
enum lks_status lks_ownership_check(const struct lks_manifest *head,
                                    const struct lks_identity *identity,
                                    struct lks_producer_record *out_record,
                                    struct lks_error *error);

/* Marks the producer finished, which bumps its epoch once more, and ends the
 * stream if that completes it. */
enum lks_status lks_ownership_finish(struct lks_log *log,
                                     const struct lks_identity *identity,
                                     uint64_t deadline_ns,
                                     struct lks_error *error);

#endif
