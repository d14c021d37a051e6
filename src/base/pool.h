/*
 * A fixed number of threads that run jobs, first come first served.
 *
 * Store calls block, so this is where all parallelism comes from. A job is a
 * member of the caller's own struct; handing it in allocates nothing.
 */
#ifndef LKS_BASE_POOL_H
#define LKS_BASE_POOL_H

#include "base/env.h"

struct lks_pool;
struct lks_job;

typedef void lks_job_fn(struct lks_job *job);

struct lks_job {
    lks_job_fn *run;
    struct lks_job *next; /* the pool's, while the job waits */
};

enum lks_status lks_pool_new(const struct lks_env *env,
                             const char *name,
                             uint32_t thread_count,
                             struct lks_pool **out_pool,
                             struct lks_error *error);

/* Waits for the jobs that run. Those that have not begun are dropped: they are
 * still their owner's. */
void lks_pool_free(struct lks_pool *pool);

void lks_pool_submit(struct lks_pool *pool, struct lks_job *job);

/* The job that would be the next to begin, for the caller to do; or NULL. */
struct lks_job *lks_pool_take(struct lks_pool *pool);

/* The struct that holds this job as its member `member`. */
#define LKS_JOB_OWNER(job, type, member)                                       \
    ((type *)((char *)(job)-offsetof(type, member)))

#endif
