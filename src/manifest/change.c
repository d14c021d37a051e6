/*
 * Control commits: one loop for every change that appends no step.
 *
 * A change is in once the newest manifest satisfies it, and everything about it
 * is judged again on each new base. docs/protocol.md, "Control commits".
 */
#include "manifest/change.h"

#include <assert.h>

#include "base/trace.h"

/* The mean pause after the first lost try; it doubles up to the longest. */
#define PAUSE_FIRST_MS 10
#define PAUSE_LONGEST_MS 2000

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

enum lks_status lks_log_change(struct lks_log *log,
                               const struct lks_change *change,
                               uint64_t deadline_ns,
                               struct lks_error *error)
{
    const struct lks_env *env = log->stream->env;
    struct lks_attempt attempt;
    uint64_t pause_ms = PAUSE_FIRST_MS;
    enum lks_status status;

    assert(log->view == LKS_LOG_WHOLE);

    lks_attempt_init(&attempt);
    for (;;) {
        bool done = false;
        bool throttled = false;

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
        status = lks_log_create(log, &attempt, &throttled, error);
        if (status == LKS_OK)
            continue; /* Most likely in: the look tells. */
        if (status != LKS_EXISTS && status != LKS_UNSURE)
            break;
        lks_env_sleep_unless(env,
                             (uint64_t)(2.0 * lks_env_random_unit(env) *
                                        (double)(pause_ms * LKS_NS_PER_MS)),
                             log->cancel);
        if (pause_ms < PAUSE_LONGEST_MS)
            pause_ms *= 2;
    }
    lks_attempt_done(&attempt);
    return status;
}
