/*
 * Whether and when a read is tried again: full jitter, within a time, under a
 * budget that all calls of a store share.
 *
 * The budget keeps many readers from becoming a storm. Each retry takes a
 * token; time and successes bring them back. When there is none the retry is
 * not given up but waits its turn, so that a store which fails everybody gets
 * a steady trickle, and one that recovers is found by the first of them.
 */
#ifndef LKS_STORE_RETRY_H
#define LKS_STORE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

#define LKS_RETRY_TOKENS_MAX 32.0
#define LKS_RETRY_TOKENS_PER_S 10.0
#define LKS_RETRY_TOKENS_PER_SUCCESS 0.2

/* How long a wait may get, and what the first ones are at most. */
#define LKS_RETRY_LONGEST_MS 5000u
#define LKS_RETRY_FIRST_MS 25u
#define LKS_RETRY_FIRST_THROTTLED_MS 500u

struct lks_retry_budget;

enum lks_status lks_retry_budget_new(const struct lks_env *env,
                                     struct lks_retry_budget **out_budget,
                                     struct lks_error *error);
void lks_retry_budget_free(struct lks_retry_budget *budget);
void lks_retry_succeeded(struct lks_retry_budget *budget);

/* One call's tries. */
struct lks_retry {
    struct lks_retry_budget *budget;
    uint64_t deadline_ns;
    uint32_t try_count; /* begun so far */
};

void lks_retry_begin(struct lks_retry *retry,
                     struct lks_retry_budget *budget,
                     uint64_t timeout_ms);

/*
 * After a failed try: waits, and says whether to try again. False once the time
 * is over or `cancel` is set. `asked_ms` is what the server asked for; 0: none.
 */
bool lks_retry_wait(struct lks_retry *retry,
                    bool throttled,
                    uint64_t asked_ms,
                    const struct lks_cancel *cancel);

#endif
