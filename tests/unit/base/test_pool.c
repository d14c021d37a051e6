/* The pool of threads: jobs run once, in order, or are their owner's again. */
#include "base/pool.h"
#include "support/check.h"
#include "support/torture.h"

/* The real world, which counts wakes and can refuse to start a thread. */
struct world {
    struct lks_env env;
    struct lks_env_ops ops;
    atomic_int wake_count;
    int starts_left;
};

static void count_wake(const struct lks_env *env, struct lks_monitor *monitor)
{
    struct world *world = (struct world *)env;

    lks_env_real()->ops->monitor_wake(env, monitor);
    atomic_fetch_add(&world->wake_count, 1);
}

static enum lks_status start_while_allowed(const struct lks_env *env,
                                           const char *name,
                                           lks_thread_fn *run,
                                           void *arg,
                                           struct lks_thread **out_thread,
                                           struct lks_error *error)
{
    struct world *world = (struct world *)env;

    if (world->starts_left-- == 0)
        return lks_error_set(error, LKS_NO_MEMORY, "no thread %s", name);
    return lks_env_real()->ops->thread_start(env, name, run, arg, out_thread,
                                             error);
}

static void world_init(struct world *world, int starts_left)
{
    world->ops = *lks_env_real()->ops;
    world->ops.monitor_wake = count_wake;
    world->ops.thread_start = start_while_allowed;
    world->env.ops = &world->ops;
    atomic_init(&world->wake_count, 0);
    world->starts_left = starts_left;
}

#define JOB_COUNT 1000

struct counted {
    struct lks_job job;
    int runs;
};

/* What the jobs of a test share. */
struct board {
    const struct lks_env *env;
    struct lks_monitor *monitor;
    int done_count; /* under the monitor, as all below */
    int order[JOB_COUNT];
};

struct posted {
    struct counted counted;
    struct board *board;
    int number;
};

static void post(struct lks_job *job)
{
    struct counted *counted = LKS_JOB_OWNER(job, struct counted, job);
    struct posted *posted = LKS_JOB_OWNER(counted, struct posted, counted);
    struct board *board = posted->board;

    lks_monitor_enter(board->env, board->monitor);
    counted->runs++;
    board->order[board->done_count++] = posted->number;
    lks_monitor_wake(board->env, board->monitor);
    lks_monitor_leave(board->env, board->monitor);
}

static void board_wait(struct board *board, int done_count)
{
    lks_monitor_enter(board->env, board->monitor);
    while (board->done_count < done_count)
        lks_monitor_wait(board->env, board->monitor, LKS_FOREVER);
    lks_monitor_leave(board->env, board->monitor);
}

/* Runs JOB_COUNT jobs on so many threads and leaves who came when. */
static void run_jobs(uint32_t thread_count, struct board *board)
{
    static struct posted posted[JOB_COUNT];
    const struct lks_env *env = lks_env_real();
    struct lks_pool *pool;
    struct lks_error error;

    memset(board, 0, sizeof(*board));
    board->env = env;
    assert_status(LKS_OK, lks_monitor_new(env, &board->monitor, &error));
    assert_status(LKS_OK,
                  lks_pool_new(env, "jobs", thread_count, &pool, &error));
    for (int i = 0; i < JOB_COUNT; i++) {
        posted[i] = (struct posted){{{post, NULL}, 0}, board, i};
        lks_pool_submit(pool, &posted[i].counted.job);
    }
    board_wait(board, JOB_COUNT);
    lks_pool_free(pool);
    for (int i = 0; i < JOB_COUNT; i++)
        assert_int_equal(posted[i].counted.runs, 1);
    assert_int_equal(board->done_count, JOB_COUNT);
    lks_monitor_free(env, board->monitor);
}

static void each_job_runs_once_on_many_threads(void **state)
{
    struct board board;

    (void)state;
    run_jobs(8, &board);
}

static void one_thread_runs_jobs_in_the_order_they_came(void **state)
{
    struct board board;

    (void)state;
    run_jobs(1, &board);
    for (int i = 0; i < JOB_COUNT; i++)
        assert_int_equal(board.order[i], i);
}

/* A job that is done only when others have begun. */
struct meeting {
    struct lks_job job;
    struct board *board;
    int expected;
};

