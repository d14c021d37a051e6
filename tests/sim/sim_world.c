/*
 * The scheduler: who runs next, and what time it is.
 *
 * Computing takes no time. Time moves only when nobody can run, to the earliest
 * event; what happens at once happens in an order that the seed picks.
 */
#include "sim/sim_world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/sim_inside.h"

/* Switches without time going on: more is a loop that never waits. */
#define SPIN_MAX 2000000u

/* A violation's text. */
#define FAILURE_SIZE 1024u

struct sim_event {
    uint64_t time_ns;
    uint64_t order; /* equal times: the seed's */
    sim_event_fn *fn;
    void *arg;
    uint64_t ticket; /* of a fiber's timer, fn being NULL */
};

static void *grown(void *memory, uint32_t *capacity, size_t size)
{
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    memory = realloc(memory, *capacity * size);
    if (memory == NULL)
        abort();
    return memory;
}

struct sim_world *sim_world_new(uint64_t seed, bool trace)
{
    struct sim_world *world = calloc(1, sizeof(*world));

    if (world == NULL)
        abort();
    world->seed = seed;
    world->random = sim_random_from(seed);
    world->trace = trace;
    world->next_pid = 1000;
    world->limit_ns = UINT64_MAX;
    return world;
}

/* ------------------------------------------------------------- events -- */

static bool event_is_before(const struct sim_event *left,
                            const struct sim_event *right)
{
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns;
    return left->order < right->order;
}

static void events_push(struct sim_world *world, struct sim_event event)
{
    uint32_t place = world->pending_count++;

    if (world->pending_count > world->pending_capacity)
        world->events =
            grown(world->events, &world->pending_capacity, sizeof(event));
    while (place > 0) {
        uint32_t parent = (place - 1) / 2;

        if (!event_is_before(&event, &world->events[parent]))
            break;
        world->events[place] = world->events[parent];
        place = parent;
    }
    world->events[place] = event;
}

static struct sim_event events_pop(struct sim_world *world)
{
    struct sim_event first = world->events[0];
    struct sim_event last = world->events[--world->pending_count];
    uint32_t count = world->pending_count;
    uint32_t place = 0;

    for (;;) {
        uint32_t child = 2 * place + 1;

        if (child >= count)
            break;
        if (child + 1 < count &&
            event_is_before(&world->events[child + 1], &world->events[child]))
            child++;
        if (!event_is_before(&world->events[child], &last))
            break;
        world->events[place] = world->events[child];
        place = child;
    }
    world->events[place] = last;
    return first;
}

void sim_world_at(struct sim_world *world,
                  uint64_t time_ns,
                  sim_event_fn *fn,
                  void *arg)
{
    assert(fn != NULL);

    events_push(world, (struct sim_event){
                           .time_ns = time_ns,
                           .order = sim_random_next(&world->random),
                           .fn = fn,
                           .arg = arg,
                       });
}

void sim_fiber_set_timer(struct sim_fiber *fiber)
{
    struct sim_world *world = fiber->process->world;

    fiber->ticket++;
    if (fiber->wake_ns == LKS_FOREVER)
        return;
    events_push(world, (struct sim_event){
                           .time_ns = fiber->wake_ns,
                           .order = sim_random_next(&world->random),
                           .arg = fiber,
                           .ticket = fiber->ticket,
                       });
}

static void timer_rang(struct sim_fiber *fiber, uint64_t ticket)
{
    if (fiber->state != SIM_FIBER_BLOCKED || fiber->ticket != ticket)
        return;
    sim_fiber_wake(fiber);
    fiber->timed_out = true;
}

static void next_event(struct sim_world *world)
{
    struct sim_event event = events_pop(world);

    world->event_count++;
    if (event.time_ns > world->now_ns)
        world->now_ns = event.time_ns;
    if (event.fn != NULL)
        event.fn(event.arg);
    else
        timer_rang(event.arg, event.ticket);
}

/* -------------------------------------------------------------- ready -- */

