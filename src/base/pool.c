/*
 * The pool: a list of jobs under one monitor, and threads that take from it.
 * It uses the environment only, so that it runs in a simulator too.
 */
#include "base/pool.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"

#define THREAD_NAME_SIZE 32u

struct lks_pool {
    const struct lks_env *env;
    struct lks_monitor *monitor;
    struct lks_thread **threads;
    uint32_t thread_count; /* that were started */

    struct {
        struct lks_job *first;
        struct lks_job *last;
        uint32_t idle_count; /* threads that wait for a job */
        bool stopping;
    } locked; /* by monitor */
};

/* NULL if there is none. */
static struct lks_job *pop_locked(struct lks_pool *pool)
{
    struct lks_job *job = pool->locked.first;

    if (job == NULL)
        return NULL;
    pool->locked.first = job->next;
    if (pool->locked.first == NULL)
        pool->locked.last = NULL;
    job->next = NULL;
    return job;
}

/* Waits for a job and takes it; NULL when the pool stops. */
static struct lks_job *await_locked(struct lks_pool *pool)
{
    pool->locked.idle_count++;
    while (pool->locked.first == NULL && !pool->locked.stopping)
        lks_monitor_wait(pool->env, pool->monitor, LKS_FOREVER);
    pool->locked.idle_count--;
    return pool->locked.stopping ? NULL : pop_locked(pool);
}

static void worker_run(void *arg)
{
    struct lks_pool *pool = arg;
    struct lks_job *job;

    lks_monitor_enter(pool->env, pool->monitor);
    while ((job = await_locked(pool)) != NULL) {
        lks_monitor_leave(pool->env, pool->monitor);
        job->run(job); /* It may free the job. */
        lks_monitor_enter(pool->env, pool->monitor);
    }
    lks_monitor_leave(pool->env, pool->monitor);
}

enum lks_status lks_pool_new(const struct lks_env *env,
                             const char *name,
                             uint32_t thread_count,
                             struct lks_pool **out_pool,
                             struct lks_error *error)
{
    struct lks_pool *pool = lks_alloc_zero(1, sizeof(*pool));
    enum lks_status status;

    assert(thread_count > 0);

    if (pool == NULL)
        return lks_error_no_memory(error);
    pool->env = env;
    status = lks_monitor_new(env, &pool->monitor, error);
    if (status != LKS_OK)
        goto done;
    pool->threads = lks_alloc_zero(thread_count, sizeof(*pool->threads));
    if (pool->threads == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    while (pool->thread_count < thread_count) {
        char thread_name[THREAD_NAME_SIZE];

        snprintf(thread_name, sizeof(thread_name), "%s-%" PRIu32, name,
                 pool->thread_count);
        status = lks_thread_start(env, thread_name, worker_run, pool,
                                  &pool->threads[pool->thread_count], error);
        if (status != LKS_OK)
            goto done;
        pool->thread_count++;
    }
    *out_pool = pool;

done:
    if (status != LKS_OK)
        lks_pool_free(pool);
    return status;
}

void lks_pool_free(struct lks_pool *pool)
{
    if (pool == NULL)
        return;
    if (pool->thread_count > 0) {
        lks_monitor_enter(pool->env, pool->monitor);
        pool->locked.stopping = true;
        lks_monitor_wake(pool->env, pool->monitor);
        lks_monitor_leave(pool->env, pool->monitor);
    }
    for (uint32_t i = 0; i < pool->thread_count; i++)
        lks_thread_join(pool->env, pool->threads[i]);
    lks_monitor_free(pool->env, pool->monitor);
    lks_free(pool->threads);
    lks_free(pool);
}

void lks_pool_submit(struct lks_pool *pool, struct lks_job *job)
{
    assert(job->run != NULL);

    lks_monitor_enter(pool->env, pool->monitor);
    job->next = NULL;
    if (pool->locked.last != NULL)
        pool->locked.last->next = job;
    else
        pool->locked.first = job;
    pool->locked.last = job;
    /* Who is busy finds it without being called. */
    if (pool->locked.idle_count > 0)
        lks_monitor_wake(pool->env, pool->monitor);
    lks_monitor_leave(pool->env, pool->monitor);
}

struct lks_job *lks_pool_take(struct lks_pool *pool)
{
    struct lks_job *job;

    lks_monitor_enter(pool->env, pool->monitor);
    job = pop_locked(pool);
    lks_monitor_leave(pool->env, pool->monitor);
    return job;
}
