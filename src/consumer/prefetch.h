/*
 * The window of batches that are fetched ahead, and the budget of bytes that
 * they may hold: where planner, fetches and the consumer's caller meet.
 */
#ifndef LKS_CONSUMER_PREFETCH_H
#define LKS_CONSUMER_PREFETCH_H

#include "consumer/batch.h"
#include "consumer/fetch.h"
#include "consumer/follower.h"

#define LKS_WINDOW_MAX 1024u /* batches, however small they are */
#define LKS_POLL_DEBT_MAX 4  /* looks of those who starve, to be paid back */

/* With so much ready for a caller that waits, and two batches of it, fetching
 * more makes pauses. */
#define LKS_READY_SIZE (12u << 20)
#define LKS_POLITE_NS (1 * LKS_NS_PER_MS)

/* Nothing ends a read that has begun, so a caller that has a deadline fetches
 * only while reads take no longer. */
#define LKS_QUICK_NS (250 * LKS_NS_PER_MS)

/* What the planner waits for. */
enum lks_planner_need {
    LKS_NEED_NOTHING,
    LKS_NEED_ROOM,
    LKS_NEED_POLL,
    LKS_NEED_TABLE,
};

/* Counters since the consumer was opened. */
struct lks_counts {
    uint64_t steps;
    uint64_t payload_size;
    uint64_t needed_size;
    uint64_t fetched_size;
    uint64_t get_count;
    uint64_t wait_ns;
    uint64_t longest_wait_ns;
};

/* What a caller that waited in vain is told. */
struct lks_wait_report {
    uint64_t now_ns;
    uint64_t waited_ns;
    bool fetching; /* the step can be seen, its bytes are not here yet */
    struct lks_sighting sighting;
    struct lks_error trouble; /* LKS_OK: the store answers */
};

struct lks_prefetch {
    const struct lks_env *env;
    const struct lks_cancel *cancel;
    uint64_t size_max; /* the budget */
    uint64_t poll_ms;
    uint32_t ranks;
    struct lks_monitor *monitor;

    /* What a caller that waits can do for it: false if it was no use. NULL: it
     * only waits. */
    bool (*help)(void *arg);
    void *help_arg;

    struct {
        struct lks_batch *batches[LKS_WINDOW_MAX]; /* in order, a ring */
        size_t first;
        size_t count;
        uint64_t reserved;   /* of the budget */
        uint64_t ready_size; /* of what was fetched and not taken */
        size_t polite_count; /* fetchers that let the caller come first */
        uint64_t batch_size; /* what the last batch reserved */
        uint64_t fetch_ns;   /* what the last fetch took; LKS_FOREVER: none */
        int64_t poll_credit; /* looks that steps handed out have paid for */
        uint64_t waiting_since_ns; /* LKS_FOREVER: no caller waits */
        uint64_t hungry_since_ns;  /* when the first wait for this step began */
        bool caller_sleeps;        /* and must be woken */
        enum lks_planner_need planner_need;
        uint64_t planner_until_ns; /* or LKS_FOREVER; then it looks again */
        bool planner_ended;        /* for good, and `error` says why */
        struct lks_error error;    /* or its last trouble, while it goes on */
        struct lks_sighting sighting;
        struct lks_counts counts;
    } locked; /* by monitor */
};

enum lks_status lks_prefetch_init(struct lks_prefetch *prefetch,
                                  const struct lks_env *env,
                                  const struct lks_cancel *cancel,
                                  struct lks_error *error);
void lks_prefetch_done(struct lks_prefetch *prefetch);

/* Frees the batches and forgets the end, when nobody works for it any more. */
void lks_prefetch_clear(struct lks_prefetch *prefetch);

/* Lets all who wait look at the cancel flag again. */
void lks_prefetch_wake(struct lks_prefetch *prefetch);

/* --------------------------------------------------------- the caller -- */

/*
 * The next batch, which must come within `timeout_ms`. LKS_TIMEOUT fills
 * *out_report instead of `error`. Errors of a batch or of the planner come when
 * all before them were taken, and stay.
 */
enum lks_status lks_prefetch_take(struct lks_prefetch *prefetch,
                                  uint64_t timeout_ms,
                                  struct lks_batch **out_batch,
                                  struct lks_wait_report *out_report,
                                  struct lks_error *error);

void lks_prefetch_report(struct lks_prefetch *prefetch,
                         struct lks_counts *out_counts,
                         struct lks_sighting *out_sighting);

/* -------------------------------------------------------- the planner -- */

/*
 * Waits until looking for more steps is worth a request: when the caller
 * starves, at a pace; else once per step that was handed out, what the starving
 * had deducted, and only if there is room for what may come. `caught_up`: the
 * last look found nothing. False when cancelled.
 */
bool lks_prefetch_await_poll(struct lks_prefetch *prefetch,
                             uint64_t looked_ns,
                             bool caught_up);

/* Reserves the batch's memory and puts it into the window, when there is room.
 * LKS_INVALID if there never can be. */
enum lks_status lks_prefetch_admit(struct lks_prefetch *prefetch,
                                   struct lks_batch *batch,
                                   struct lks_error *error);

/* Waits until the batch is laid out. */
enum lks_status lks_prefetch_await_table(struct lks_prefetch *prefetch,
                                         struct lks_batch *batch,
                                         struct lks_error *error);

/* Tells how the planner gets on: `error` is its trouble, NULL if none. */
void lks_prefetch_note(struct lks_prefetch *prefetch,
                       const struct lks_follower *follower,
                       const struct lks_error *error);

/* The planner's last word. */
void lks_prefetch_end(struct lks_prefetch *prefetch,
                      const struct lks_error *error);

/* ----------------------------------------------------------- its jobs -- */

/* A table was read, or could not be. LKS_UNAVAILABLE is not the last word. */
void lks_prefetch_laid_out(struct lks_prefetch *prefetch,
                           struct lks_batch *batch,
                           enum lks_status status,
                           const struct lks_error *error);

/* The same for a fetch; after the last word the batch may be gone. */
void lks_prefetch_fetched(struct lks_prefetch *prefetch,
                          struct lks_fetch *fetch,
                          const struct lks_fetch_cost *cost,
                          enum lks_status status,
                          const struct lks_error *error);

/* For who fetches, between two fetches: pauses while a caller waits although
 * much is ready. */
void lks_prefetch_let_caller_come(struct lks_prefetch *prefetch);

#endif
