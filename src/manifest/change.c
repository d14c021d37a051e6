/*
 * Control commits: one loop for every change that appends no step.
 *
 * A change is in once the newest manifest satisfies it, and everything about it
 * is judged again on each new base. docs/protocol.md, "Control commits".
 */
#include "manifest/change.h"

#include <assert.h>

#include "base/backoff.h"
#include "base/trace.h"

/* Of a crowd somebody always wins, so the measure of a pause is what a try
 * takes: docs/benchmarks/pacing.md, "Openers". */
#define CROWD_FIRST 2    /* tries */
#define CROWD_LONGEST 32 /* tries */

/* Makes the attempt for this head, if the one that is out is not for it. */
static enum lks_status prepare(struct lks_log *log,
                               const struct lks_change *change,
                               struct lks_attempt *attempt,
                               struct lks_error *error)
{
    struct lks_manifest *next = NULL;
    enum lks_status status;

    if (lks_attempt_is_open(attempt, log))
        return LKS_OK;
    status = lks_log_next(log, &next, error);
    if (status != LKS_OK)
        return status;
    status = change->apply(next, change->arg, error);
    if (status == LKS_OK)
        status = lks_attempt_set(attempt, next, error);
    lks_manifest_free(next);
    return status;
}

static enum lks_status give_up(const struct lks_log *log,
                               const struct lks_change *change,
                               struct lks_error *error)
{
    if (lks_cancelled(log->cancel))
        return lks_error_set(error, LKS_CANCELLED, "%s: cancelled",
                             change->what);
    return lks_error_set(error, LKS_TIMEOUT,
                         "%s: not committed to %s in time; it may still be",
                         change->what, log->stream->store->url);
}

/* Stays away after so many tries that came to nothing. `crowd`: somebody else
 * has won; if not, the store is in trouble. */
static void stay_away(const struct lks_log *log,
                      uint64_t try_ns,
                      uint32_t failures,
                      bool crowd)
{
    struct lks_backoff backoff = {
        .first_ns = CROWD_FIRST * try_ns,
        .longest_ns = CROWD_LONGEST * try_ns,
    };

    if (!crowd || backoff.longest_ns > lks_backoff_outage.longest_ns)
        backoff.longest_ns = lks_backoff_outage.longest_ns;
    if (!crowd && backoff.first_ns < lks_backoff_outage.first_ns)
        backoff.first_ns = lks_backoff_outage.first_ns;
    lks_backoff_sleep(&backoff, failures, log->stream->env, log->cancel);
}

enum lks_status lks_log_change(struct lks_log *log,
                               const struct lks_change *change,
                               uint64_t deadline_ns,
                               struct lks_error *error)
{
    const struct lks_env *env = log->stream->env;
    struct lks_attempt attempt;
    uint32_t failures = 0;
    enum lks_status status;

    assert(log->view == LKS_LOG_WHOLE);

    lks_attempt_init(&attempt);
    for (;;) {
        bool done = false;
        bool throttled = false;
        uint64_t sent_ns;

        status = lks_log_look(log, error);
        if (status == LKS_OK)
            status = change->judge(log->head, change->arg, &done, error);
        if (status != LKS_OK || done)
            break;
        if (lks_env_now_ns(env) >= deadline_ns || lks_cancelled(log->cancel)) {
            status = give_up(log, change, error);
            break;
        }
        status = prepare(log, change, &attempt, error);
        if (status != LKS_OK)
            break;
        sent_ns = lks_env_now_ns(env);
        status = lks_log_create(log, &attempt, &throttled, error);
        if (status == LKS_OK)
            continue; /* Most likely in: the look tells. */
        if (status != LKS_EXISTS && status != LKS_UNSURE)
            break;
        failures++;
        /* A crowd makes versions faster than a look by name follows them; a
         * listing finds the newest at once. */
        log->proven_ms = INT64_MIN;
        stay_away(log, lks_env_now_ns(env) - sent_ns, failures,
                  status == LKS_EXISTS && !throttled);
    }
    lks_attempt_done(&attempt);
    return status;
}