static void meet(struct lks_job *job)
{
    struct meeting *meeting = LKS_JOB_OWNER(job, struct meeting, job);
    struct board *board = meeting->board;

    lks_monitor_enter(board->env, board->monitor);
    board->done_count++;
    lks_monitor_wake(board->env, board->monitor);
    while (board->done_count < meeting->expected)
        lks_monitor_wait(board->env, board->monitor, LKS_FOREVER);
    lks_monitor_leave(board->env, board->monitor);
}

static void as_many_jobs_run_at_once_as_there_are_threads(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct board board = {.env = env};
    struct meeting meetings[5];
    struct lks_pool *pool;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &board.monitor, &error));
    assert_status(LKS_OK, lks_pool_new(env, "meet", 5, &pool, &error));
    for (int i = 0; i < 5; i++) {
        meetings[i] = (struct meeting){{meet, NULL}, &board, 5};
        lks_pool_submit(pool, &meetings[i].job);
    }
    board_wait(&board, 5);
    lks_pool_free(pool);
    lks_monitor_free(env, board.monitor);
}

struct slow {
    struct lks_job job;
    struct world *world;
    atomic_bool begun;
    atomic_bool others_wait;
    bool done;
};

/* Goes on until lks_pool_free() has asked the threads to stop. */
static void run_until_the_pool_stops(struct lks_job *job)
{
    struct slow *slow = LKS_JOB_OWNER(job, struct slow, job);

    atomic_store(&slow->begun, true);
    while (!atomic_load(&slow->others_wait) ||
           atomic_load(&slow->world->wake_count) == 0)
        lks_env_sleep_ns(&slow->world->env, LKS_NS_PER_MS);
    slow->done = true;
}

static void count_run(struct lks_job *job)
{
    LKS_JOB_OWNER(job, struct counted, job)->runs++;
}

/* Its only thread runs `slow`, and nobody has been called since. */
static struct lks_pool *busy_pool(struct world *world, struct slow *slow)
{
    struct lks_pool *pool;
    struct lks_error error;

    *slow =
        (struct slow){.job = {run_until_the_pool_stops, NULL}, .world = world};
    world_init(world, 1);
    assert_status(LKS_OK, lks_pool_new(&world->env, "slow", 1, &pool, &error));
    lks_pool_submit(pool, &slow->job);
    while (!atomic_load(&slow->begun))
        lks_env_sleep_ns(&world->env, LKS_NS_PER_MS);
    atomic_store(&world->wake_count, 0);
    return pool;
}

static void freeing_waits_for_the_running_and_drops_the_rest(void **state)
{
    struct counted dropped[2] = {{{count_run, NULL}, 0},
                                 {{count_run, NULL}, 0}};
    struct world world;
    struct slow slow;
    struct lks_pool *pool;

    (void)state;
    pool = busy_pool(&world, &slow);
    lks_pool_submit(pool, &dropped[0].job);
    lks_pool_submit(pool, &dropped[1].job);
    /* Nobody was there to be called. */
    assert_int_equal(atomic_load(&world.wake_count), 0);
    atomic_store(&slow.others_wait, true);
    lks_pool_free(pool);
    assert_true(slow.done);
    assert_int_equal(dropped[0].runs, 0);
    assert_int_equal(dropped[1].runs, 0);
}

static void who_takes_a_job_does_it_instead_of_the_pool(void **state)
{
    struct counted waiting[2] = {{{count_run, NULL}, 0},
                                 {{count_run, NULL}, 0}};
    struct world world;
    struct slow slow;
    struct lks_pool *pool;

    (void)state;
    pool = busy_pool(&world, &slow);
    assert_null(lks_pool_take(pool));
    lks_pool_submit(pool, &waiting[0].job);
    lks_pool_submit(pool, &waiting[1].job);
    assert_ptr_equal(lks_pool_take(pool), &waiting[0].job);
    assert_ptr_equal(lks_pool_take(pool), &waiting[1].job);
    assert_null(lks_pool_take(pool));
    /* It is as if it had never been there. */
    lks_pool_submit(pool, &waiting[0].job);
    assert_ptr_equal(lks_pool_take(pool), &waiting[0].job);
    atomic_store(&slow.others_wait, true);
    lks_pool_free(pool);
    assert_int_equal(waiting[0].runs + waiting[1].runs, 0);
}

