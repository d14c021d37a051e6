/*
 * A process's environment: the operations of base/env.h in virtual time.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_inside.h"

struct lks_thread {
    struct sim_fiber *fiber;
};

struct lks_monitor {
    struct sim_fiber *owner;
    struct sim_line entering;
    struct sim_line waiting;
};

/* One monitor entry in this many passes the baton. */
#define ENTER_SEAMS 4u

static struct sim_process *process_of(const struct lks_env *env)
{
    union {
        const struct lks_env *env;
        struct sim_process *process;
    } both = {.env = env};

    return both.process;
}

static uint64_t env_now_ns(const struct lks_env *env)
{
    const struct sim_process *process = process_of(env);

    return process->clock_base_ns + process->world->now_ns -
           process->stood_still_ns;
}

/* From the process's clock to the world's. */
static uint64_t world_time(const struct sim_process *process, uint64_t time_ns)
{
    if (time_ns == LKS_FOREVER)
        return LKS_FOREVER;
    if (time_ns < process->clock_base_ns)
        return 0;
    return time_ns - process->clock_base_ns + process->stood_still_ns;
}

static int64_t env_wall_ms(const struct lks_env *env)
{
    const struct sim_process *process = process_of(env);

    return SIM_EPOCH_MS + process->wall_skew_ms +
           (int64_t)(process->world->now_ns / LKS_NS_PER_MS);
}

static void env_sleep_ns(const struct lks_env *env, uint64_t duration_ns)
{
    struct sim_process *process = process_of(env);
    struct sim_world *world = process->world;

    sim_fiber_block(world, "sleep", world->now_ns + duration_ns, true);
}

static void env_random(const struct lks_env *env, void *data, size_t size)
{
    struct sim_process *process = process_of(env);
    uint8_t *bytes = data;

    while (size > 0) {
        uint64_t value = sim_random_next(&process->random);
        size_t part = size < sizeof(value) ? size : sizeof(value);

        memcpy(bytes, &value, part);
        bytes += part;
        size -= part;
    }
}

static enum lks_status env_thread_start(const struct lks_env *env,
                                        const char *name,
                                        lks_thread_fn *run,
                                        void *arg,
                                        struct lks_thread **out_thread,
                                        struct lks_error *error)
{
    struct lks_thread *thread = calloc(1, sizeof(*thread));

    if (thread == NULL)
        return lks_error_no_memory(error);
    thread->fiber = sim_fiber_start(process_of(env), name, run, arg);
    *out_thread = thread;
    return LKS_OK;
}

static void env_thread_join(const struct lks_env *env,
                            struct lks_thread *thread)
{
    (void)env;
    sim_fiber_join(thread->fiber);
    free(thread);
}

static enum lks_status env_monitor_new(const struct lks_env *env,
                                       struct lks_monitor **out_monitor,
                                       struct lks_error *error)
{
    struct lks_monitor *monitor = calloc(1, sizeof(*monitor));

    (void)env;
    if (monitor == NULL)
        return lks_error_no_memory(error);
    *out_monitor = monitor;
    return LKS_OK;
}

static void env_monitor_free(const struct lks_env *env,
                             struct lks_monitor *monitor)
{
    (void)env;
    assert(monitor->owner == NULL);
    assert(monitor->waiting.first == NULL);
    free(monitor);
}

static void enter(struct sim_world *world, struct lks_monitor *monitor)
{
    while (monitor->owner != NULL)
        sim_line_wait(world, &monitor->entering, "monitor enter", LKS_FOREVER);
    monitor->owner = world->current;
}

static void leave(struct sim_world *world, struct lks_monitor *monitor)
{
    assert(monitor->owner == world->current);

    monitor->owner = NULL;
    sim_line_wake(&monitor->entering);
}

static void env_monitor_enter(const struct lks_env *env,
                              struct lks_monitor *monitor)
{
    struct sim_process *process = process_of(env);
    struct sim_world *world = process->world;

    if (sim_random_below(&world->random, ENTER_SEAMS) == 0)
        sim_fiber_yield(world);
    enter(world, monitor);
}

static void env_monitor_leave(const struct lks_env *env,
                              struct lks_monitor *monitor)
{
    leave(process_of(env)->world, monitor);
}

static bool env_monitor_wait(const struct lks_env *env,
                             struct lks_monitor *monitor,
                             uint64_t deadline_ns)
{
    struct sim_process *process = process_of(env);
    struct sim_world *world = process->world;
    bool woken;

    leave(world, monitor);
    woken = sim_line_wait(world, &monitor->waiting, "monitor wait",
                          world_time(process, deadline_ns));
    enter(world, monitor);
    return woken;
}

static void env_monitor_wake(const struct lks_env *env,
                             struct lks_monitor *monitor)
{
    (void)env;
    sim_line_wake(&monitor->waiting);
}

static int64_t env_pid(const struct lks_env *env)
{
    return process_of(env)->pid;
}

static void env_host(const struct lks_env *env, char host[LKS_HOST_SIZE])
{
    snprintf(host, LKS_HOST_SIZE, "host-of-%s", process_of(env)->name);
}

static uint32_t env_processors(const struct lks_env *env)
{
    (void)env;
    return 8;
}

static uint32_t env_this_processor(const struct lks_env *env)
{
    (void)env;
    return 0;
}

const struct lks_env_ops sim_env_ops = {
    .now_ns = env_now_ns,
    .wall_ms = env_wall_ms,
    .sleep_ns = env_sleep_ns,
    .random = env_random,
    .thread_start = env_thread_start,
    .thread_join = env_thread_join,
    .monitor_new = env_monitor_new,
    .monitor_free = env_monitor_free,
    .monitor_enter = env_monitor_enter,
    .monitor_leave = env_monitor_leave,
    .monitor_wait = env_monitor_wait,
    .monitor_wake = env_monitor_wake,
    .pid = env_pid,
    .host = env_host,
    .processors = env_processors,
    .this_processor = env_this_processor,
};
