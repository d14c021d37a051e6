/*
 * What the world's own two files share: fibers, and the stacks they run on.
 */
#ifndef LKS_SIM_INSIDE_H
#define LKS_SIM_INSIDE_H

#include <ucontext.h>

#include "sim/sim_world.h"

enum sim_fiber_state {
    SIM_FIBER_READY,
    SIM_FIBER_HELD, /* ready, but its process is frozen */
    SIM_FIBER_BLOCKED,
    SIM_FIBER_ENDED,
    SIM_FIBER_GONE, /* its process was killed */
};

struct sim_fiber {
    ucontext_t context;
    void *stack;
    struct sim_process *process;
    char name[SIM_NAME_SIZE];
    lks_thread_fn *run;
    void *arg;
    enum sim_fiber_state state;
    const char *where; /* it blocks */
    uint64_t wake_ns;
    uint64_t ticket; /* of its newest timer */
    bool local;      /* the timer is by the process's clock */
    bool timed_out;
    uint32_t place; /* among the ready ones */
    uint64_t number;
    struct sim_line joiners;
    struct sim_line *line; /* it waits in */
    struct sim_fiber *line_next;
    struct sim_fiber *next;
    void *fake_stack; /* the address sanitizer's */
};

/* sim_fiber.c */
void sim_fiber_resume(struct sim_world *world, struct sim_fiber *fiber);
void sim_fiber_yield(struct sim_world *world);

/* Gives the baton up for good. */
_Noreturn void sim_fiber_leave(struct sim_world *world);
void sim_fiber_make_ready(struct sim_fiber *fiber);
void sim_fiber_make_unready(struct sim_fiber *fiber);
void sim_fiber_set_timer(struct sim_fiber *fiber);
void sim_fiber_leave_line(struct sim_fiber *fiber);

/* sim_process.c */
void sim_process_fiber_ended(struct sim_process *process);

#endif
