/*
 * Waits between tries, and the tokens that many of them share.
 */
#include "store/retry.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/backoff.h"

struct lks_retry_budget {
    const struct lks_env *env;
    struct lks_monitor *monitor;
    struct {
        double tokens; /* below zero: that many wait for theirs */
        uint64_t counted_ns;
    } locked;
};

enum lks_status lks_retry_budget_new(const struct lks_env *env,
                                     struct lks_retry_budget **out_budget,
                                     struct lks_error *error)
{
    struct lks_retry_budget *budget = lks_alloc_zero(1, sizeof(*budget));
    enum lks_status status;

    if (budget == NULL)
        return lks_error_no_memory(error);
    budget->env = env;
    budget->locked.tokens = LKS_RETRY_TOKENS_MAX;
    budget->locked.counted_ns = lks_env_now_ns(env);
    status = lks_monitor_new(env, &budget->monitor, error);
    if (status != LKS_OK) {
        lks_free(budget);
        return status;
    }
    *out_budget = budget;
    return LKS_OK;
}

void lks_retry_budget_free(struct lks_retry_budget *budget)
{
    if (budget == NULL)
        return;
    lks_monitor_free(budget->env, budget->monitor);
    lks_free(budget);
}

static void add_locked(struct lks_retry_budget *budget, double tokens)
{
    budget->locked.tokens += tokens;
    if (budget->locked.tokens > LKS_RETRY_TOKENS_MAX)
        budget->locked.tokens = LKS_RETRY_TOKENS_MAX;
}

void lks_retry_succeeded(struct lks_retry_budget *budget)
{
    lks_monitor_enter(budget->env, budget->monitor);
    add_locked(budget, LKS_RETRY_TOKENS_PER_SUCCESS);
    lks_monitor_leave(budget->env, budget->monitor);
}

/* Takes a token now, and returns how long it is until it is really there. */
static uint64_t take_token(struct lks_retry_budget *budget)
{
    uint64_t now_ns = lks_env_now_ns(budget->env);
    uint64_t wait_ns = 0;

    lks_monitor_enter(budget->env, budget->monitor);
    if (now_ns > budget->locked.counted_ns) {
        add_locked(budget, (double)(now_ns - budget->locked.counted_ns) *
                               LKS_RETRY_TOKENS_PER_S / (double)LKS_NS_PER_S);
        budget->locked.counted_ns = now_ns;
    }
    budget->locked.tokens -= 1;
    if (budget->locked.tokens < 0)
        wait_ns = (uint64_t)(-budget->locked.tokens / LKS_RETRY_TOKENS_PER_S *
                             (double)LKS_NS_PER_S);
    lks_monitor_leave(budget->env, budget->monitor);
    return wait_ns;
}

static void give_back(struct lks_retry_budget *budget)
{
    lks_monitor_enter(budget->env, budget->monitor);
    add_locked(budget, 1);
    lks_monitor_leave(budget->env, budget->monitor);
}

void lks_retry_begin(struct lks_retry *retry,
                     struct lks_retry_budget *budget,
                     uint64_t timeout_ms)
{
    retry->budget = budget;
    retry->deadline_ns = lks_env_deadline_ms(budget->env, timeout_ms);
    retry->try_count = 1;
}

/* The wait after the try that was made last. */
static uint64_t draw_wait_ns(const struct lks_retry *retry, bool throttled)
{
    const struct lks_backoff backoff = {
        .first_ns = LKS_NS_PER_MS * (throttled ? LKS_RETRY_FIRST_THROTTLED_MS
                                               : LKS_RETRY_FIRST_MS),
        .longest_ns = LKS_NS_PER_MS * LKS_RETRY_LONGEST_MS,
    };

    return lks_backoff_ns(&backoff, retry->try_count,
                          lks_env_random_unit(retry->budget->env));
}

bool lks_retry_wait(struct lks_retry *retry,
                    bool throttled,
                    uint64_t asked_ms,
                    const struct lks_cancel *cancel)
{
    const struct lks_env *env = retry->budget->env;
    uint64_t now_ns = lks_env_now_ns(env);
    uint64_t wait_ns;
    uint64_t token_ns;

    assert(retry->try_count > 0);

    if (now_ns >= retry->deadline_ns || lks_cancelled(cancel))
        return false;
    if (asked_ms > LKS_RETRY_LONGEST_MS)
        asked_ms = LKS_RETRY_LONGEST_MS;
    wait_ns = draw_wait_ns(retry, throttled) + asked_ms * LKS_NS_PER_MS;
    token_ns = take_token(retry->budget);
    if (wait_ns < token_ns)
        wait_ns = token_ns;
    if (wait_ns >= retry->deadline_ns - now_ns) {
        give_back(retry->budget);
        return false;
    }
    lks_env_sleep_unless(env, wait_ns, cancel);
    retry->try_count++;
    return !lks_cancelled(cancel);
}
