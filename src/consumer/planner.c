/*
 * The planner's thread and its jobs. It goes step by step: see it, look up its
 * entry, know its ranges, reserve its memory, fetch. When the ranges stand in
 * the TGBs' footers, those of several steps are read at the same time.
 *
 * A store that fails for now is tried again for as long as the consumer lives;
 * it is the caller's wait that ends (starve_timeout_ms).
 */
#include "consumer/planner.h"

#include <assert.h>
#include <inttypes.h>

#include "base/trace.h"

#define RETRY_MIN_MS 50u
#define RETRY_DOUBLINGS_MAX 6u /* 3.2 s */

/* Full jitter, so that ranks which failed together do not return together. */
static void pause_retry(const struct lks_planner *planner, uint32_t *tries)
{
    const struct lks_env *env = planner->stream->env;
    uint64_t pause_ns = (RETRY_MIN_MS * LKS_NS_PER_MS) << *tries;

    pause_ns = (uint64_t)((double)pause_ns * lks_env_random_unit(env));
    if (*tries < RETRY_DOUBLINGS_MAX)
        (*tries)++;
    lks_env_sleep_unless(env, pause_ns, planner->cancel);
}

/* --------------------------------------------------------------- jobs -- */

/* LKS_UNAVAILABLE: to be tried again. After all else the batch may be gone. */
static enum lks_status fetch_once(struct lks_fetch *fetch)
{
    struct lks_planner *planner = fetch->batch->planner;
    const struct lks_env *env = planner->stream->env;
    uint64_t begin_ns = lks_env_now_ns(env);
    struct lks_fetch_cost cost = {0};
    struct lks_error error;
    enum lks_status status;

    status = lks_fetch_read(fetch, planner->cancel, &cost, &error);
    cost.duration_ns = lks_env_now_ns(env) - begin_ns;
    lks_prefetch_fetched(planner->prefetch, fetch, &cost, status, &error);
    return status;
}

static void fetch_run(struct lks_job *job)
{
    struct lks_fetch *fetch = LKS_JOB_OWNER(job, struct lks_fetch, job);
    struct lks_planner *planner = fetch->batch->planner;
    uint32_t tries = 0;

    while (fetch_once(fetch) == LKS_UNAVAILABLE &&
           !lks_cancelled(planner->cancel))
        pause_retry(planner, &tries);
    lks_prefetch_let_caller_come(planner->prefetch);
}

bool lks_planner_help(void *arg)
{
    struct lks_planner *planner = arg;
    struct lks_job *job = lks_pool_take(planner->pool);

    if (job == NULL)
        return false;
    if (fetch_once(LKS_JOB_OWNER(job, struct lks_fetch, job)) !=
        LKS_UNAVAILABLE)
        return true;
    /* The pool's threads have the time to try until it works. */
    lks_pool_submit(planner->pool, job);
    return false;
}

static void table_run(struct lks_job *job)
{
    struct lks_batch *batch = LKS_JOB_OWNER(job, struct lks_batch, table_job);
    struct lks_planner *planner = batch->planner;
    struct lks_error error;
    enum lks_status status;
    uint32_t tries = 0;

    for (;;) {
        status = lks_batch_read_table(batch, planner->cancel, &error);
        lks_prefetch_laid_out(planner->prefetch, batch, status, &error);
        if (status != LKS_UNAVAILABLE || lks_cancelled(planner->cancel))
            return;
        pause_retry(planner, &tries);
    }
}

/* -------------------------------------------------------------- steps -- */

static struct lks_batch *ahead_at(const struct lks_planner *planner, size_t i)
{
    return planner->ahead[(planner->ahead_first + i) % LKS_AHEAD_MAX];
}

static struct lks_batch *ahead_pop(struct lks_planner *planner)
{
    struct lks_batch *batch = ahead_at(planner, 0);

    assert(planner->ahead_count > 0);

    planner->ahead_first = (planner->ahead_first + 1) % LKS_AHEAD_MAX;
    planner->ahead_count--;
    return batch;
}

