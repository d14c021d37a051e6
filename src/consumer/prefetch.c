/*
 * The window and the budget, under one monitor. Memory is reserved before a
 * request is issued, and stays reserved until its batch is handed out: from
 * then on it is the caller's. Nothing here talks to the store.
 */
#include "consumer/prefetch.h"

#include <assert.h>
#include <inttypes.h>

/* The planner is woken when such a part of the window is free. */
#define WAKE_PART 8u

static const struct lks_error no_error = {.status = LKS_OK};

enum lks_status lks_prefetch_init(struct lks_prefetch *prefetch,
                                  const struct lks_env *env,
                                  const struct lks_cancel *cancel,
                                  struct lks_error *error)
{
    *prefetch = (struct lks_prefetch){.env = env, .cancel = cancel};
    prefetch->locked.waiting_since_ns = LKS_FOREVER;
    prefetch->locked.hungry_since_ns = LKS_FOREVER;
    prefetch->locked.fetch_ns = LKS_FOREVER;
    return lks_monitor_new(env, &prefetch->monitor, error);
}

void lks_prefetch_done(struct lks_prefetch *prefetch)
{
    if (prefetch->monitor == NULL)
        return;
    lks_prefetch_clear(prefetch);
    lks_monitor_free(prefetch->env, prefetch->monitor);
}

static void enter(struct lks_prefetch *prefetch)
{
    lks_monitor_enter(prefetch->env, prefetch->monitor);
}

static void leave(struct lks_prefetch *prefetch)
{
    lks_monitor_leave(prefetch->env, prefetch->monitor);
}

static void wake_and_leave(struct lks_prefetch *prefetch)
{
    lks_monitor_wake(prefetch->env, prefetch->monitor);
    leave(prefetch);
}

void lks_prefetch_wake(struct lks_prefetch *prefetch)
{
    enter(prefetch);
    wake_and_leave(prefetch);
}

static struct lks_batch *pop_locked(struct lks_prefetch *prefetch)
{
    struct lks_batch *batch = prefetch->locked.batches[prefetch->locked.first];

    assert(prefetch->locked.count > 0);

    prefetch->locked.first = (prefetch->locked.first + 1) % LKS_WINDOW_MAX;
    prefetch->locked.count--;
    prefetch->locked.reserved -= batch->locked.reserved;
    batch->locked.reserved = 0;
    prefetch->locked.ready_size -= batch->locked.ready_size;
    batch->locked.ready_size = 0;
    return batch;
}

static bool has_room_locked(const struct lks_prefetch *prefetch, uint64_t size)
{
    return prefetch->locked.count < LKS_WINDOW_MAX &&
           size <= prefetch->size_max - prefetch->locked.reserved;
}

static bool is_starving_locked(const struct lks_prefetch *prefetch)
{
    return prefetch->locked.waiting_since_ns != LKS_FOREVER &&
           prefetch->locked.count == 0;
}

/*
 * Whether the planner should look again at what it waits for. A caller that
 * takes what is there should not pay for that each time: there is room when an
 * eighth of the window is free, and who is to look at some time anyway need not
 * hear that it may.
 */
static bool wants_wake_locked(const struct lks_prefetch *prefetch)
{
    uint64_t size = prefetch->locked.batch_size;
    uint64_t count = size > 0 ? prefetch->size_max / size : LKS_WINDOW_MAX;
    uint64_t part =
        (count < LKS_WINDOW_MAX ? count : LKS_WINDOW_MAX) / WAKE_PART;

    if (prefetch->locked.planner_need == LKS_NEED_POLL)
        return prefetch->locked.planner_until_ns == LKS_FOREVER &&
               (is_starving_locked(prefetch) ||
                (prefetch->locked.poll_credit > 0 &&
                 has_room_locked(prefetch, size)));
    if (prefetch->locked.planner_need != LKS_NEED_ROOM)
        return false;
    return prefetch->locked.count == 0 ||
           (prefetch->locked.count + part <= LKS_WINDOW_MAX &&
            has_room_locked(prefetch, size * (part > 1 ? part : 1)));
}