static void a_dropped_job_can_be_submitted_elsewhere(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct board board = {.env = env};
    struct posted posted = {{{post, NULL}, 0}, &board, 0};
    struct lks_pool *pool;
    struct lks_error error;
    int done_count;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &board.monitor, &error));
    assert_status(LKS_OK, lks_pool_new(env, "first", 1, &pool, &error));
    lks_pool_submit(pool, &posted.counted.job);
    lks_pool_free(pool);
    done_count = board.done_count; /* 0 or 1: it may have begun */

    assert_status(LKS_OK, lks_pool_new(env, "second", 1, &pool, &error));
    lks_pool_submit(pool, &posted.counted.job);
    board_wait(&board, done_count + 1);
    lks_pool_free(pool);
    assert_int_equal(posted.counted.runs, done_count + 1);
    lks_monitor_free(env, board.monitor);
}

struct chained {
    struct lks_job job;
    struct lks_pool *pool;
    struct board *board;
};

static void submit_again(struct lks_job *job)
{
    struct chained *chained = LKS_JOB_OWNER(job, struct chained, job);
    struct board *board = chained->board;
    bool again;

    lks_monitor_enter(board->env, board->monitor);
    again = ++board->done_count < 100;
    lks_monitor_wake(board->env, board->monitor);
    lks_monitor_leave(board->env, board->monitor);
    if (again)
        lks_pool_submit(chained->pool, job);
}

static void a_job_may_submit_itself_again(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct board board = {.env = env};
    struct chained chained = {{submit_again, NULL}, NULL, &board};
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &board.monitor, &error));
    assert_status(LKS_OK, lks_pool_new(env, "chain", 3, &chained.pool, &error));
    lks_pool_submit(chained.pool, &chained.job);
    board_wait(&board, 100);
    lks_pool_free(chained.pool);
    assert_int_equal(board.done_count, 100);
    lks_monitor_free(env, board.monitor);
}

static void free_job(struct lks_job *job)
{
    lks_free(job);
}

static void a_job_may_free_itself(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct board board = {.env = env};
    struct posted last = {{{post, NULL}, 0}, &board, 0};
    int64_t before = lks_alloc_live();
    struct lks_pool *pool;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &board.monitor, &error));
    assert_status(LKS_OK, lks_pool_new(env, "free", 1, &pool, &error));
    for (int i = 0; i < 10; i++) {
        struct lks_job *job = lks_alloc_zero(1, sizeof(*job));

        job->run = free_job;
        lks_pool_submit(pool, job);
    }
    lks_pool_submit(pool, &last.counted.job);
    board_wait(&board, 1);
    lks_pool_free(pool);
    lks_monitor_free(env, board.monitor);
    assert_int_equal(lks_alloc_live(), before);
}

static void a_pool_that_lacks_a_thread_is_no_pool(void **state)
{
    int64_t before = lks_alloc_live();
    struct lks_pool *pool = NULL;
    struct lks_error error;
    struct world world;

    (void)state;
    for (int starts = 0; starts < 4; starts++) {
        world_init(&world, starts);
        assert_status(LKS_NO_MEMORY,
                      lks_pool_new(&world.env, "w", 4, &pool, &error));
        assert_message_has("no thread w-");
        assert_null(pool);
        assert_int_equal(lks_alloc_live(), before);
    }
    lks_pool_free(NULL);
}

static enum lks_status make_pool(void *arg)
{
    struct lks_pool *pool;
    enum lks_status status =
        lks_pool_new(lks_env_real(), "torture", 3, &pool, NULL);

    (void)arg;
    if (status == LKS_OK)
        lks_pool_free(pool);
    return status;
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    torture(make_pool, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_runs_once_on_many_threads),
        cmocka_unit_test(one_thread_runs_jobs_in_the_order_they_came),
        cmocka_unit_test(as_many_jobs_run_at_once_as_there_are_threads),
        cmocka_unit_test(freeing_waits_for_the_running_and_drops_the_rest),
        cmocka_unit_test(who_takes_a_job_does_it_instead_of_the_pool),
        cmocka_unit_test(a_dropped_job_can_be_submitted_elsewhere),
        cmocka_unit_test(a_job_may_submit_itself_again),
        cmocka_unit_test(a_job_may_free_itself),
        cmocka_unit_test(a_pool_that_lacks_a_thread_is_no_pool),
        cmocka_unit_test(it_survives_any_allocation_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