static void ahead_push(struct lks_planner *planner, struct lks_batch *batch)
{
    size_t last = planner->ahead_first + planner->ahead_count;

    assert(planner->ahead_count < LKS_AHEAD_MAX);

    planner->ahead[last % LKS_AHEAD_MAX] = batch;
    planner->ahead_count++;
}

/* Waits until the next step can be seen. */
static enum lks_status await_step(struct lks_planner *planner,
                                  struct lks_error *error)
{
    struct lks_follower *follower = planner->follower;
    enum lks_status status;
    uint32_t tries = 0;

    for (;;) {
        status = lks_follower_find(follower, planner->step,
                                   planner->share.group, error);
        if (status != LKS_TIMEOUT)
            return status;
        if (!lks_prefetch_await_poll(planner->prefetch, follower->looked_ns,
                                     follower->caught_up))
            return lks_error_set(error, LKS_CANCELLED, "cancelled");

        status = lks_follower_probe(follower, error);
        if (status != LKS_OK && status != LKS_UNAVAILABLE)
            return status;
        lks_prefetch_note(planner->prefetch, follower,
                          status == LKS_OK ? NULL : error);
        if (status == LKS_OK)
            tries = 0;
        else
            pause_retry(planner, &tries);
    }
}

static enum lks_status look_up(struct lks_planner *planner,
                               uint64_t step,
                               struct lks_source *source,
                               struct lks_error *error)
{
    struct lks_follower *follower = planner->follower;
    struct lks_entry entry;
    enum lks_status status;
    uint32_t tries = 0;

    for (;;) {
        status = lks_lookup_entry(&follower->lookup, &follower->log, step,
                                  &entry, error);
        lks_prefetch_note(planner->prefetch, follower,
                          status == LKS_UNAVAILABLE ? error : NULL);
        if (status == LKS_OK)
            lks_source_set(source, &entry);
        /* With steps at hand this one can wait for another time. */
        if (status != LKS_UNAVAILABLE || planner->ahead_count > 0 ||
            lks_cancelled(planner->cancel))
            return status;
        pause_retry(planner, &tries);
    }
}

/* Tables do not queue behind slices: then these would wait for them in turn,
 * and each step would take the time of two requests. */
static enum lks_status submit_table(struct lks_planner *planner,
                                    struct lks_batch *batch,
                                    struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    if (planner->table_pool == NULL)
        status =
            lks_pool_new(planner->stream->env, "lks-table",
                         planner->fetch_count, &planner->table_pool, error);
    if (status != LKS_OK)
        return status;
    batch->table_job.run = table_run;
    lks_pool_submit(planner->table_pool, &batch->table_job);
    return LKS_OK;
}

/* Makes a batch of the next step, which can be seen. */
static enum lks_status plan_step(struct lks_planner *planner,
                                 struct lks_error *error)
{
    const struct lks_share *share = &planner->share;
    struct lks_batch *batch = NULL;
    const struct lks_table *table;
    enum lks_status status;

    status = lks_batch_new(planner->stream, planner->shelf, share,
                           planner->step, &batch, error);
    if (status != LKS_OK)
        return status;
    batch->planner = planner;
    status = look_up(planner, batch->step, &batch->first, error);
    if (status != LKS_OK)
        goto done;
    lks_source_set(&batch->source, &batch->first.entry);
    if (share->place > 0)
        status =
            look_up(planner, batch->step + share->place, &batch->source, error);
    if (status != LKS_OK)
        goto done;

    table = &batch->source.entry.table;
    if (table->kind == LKS_TABLE_FOOTER) {
        status = submit_table(planner, batch, error);
    } else {
        status = lks_batch_lay_out(batch, table, error);
        batch->locked.laid_out = true; /* Nobody else knows it yet. */
    }
    if (status != LKS_OK)
        goto done;
    planner->step += share->group;
    ahead_push(planner, batch);

done:
    if (status != LKS_OK)
        lks_batch_free(batch);
    return status;
}