/* The first batch came to a caller that sleeps until it does. */
static bool is_called_locked(const struct lks_prefetch *prefetch)
{
    const struct lks_batch *batch =
        prefetch->locked.batches[prefetch->locked.first];

    return prefetch->locked.caller_sleeps && prefetch->locked.count > 0 &&
           (batch->locked.failed || batch->locked.fetches_left == 0);
}

/* The planner waits for `need`; by `deadline_ns` it looks again. */
static void planner_wait_locked(struct lks_prefetch *prefetch,
                                enum lks_planner_need need,
                                uint64_t deadline_ns)
{
    prefetch->locked.planner_need = need;
    prefetch->locked.planner_until_ns = deadline_ns;
    lks_monitor_wait(prefetch->env, prefetch->monitor, deadline_ns);
    prefetch->locked.planner_need = LKS_NEED_NOTHING;
}

void lks_prefetch_clear(struct lks_prefetch *prefetch)
{
    enter(prefetch);
    while (prefetch->locked.count > 0)
        lks_batch_free(pop_locked(prefetch));
    assert(prefetch->locked.reserved == 0);
    prefetch->locked.planner_ended = false;
    prefetch->locked.error = no_error;
    prefetch->locked.poll_credit = 0;
    prefetch->locked.hungry_since_ns = LKS_FOREVER;
    leave(prefetch);
}

/* --------------------------------------------------------- the caller -- */

/* LKS_TIMEOUT: not yet. */
static enum lks_status try_take_locked(struct lks_prefetch *prefetch,
                                       struct lks_batch **out_batch,
                                       struct lks_error *error)
{
    struct lks_batch *batch;
    const struct lks_error *failure = NULL;

    if (lks_cancelled(prefetch->cancel))
        return lks_error_set(error, LKS_CANCELLED,
                             "the consumer was cancelled");
    batch = prefetch->locked.batches[prefetch->locked.first];
    if (prefetch->locked.count == 0) {
        if (!prefetch->locked.planner_ended)
            return LKS_TIMEOUT;
        failure = &prefetch->locked.error;
    } else if (batch->locked.failed) {
        failure = &batch->locked.error;
    } else if (batch->locked.fetches_left > 0) {
        return LKS_TIMEOUT;
    }
    if (failure != NULL)
        return lks_error_set(error, failure->status, "%s", failure->message);

    *out_batch = pop_locked(prefetch);
    prefetch->locked.counts.steps += batch->next_step - batch->step;
    prefetch->locked.counts.payload_size += batch->locked.payload_size;
    prefetch->locked.poll_credit += (int64_t)(batch->next_step - batch->step);
    if (wants_wake_locked(prefetch))
        lks_monitor_wake(prefetch->env, prefetch->monitor);
    return LKS_OK;
}

/* It began to wait at `begin_ns`, and for the same step before. */
static void count_wait_locked(struct lks_prefetch *prefetch, uint64_t begin_ns)
{
    struct lks_counts *counts = &prefetch->locked.counts;
    uint64_t now_ns = lks_env_now_ns(prefetch->env);
    uint64_t whole_ns = now_ns - prefetch->locked.hungry_since_ns;

    counts->wait_ns += now_ns - begin_ns;
    if (counts->longest_wait_ns < whole_ns)
        counts->longest_wait_ns = whole_ns;
}

static void report_locked(struct lks_prefetch *prefetch,
                          struct lks_wait_report *out_report)
{
    size_t first = prefetch->locked.first;

    out_report->now_ns = lks_env_now_ns(prefetch->env);
    out_report->waited_ns =
        out_report->now_ns - prefetch->locked.hungry_since_ns;
    out_report->fetching = prefetch->locked.count > 0;
    out_report->sighting = prefetch->locked.sighting;
    out_report->trouble = prefetch->locked.count > 0
                              ? prefetch->locked.batches[first]->locked.error
                              : prefetch->locked.error;
}