void sim_fiber_make_ready(struct sim_fiber *fiber)
{
    struct sim_world *world = fiber->process->world;

    if (fiber->process->state != SIM_RUNNING) {
        fiber->state = SIM_FIBER_HELD;
        return;
    }
    if (world->ready_count == world->ready_capacity)
        world->ready = grown(world->ready, &world->ready_capacity,
                             sizeof(struct sim_fiber *));
    fiber->state = SIM_FIBER_READY;
    fiber->place = world->ready_count;
    world->ready[world->ready_count++] = fiber;
}

void sim_fiber_make_unready(struct sim_fiber *fiber)
{
    struct sim_world *world = fiber->process->world;
    struct sim_fiber *last = world->ready[--world->ready_count];

    world->ready[fiber->place] = last;
    last->place = fiber->place;
}

void sim_fiber_wake(struct sim_fiber *fiber)
{
    if (fiber->state != SIM_FIBER_BLOCKED)
        return;
    sim_fiber_leave_line(fiber);
    fiber->timed_out = false;
    fiber->ticket++;
    sim_fiber_make_ready(fiber);
}

/* ------------------------------------------------------------ running -- */

static void print_waiting(const struct sim_world *world)
{
    const struct sim_fiber *fiber;

    for (fiber = world->fibers; fiber != NULL; fiber = fiber->next) {
        if (fiber->state == SIM_FIBER_ENDED || fiber->state == SIM_FIBER_GONE)
            continue;
        fprintf(stderr, "  %s, pid %" PRId64 ", %s: %s", fiber->process->name,
                fiber->process->pid, fiber->name,
                fiber->where == NULL ? "runs" : fiber->where);
        if (fiber->process->state != SIM_RUNNING)
            fprintf(stderr, " (its process is frozen)");
        if (fiber->wake_ns != LKS_FOREVER && fiber->where != NULL)
            fprintf(stderr, " until %.3f s",
                    (double)fiber->wake_ns / (double)LKS_NS_PER_S);
        fprintf(stderr, "\n");
    }
}

void sim_world_run(struct sim_world *world)
{
    uint64_t at_ns = 0;
    uint32_t spins = 0;

    while (!world->stopping) {
        if (world->now_ns != at_ns)
            spins = 0;
        at_ns = world->now_ns;
        if (++spins > SPIN_MAX || world->now_ns > world->limit_ns) {
            print_waiting(world);
            sim_fail(world, SIM_LIVE, "somebody never finishes");
        }
        if (world->ready_count > 0) {
            uint64_t pick =
                sim_random_below(&world->random, world->ready_count);

            sim_fiber_resume(world, world->ready[pick]);
        } else if (world->pending_count > 0) {
            next_event(world);
        } else {
            print_waiting(world);
            sim_fail(world, SIM_LIVE, "deadlock: nobody can ever run");
        }
    }
}

void sim_world_stop(struct sim_world *world)
{
    world->stopping = true;
}

void sim_world_note(struct sim_world *world, uint64_t what)
{
    world->digest = sim_mix(world->digest ^ what) + world->now_ns;
}

/* ---------------------------------------------------------- reporting -- */

void sim_trace(struct sim_world *world, const char *format, ...)
{
    const struct sim_fiber *fiber = world->current;
    va_list args;

    if (!world->trace)
        return;
    printf("%12.6f ", (double)world->now_ns / (double)LKS_NS_PER_S);
    if (fiber != NULL)
        printf("%s/%s: ", fiber->process->name, fiber->name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

_Noreturn void sim_fail(struct sim_world *world,
                        enum sim_invariant invariant,
                        const char *format,
                        ...)
{
    static const char *const names[] = {
        [SIM_LINEAR] = "linear",
        [SIM_ATOMIC] = "atomic",
        [SIM_EXACTLY_ONCE] = "exactly once",
        [SIM_DURABLE] = "durable",
        [SIM_SAFE] = "safe deletion",
        [SIM_NO_LEAK] = "no leak",
        [SIM_BOUNDED] = "bounded",
        [SIM_LIVE] = "live",
    };
    char text[FAILURE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fflush(stdout);
    fprintf(stderr, "seed %" PRIu64 ": invariant %d, %s, at %.6f s: %s%s%s\n",
            world->seed, (int)invariant, names[invariant],
            (double)world->now_ns / (double)LKS_NS_PER_S,
            world->current == NULL ? "" : world->current->process->name,
            world->current == NULL ? "" : ": ", text);
    _exit(10 + (int)invariant);
}
