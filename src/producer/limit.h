/*
 * Waiting at the stream's limit: now and then whoever waits looks for itself
 * whether checkpoints have moved on, since perhaps nobody else does.
 */
#ifndef LKS_PRODUCER_LIMIT_H
#define LKS_PRODUCER_LIMIT_H

#include "manifest/log.h"

/* Mean time between two of one producer's looks when it is the only one; all
 * that are active share the same number of looks. */
#define LKS_LIMIT_LOOK_MS 2000u

/* Belongs to the committing thread; zero it before use. */
struct lks_limit_watch {
    uint64_t next_ns;  /* of the next look; 0: not waiting */
    uint64_t since_ns; /* held back since; 0: not held back */
    uint64_t tell_ns;  /* when to tell of it next */
    bool told;
};

/* The log is told once this has passed, and then again so often. */
#define LKS_LIMIT_TELL_MS 1000u
#define LKS_LIMIT_TELL_AGAIN_MS 60000u

/* To be called again and again: the producer is held back, or it is not. */
void lks_limit_held(struct lks_limit_watch *watch,
                    const struct lks_log *log,
                    const char *producer);
void lks_limit_passed(struct lks_limit_watch *watch,
                      const struct lks_log *log,
                      const char *producer);

/*
 * If it is time: reads the watermarks, and commits what they claim if that has
 * moved on. The log's head is then the newest. Deletes nothing: that is for
 * those who reclaim. A look in vain is no failure.
 */
enum lks_status lks_limit_look(struct lks_limit_watch *watch,
                               struct lks_log *log,
                               struct lks_error *error);

/*
 * How many TGBs one producer may have in hand, uploaded or not: its share of
 * the steps and bytes that are left of the limits, so that all of them together
 * do not store much more than that. At least 1, ready for when the limit
 * moves; `most` if there is no limit.
 */
uint32_t lks_limit_room(const struct lks_manifest *head, uint32_t most);

#endif