/* Of large batches one may well be there before the one ahead of it. */
static bool has_much_locked(const struct lks_prefetch *prefetch)
{
    uint64_t two_batches = 2 * prefetch->locked.batch_size;

    return prefetch->locked.ready_size >=
           (two_batches > LKS_READY_SIZE ? two_batches : LKS_READY_SIZE);
}

/* Leaves the monitor meanwhile. With much that is ready and is not what it
 * waits for, the caller had better leave its processor to the one who fetches
 * that. */
static bool help_locked(struct lks_prefetch *prefetch)
{
    bool helped;

    if (prefetch->help == NULL || has_much_locked(prefetch) ||
        prefetch->locked.fetch_ns > LKS_QUICK_NS)
        return false;
    leave(prefetch);
    helped = prefetch->help(prefetch->help_arg);
    enter(prefetch);
    return helped;
}

static bool sleep_locked(struct lks_prefetch *prefetch, uint64_t deadline_ns)
{
    bool in_time;

    prefetch->locked.caller_sleeps = true;
    in_time = lks_monitor_wait(prefetch->env, prefetch->monitor, deadline_ns);
    prefetch->locked.caller_sleeps = false;
    return in_time;
}

/* Waits until there is something to take. Who waits for one step in several
 * calls, to look after other things meanwhile, has waited since the first. */
static enum lks_status wait_and_take_locked(struct lks_prefetch *prefetch,
                                            uint64_t timeout_ms,
                                            struct lks_batch **out_batch,
                                            struct lks_wait_report *out_report,
                                            struct lks_error *error)
{
    uint64_t begin_ns = lks_env_now_ns(prefetch->env);
    uint64_t deadline_ns = lks_env_deadline_ms(prefetch->env, timeout_ms);
    enum lks_status status = LKS_TIMEOUT;
    bool in_time = true;

    if (prefetch->locked.hungry_since_ns == LKS_FOREVER)
        prefetch->locked.hungry_since_ns = begin_ns;
    prefetch->locked.waiting_since_ns = prefetch->locked.hungry_since_ns;
    if (wants_wake_locked(prefetch))
        lks_monitor_wake(prefetch->env, prefetch->monitor);
    while (status == LKS_TIMEOUT && in_time) {
        bool helped = help_locked(prefetch);

        status = try_take_locked(prefetch, out_batch, error);
        if (status == LKS_TIMEOUT && helped) {
            in_time = lks_env_now_ns(prefetch->env) < deadline_ns;
        } else if (status == LKS_TIMEOUT) {
            in_time = sleep_locked(prefetch, deadline_ns);
            status = try_take_locked(prefetch, out_batch, error);
        }
    }
    prefetch->locked.waiting_since_ns = LKS_FOREVER;
    if (prefetch->locked.polite_count > 0)
        lks_monitor_wake(prefetch->env, prefetch->monitor);

    if (status == LKS_TIMEOUT)
        report_locked(prefetch, out_report);
    count_wait_locked(prefetch, begin_ns);
    return status;
}

enum lks_status lks_prefetch_take(struct lks_prefetch *prefetch,
                                  uint64_t timeout_ms,
                                  struct lks_batch **out_batch,
                                  struct lks_wait_report *out_report,
                                  struct lks_error *error)
{
    enum lks_status status;

    enter(prefetch);
    status = try_take_locked(prefetch, out_batch, error);
    if (status == LKS_TIMEOUT)
        status = wait_and_take_locked(prefetch, timeout_ms, out_batch,
                                      out_report, error);
    if (status == LKS_OK)
        prefetch->locked.hungry_since_ns = LKS_FOREVER;
    leave(prefetch);
    return status;
}

void lks_prefetch_report(struct lks_prefetch *prefetch,
                         struct lks_counts *out_counts,
                         struct lks_sighting *out_sighting)
{
    enter(prefetch);
    *out_counts = prefetch->locked.counts;
    *out_sighting = prefetch->locked.sighting;
    leave(prefetch);
}