/*
 * Plans one step, or as many as are worth to have their tables read at the same
 * time. An error is returned once there is nothing left before it.
 */
static enum lks_status plan_ahead(struct lks_planner *planner,
                                  struct lks_error *error)
{
    size_t count_max = 2 * (size_t)planner->fetch_count;
    enum lks_status status = LKS_OK;

    if (planner->ahead_count == 0) {
        status = await_step(planner, error);
        if (status == LKS_OK)
            status = plan_step(planner, error);
        if (status != LKS_OK)
            return status;
    }
    while (status == LKS_OK && planner->ahead_count < count_max) {
        struct lks_batch *last = ahead_at(planner, planner->ahead_count - 1);

        if (last->source.entry.table.kind != LKS_TABLE_FOOTER)
            break;
        status = lks_follower_find(planner->follower, planner->step,
                                   planner->share.group, NULL);
        if (status == LKS_OK)
            status = plan_step(planner, NULL);
    }
    return LKS_OK;
}

/* Moves the first planned batch into the window, and has it fetched. */
static enum lks_status begin_batch(struct lks_planner *planner,
                                   struct lks_error *error)
{
    struct lks_batch *batch = ahead_at(planner, 0);
    size_t fetch_count = batch->fetch_count;
    struct lks_fetch *fetches = batch->fetches;
    enum lks_status status;

    status = lks_prefetch_await_table(planner->prefetch, batch, error);
    if (status != LKS_OK)
        return status;
    for (size_t i = 0; i < fetch_count; i++)
        fetches[i].job.run = fetch_run;
    status = lks_prefetch_admit(planner->prefetch, batch, error);
    if (status != LKS_OK)
        return status;
    ahead_pop(planner);
    LKS_TRACE(LKS_AREA_CONSUMER, "step %" PRIu64 ": %zu reads", batch->step,
              fetch_count);
    /* The last one that is submitted may finish the batch, and the caller may
     * release it, before the call returns. */
    for (size_t i = 0; i < fetch_count; i++)
        lks_pool_submit(planner->pool, &fetches[i].job);
    return LKS_OK;
}

static void planner_run(void *arg)
{
    struct lks_planner *planner = arg;
    struct lks_error error;
    enum lks_status status = LKS_OK;

    while (status == LKS_OK) {
        status = plan_ahead(planner, &error);
        if (status == LKS_OK)
            status = begin_batch(planner, &error);
    }
    lks_prefetch_end(planner->prefetch, &error);
}

enum lks_status lks_planner_start(struct lks_planner *planner,
                                  uint64_t step,
                                  struct lks_error *error)
{
    const struct lks_env *env = planner->stream->env;
    uint32_t thread_count = planner->fetch_count;
    enum lks_status status;

    assert(planner->pool == NULL);
    assert(planner->ahead_count == 0);

    planner->step = step;
    if (planner->prefetch->help != NULL)
        thread_count--; /* The caller is one of those who fetch. */
    status =
        lks_pool_new(env, "lks-fetch", thread_count, &planner->pool, error);
    if (status != LKS_OK)
        return status;
    status = lks_thread_start(env, "lks-plan", planner_run, planner,
                              &planner->thread, error);
    if (status != LKS_OK) {
        lks_pool_free(planner->pool);
        planner->pool = NULL;
    }
    return status;
}

void lks_planner_stop(struct lks_planner *planner)
{
    if (planner->pool == NULL)
        return;
    assert(lks_cancelled(planner->cancel));

    /* The thread first: it submits to the pool. */
    lks_thread_join(planner->stream->env, planner->thread);
    lks_pool_free(planner->table_pool);
    lks_pool_free(planner->pool);
    planner->thread = NULL;
    planner->table_pool = NULL;
    planner->pool = NULL;
    while (planner->ahead_count > 0)
        lks_batch_free(ahead_pop(planner));
}
