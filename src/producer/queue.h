/*
 * The TGBs of a producer between append and commit, in order of seq, and the
 * byte budget that holds appends back.
 */
#ifndef LKS_PRODUCER_QUEUE_H
#define LKS_PRODUCER_QUEUE_H

#include "base/histogram.h"
#include "producer/pacing.h"
#include "producer/tgb_writer.h"

/* TGBs that wait to be committed, at most: each is small once it is stored. */
#define LKS_QUEUE_MAX 4096u

struct lks_queue_stats {
    uint64_t tgb_count; /* appended */
    uint64_t raw_size;  /* their slices' bytes */
    uint64_t try_count;
    uint64_t lost_count;
    uint64_t throttled_count;
    uint64_t won_count;
    uint64_t blocked_ns;             /* time that appends waited */
    uint64_t request_count;          /* looks and tries: the control requests */
    uint64_t gap_ns;                 /* what pacing makes of it all */
    uint64_t attempt_ns;             /* T */
    uint64_t look_ns;                /* the part of it that is a look */
    uint32_t active;                 /* N */
    struct lks_histogram visible_us; /* from append to seen committed */
};

struct lks_queue {
    const struct lks_env *env;
    struct lks_monitor *monitor;
    const struct lks_cancel *cancel;
    uint64_t size_max; /* of held_size */

    struct {
        struct lks_tgb *first;
        struct lks_tgb *last;
        uint32_t count;
        uint64_t held_size;
        uint64_t next_seq;        /* the next append's */
        struct lks_offset offset; /* after the last append */
        bool held_back;           /* the stream is at its limit */
        uint32_t count_max;       /* its share of what is left of that */
        bool closing;
        uint32_t uploading;     /* of count: not stored yet */
        uint32_t awaiting;      /* who wait until it is empty */
        struct lks_error error; /* the first failure; it stays */
        struct lks_queue_stats stats;
    } locked;
};

enum lks_status lks_queue_init(struct lks_queue *queue,
                               const struct lks_env *env,
                               const struct lks_cancel *cancel,
                               uint64_t size_max,
                               struct lks_error *error);

/* No thread may use it any more; frees the TGBs in it. */
void lks_queue_done(struct lks_queue *queue);

/* Where the first append begins. */
void lks_queue_begin(struct lks_queue *queue,
                     uint64_t next_seq,
                     const void *offset,
                     size_t offset_size);

/* LKS_INVALID for a TGB that there can never be room for. */
enum lks_status lks_queue_check_size(uint64_t held_size,
                                     uint64_t size_max,
                                     struct lks_error *error);

/*
 * Gives the TGB its seq and keeps it, once there is room. On failure it is
 * still the caller's.
 */
enum lks_status lks_queue_push(struct lks_queue *queue,
                               struct lks_tgb *tgb,
                               struct lks_error *error);

/* lks_tgb_done_fn; `queue` is the arg. */
void lks_queue_stored(struct lks_tgb *tgb,
                      enum lks_status status,
                      const struct lks_error *error,
                      void *queue);

/* Waits until the first TGB is stored. False when there is nothing more to do:
 * closing, cancelled or failed. */
bool lks_queue_wait_stored(struct lks_queue *queue);

/* The first TGB, or the one after `tgb`, if it is stored; else NULL. It stays
 * until it is confirmed, by the same thread. */
struct lks_tgb *lks_queue_next_stored(struct lks_queue *queue,
                                      const struct lks_tgb *tgb);

/* All below `next_seq` are committed: they leave. */
void lks_queue_confirm(struct lks_queue *queue, uint64_t next_seq);

void lks_queue_hold_back(struct lks_queue *queue, bool held_back);

/* How many TGBs may be in it, at least 1; LKS_QUEUE_MAX until this is said. */
void lks_queue_set_room(struct lks_queue *queue, uint32_t count_max);
void lks_queue_count_try(struct lks_queue *queue, enum lks_outcome outcome);
void lks_queue_note_pacing(struct lks_queue *queue,
                           const struct lks_pacing *pacing,
                           uint64_t request_count);

/* Whether somebody waits until it is empty, and only for commits: while TGBs
 * are being uploaded, committing others brings nobody's end nearer. */
bool lks_queue_is_awaited(struct lks_queue *queue);

/* Sleeps for so long. Returns early, and false, when that becomes so, or there
 * is nothing more to do. */
bool lks_queue_rest(struct lks_queue *queue, uint64_t duration_ns);

/* Every waiting and later call fails with this. The first one counts. */
void lks_queue_fail(struct lks_queue *queue,
                    enum lks_status status,
                    const struct lks_error *error);

/* Waits until all is committed. */
enum lks_status lks_queue_wait_empty(struct lks_queue *queue,
                                     uint64_t deadline_ns,
                                     struct lks_error *error);

/* Lets lks_queue_wait_stored() return. */
void lks_queue_close(struct lks_queue *queue);

uint64_t lks_queue_next_seq(struct lks_queue *queue);
void lks_queue_read_stats(struct lks_queue *queue,
                          struct lks_queue_stats *out_stats);

#endif