/* -------------------------------------------------------- the planner -- */

/* When the next look may be, if things stay as they are. */
static uint64_t poll_due_locked(const struct lks_prefetch *prefetch,
                                uint64_t looked_ns,
                                bool caught_up,
                                double jitter)
{
    uint64_t since_ns = prefetch->locked.waiting_since_ns;
    uint64_t waited_ns = 0;

    if (is_starving_locked(prefetch))
        waited_ns = looked_ns > since_ns ? looked_ns - since_ns : 0;
    else if (prefetch->locked.poll_credit <= 0 ||
             !has_room_locked(prefetch, prefetch->locked.batch_size))
        return LKS_FOREVER;

    if (!caught_up)
        return looked_ns;
    return looked_ns +
           (uint64_t)(jitter * (double)lks_poll_pause_ns(prefetch->poll_ms,
                                                         prefetch->ranks,
                                                         waited_ns));
}

bool lks_prefetch_await_poll(struct lks_prefetch *prefetch,
                             uint64_t looked_ns,
                             bool caught_up)
{
    double jitter = 0.5 + lks_env_random_unit(prefetch->env);
    bool due = false;

    enter(prefetch);
    while (!due && !lks_cancelled(prefetch->cancel)) {
        uint64_t due_ns =
            poll_due_locked(prefetch, looked_ns, caught_up, jitter);

        due = due_ns <= lks_env_now_ns(prefetch->env);
        if (!due)
            planner_wait_locked(prefetch, LKS_NEED_POLL, due_ns);
    }
    /* A debt has its bound, so that one who starved for long soon fetches
     * ahead again. */
    if (due && prefetch->locked.poll_credit > -LKS_POLL_DEBT_MAX)
        prefetch->locked.poll_credit--;
    leave(prefetch);
    return due;
}

enum lks_status lks_prefetch_admit(struct lks_prefetch *prefetch,
                                   struct lks_batch *batch,
                                   struct lks_error *error)
{
    uint64_t size = lks_batch_memory(batch);
    size_t last;

    if (size > prefetch->size_max)
        return lks_error_set(error, LKS_INVALID,
                             "step %" PRIu64 " takes %" PRIu64 " bytes, more "
                             "than prefetch_bytes, which is %" PRIu64,
                             batch->step, size, prefetch->size_max);

    enter(prefetch);
    prefetch->locked.batch_size = size;
    while (!has_room_locked(prefetch, size) && !lks_cancelled(prefetch->cancel))
        planner_wait_locked(prefetch, LKS_NEED_ROOM, LKS_FOREVER);
    if (lks_cancelled(prefetch->cancel)) {
        leave(prefetch);
        return lks_error_set(error, LKS_CANCELLED, "cancelled");
    }
    batch->locked.reserved = size;
    batch->locked.fetches_left = batch->fetch_count;
    batch->locked.error = no_error;
    prefetch->locked.reserved += size;
    last = (prefetch->locked.first + prefetch->locked.count) % LKS_WINDOW_MAX;
    prefetch->locked.batches[last] = batch;
    prefetch->locked.count++;
    leave(prefetch);
    return LKS_OK;
}

enum lks_status lks_prefetch_await_table(struct lks_prefetch *prefetch,
                                         struct lks_batch *batch,
                                         struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    enter(prefetch);
    while (!batch->locked.laid_out && !batch->locked.failed &&
           !lks_cancelled(prefetch->cancel))
        planner_wait_locked(prefetch, LKS_NEED_TABLE, LKS_FOREVER);
    if (batch->locked.failed)
        status = lks_error_set(error, batch->locked.error.status, "%s",
                               batch->locked.error.message);
    else if (!batch->locked.laid_out)
        status = lks_error_set(error, LKS_CANCELLED, "cancelled");
    leave(prefetch);
    return status;
}

