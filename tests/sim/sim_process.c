/*
 * Processes: what fibers share, and what befalls them together. A process can
 * be stopped for minutes, suspended with its clock, or killed.
 */
#include "sim/sim_world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_inside.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))

struct sim_process *sim_process_start(struct sim_world *world,
                                      const char *name,
                                      lks_thread_fn *main,
                                      void *arg,
                                      sim_end_fn *end,
                                      void *end_arg)
{
    struct sim_process *process = calloc(1, sizeof(*process));

    if (process == NULL)
        abort();
    process->env.ops = &sim_env_ops;
    process->world = world;
    snprintf(process->name, sizeof(process->name), "%s", name);
    process->pid = world->next_pid++;
    process->random = sim_random_from(sim_random_next(&world->random));
    process->wall_skew_ms =
        (int64_t)sim_random_below(&process->random, 2 * DAY_MS) - DAY_MS;
    process->clock_base_ns =
        sim_random_below(&process->random, 1000000 * LKS_NS_PER_S);
    process->end = end;
    process->end_arg = end_arg;
    process->next = world->processes;
    world->processes = process;
    sim_trace(world, "start %s, pid %" PRId64, name, process->pid);
    sim_fiber_start(process, "main", main, arg);
    return process;
}

struct sim_process *sim_process_current(const struct sim_world *world)
{
    return world->current == NULL ? NULL : world->current->process;
}

static void tell_end(void *arg)
{
    struct sim_process *process = arg;

    process->end(process, process->end_arg);
}

static void process_end(struct sim_process *process)
{
    struct sim_world *world = process->world;

    process->state = SIM_DEAD;
    sim_world_at(world, world->now_ns, tell_end, process);
}

void sim_process_fiber_ended(struct sim_process *process)
{
    process->fiber_count--;
    if (process->fiber_count == 0)
        process_end(process);
}

void sim_process_kill(struct sim_process *process)
{
    struct sim_world *world = process->world;
    struct sim_fiber *fiber;

    if (process->state == SIM_DEAD)
        return;
    sim_trace(world, "kill %s, pid %" PRId64, process->name, process->pid);
    for (fiber = world->fibers; fiber != NULL; fiber = fiber->next) {
        if (fiber->process != process || fiber->state == SIM_FIBER_ENDED)
            continue;
        if (fiber->state == SIM_FIBER_READY)
            sim_fiber_make_unready(fiber);
        sim_fiber_leave_line(fiber);
        fiber->state = SIM_FIBER_GONE;
    }
    process_end(process);
    if (sim_process_current(world) == process)
        sim_fiber_leave(world);
}

static void resume(void *arg)
{
    struct sim_process *process = arg;
    struct sim_fiber *fiber;

    if (process->state == SIM_DEAD)
        return;
    sim_trace(process->world, "%s, pid %" PRId64 " goes on", process->name,
              process->pid);
    process->state = SIM_RUNNING;
    for (fiber = process->world->fibers; fiber != NULL; fiber = fiber->next) {
        if (fiber->process == process && fiber->state == SIM_FIBER_HELD)
            sim_fiber_make_ready(fiber);
    }
}

/* Its clock stands still, so what waits by it waits longer. */
static void delay_timer(struct sim_fiber *fiber, uint64_t duration_ns)
{
    if (!fiber->local || fiber->wake_ns == LKS_FOREVER)
        return;
    fiber->wake_ns += duration_ns;
    sim_fiber_set_timer(fiber);
}

void sim_process_pause(struct sim_process *process,
                       bool suspended,
                       uint64_t duration_ns)
{
    struct sim_world *world = process->world;
    struct sim_fiber *fiber;

    if (process->state != SIM_RUNNING)
        return;
    sim_trace(world, "%s, pid %" PRId64 " is %s for %.3f s", process->name,
              process->pid, suspended ? "suspended" : "stopped",
              (double)duration_ns / (double)LKS_NS_PER_S);
    process->state = suspended ? SIM_SUSPENDED : SIM_STOPPED;
    if (suspended)
        process->stood_still_ns += duration_ns;
    for (fiber = world->fibers; fiber != NULL; fiber = fiber->next) {
        if (fiber->process != process)
            continue;
        if (fiber->state == SIM_FIBER_READY) {
            sim_fiber_make_unready(fiber);
            fiber->state = SIM_FIBER_HELD;
        } else if (fiber->state == SIM_FIBER_BLOCKED && suspended &&
                   fiber != world->current) {
            delay_timer(fiber, duration_ns);
        }
    }
    sim_world_at(world, world->now_ns + duration_ns, resume, process);
    if (sim_process_current(world) == process)
        sim_fiber_yield(world); /* Held until then. */
}

static uint64_t pause_length(struct sim_world *world)
{
    double length_s =
        sim_random_exponential(&world->random, world->hazards.pause_mean_s);

    if (length_s > world->hazards.pause_max_s)
        length_s = world->hazards.pause_max_s;
    return (uint64_t)(length_s * (double)LKS_NS_PER_S);
}

static bool is_victim(const struct sim_process *process)
{
    const struct sim_hazards *hazards = &process->world->hazards;

    return process->world->now_ns < hazards->until_ns &&
           (hazards->victims == NULL || strncmp(process->name, hazards->victims,
                                                strlen(hazards->victims)) == 0);
}

void sim_seam(struct sim_process *process)
{
    struct sim_world *world = process->world;
    const struct sim_hazards *hazards = &world->hazards;

    if (is_victim(process)) {
        if (sim_random_chance(&world->random, hazards->kill_chance))
            sim_process_kill(process);
        if (sim_random_chance(&world->random, hazards->pause_chance)) {
            sim_process_pause(process,
                              sim_random_chance(&world->random,
                                                hazards->suspended_share),
                              pause_length(world));
            return;
        }
    }
    sim_fiber_yield(world);
}