/* NULL: there is none. The last word stays the last. */
static void set_trouble_locked(struct lks_prefetch *prefetch,
                               const struct lks_error *error)
{
    if (!prefetch->locked.planner_ended)
        prefetch->locked.error = error != NULL ? *error : no_error;
}

void lks_prefetch_note(struct lks_prefetch *prefetch,
                       const struct lks_follower *follower,
                       const struct lks_error *error)
{
    struct lks_sighting sighting;

    lks_follower_report(follower, &sighting);
    enter(prefetch);
    prefetch->locked.sighting = sighting;
    set_trouble_locked(prefetch, error);
    leave(prefetch);
}

void lks_prefetch_end(struct lks_prefetch *prefetch,
                      const struct lks_error *error)
{
    enter(prefetch);
    prefetch->locked.planner_ended = true;
    prefetch->locked.error = *error;
    wake_and_leave(prefetch);
}

/* ----------------------------------------------------------- its jobs -- */

void lks_prefetch_laid_out(struct lks_prefetch *prefetch,
                           struct lks_batch *batch,
                           enum lks_status status,
                           const struct lks_error *error)
{
    enter(prefetch);
    prefetch->locked.counts.get_count++;
    set_trouble_locked(prefetch, status == LKS_UNAVAILABLE ? error : NULL);
    if (status == LKS_OK) {
        batch->locked.laid_out = true;
        prefetch->locked.counts.fetched_size += batch->source.entry.footer_size;
    } else if (status != LKS_UNAVAILABLE) {
        batch->locked.failed = true;
        batch->locked.error = *error;
    }
    wake_and_leave(prefetch);
}

void lks_prefetch_fetched(struct lks_prefetch *prefetch,
                          struct lks_fetch *fetch,
                          const struct lks_fetch_cost *cost,
                          enum lks_status status,
                          const struct lks_error *error)
{
    struct lks_counts *counts = &prefetch->locked.counts;
    struct lks_batch *batch = fetch->batch;

    enter(prefetch);
    counts->get_count += cost->get_count;
    counts->fetched_size += cost->fetched_size;
    counts->needed_size += cost->needed_size;
    prefetch->locked.fetch_ns = cost->duration_ns;
    if (status == LKS_OK) {
        assert(batch->locked.reserved >= cost->returned_size);
        batch->locked.fetches_left--;
        batch->locked.payload_size += cost->payload_size;
        batch->locked.reserved -= cost->returned_size;
        prefetch->locked.reserved -= cost->returned_size;
        batch->locked.ready_size += fetch->size;
        prefetch->locked.ready_size += fetch->size;
        if (!batch->locked.failed)
            batch->locked.error = no_error;
    } else if (!batch->locked.failed) {
        batch->locked.failed = status != LKS_UNAVAILABLE;
        batch->locked.error = *error;
    }
    /* Most batches come while nobody waits for just that one. */
    if (is_called_locked(prefetch) ||
        (cost->returned_size > 0 && wants_wake_locked(prefetch)))
        lks_monitor_wake(prefetch->env, prefetch->monitor);
    leave(prefetch);
}

/*
 * With that much ready a caller that waits is short of a processor, and so is
 * who fetches its batch, and who fetches on takes it away from them: what that
 * one makes is out of the caches when its turn comes. But a store can be slow
 * with one request, so it pauses only.
 */
void lks_prefetch_let_caller_come(struct lks_prefetch *prefetch)
{
    uint64_t deadline_ns = lks_env_now_ns(prefetch->env) + LKS_POLITE_NS;
    bool in_time = true;

    enter(prefetch);
    prefetch->locked.polite_count++;
    while (has_much_locked(prefetch) &&
           prefetch->locked.waiting_since_ns != LKS_FOREVER &&
           !lks_cancelled(prefetch->cancel) && in_time)
        in_time =
            lks_monitor_wait(prefetch->env, prefetch->monitor, deadline_ns);
    prefetch->locked.polite_count--;
    leave(prefetch);
}
