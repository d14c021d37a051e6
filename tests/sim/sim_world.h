/*
 * The simulated world: virtual time, fibers, processes.
 *
 * Every thread of the code under test is a fiber, a stack of its own, and one
 * runs at a time: the holder of the baton. The baton passes where the code
 * meets the world, at store calls, sleeps, monitors and threads; the seed picks
 * who gets it. When nobody can run, time jumps to the next event.
 */
#ifndef LKS_SIM_WORLD_H
#define LKS_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "sim/sim_random.h"

#define SIM_NAME_SIZE 48u

/* Design section 8's invariants by number; the violations' names. */
enum sim_invariant {
    SIM_LINEAR = 1,
    SIM_ATOMIC = 2,
    SIM_EXACTLY_ONCE = 3,
    SIM_DURABLE = 4,
    SIM_SAFE = 5,
    SIM_NO_LEAK = 6,
    SIM_BOUNDED = 7,
    SIM_LIVE = 8,
};

/* How a process is. Stopped: its clock runs on (SIGSTOP, a stalled host).
 * Suspended: its clock stands still (a VM that was paused or moved). */
enum sim_process_state {
    SIM_RUNNING,
    SIM_STOPPED,
    SIM_SUSPENDED,
    SIM_DEAD, /* ended or killed */
};

struct sim_world;
struct sim_process;

typedef void sim_event_fn(void *arg);

/* Told, outside all fibers, that a process ended or was killed. */
typedef void sim_end_fn(struct sim_process *process, void *arg);

/* An operating-system process: what its code sees as the world comes first. */
struct sim_process {
    struct lks_env env;
    struct sim_world *world;
    char name[SIM_NAME_SIZE];
    int64_t pid;
    struct sim_random random;
    int64_t wall_skew_ms;
    uint64_t clock_base_ns;  /* its monotonic clock starts anywhere */
    uint64_t stood_still_ns; /* that its clock has missed */
    enum sim_process_state state;
    uint32_t fiber_count; /* not ended */
    uint64_t request_count;
    sim_end_fn *end;
    void *end_arg;
    struct sim_process *next;
};

/* What may befall a process where its code meets the world. */
struct sim_hazards {
    const char *victims; /* what their names begin with; NULL: all */
    double pause_chance; /* at each such place */
    double pause_mean_s;
    double pause_max_s;
    double suspended_share; /* of the pauses; the rest are stops */
    double kill_chance;
    uint64_t until_ns; /* no hazards from then on */
};

struct sim_fiber;
struct sim_event;

struct sim_world {
    struct sim_random random;
    struct sim_hazards hazards;
    uint64_t seed;
    uint64_t now_ns;
    uint64_t limit_ns; /* past it, somebody hangs: invariant 8 */
    uint64_t digest;   /* of all that happened */
    uint64_t switch_count;
    uint64_t event_count;
    bool stopping;
    bool trace;

    struct sim_fiber *current;
    struct sim_fiber *fibers; /* all that ever began */
    struct sim_fiber **ready;
    uint32_t ready_count;
    uint32_t ready_capacity;
    void *free_stacks;
    struct sim_event *events; /* a heap */
    uint32_t pending_count;
    uint32_t pending_capacity;
    struct sim_process *processes;
    int64_t next_pid;
};

struct sim_world *sim_world_new(uint64_t seed, bool trace);

/* Runs until sim_world_stop(). */
void sim_world_run(struct sim_world *world);
void sim_world_stop(struct sim_world *world);

/* Runs `fn(arg)` outside all fibers at that time. */
void sim_world_at(struct sim_world *world,
                  uint64_t time_ns,
                  sim_event_fn *fn,
                  void *arg);

/* Adds to the digest. */
void sim_world_note(struct sim_world *world, uint64_t what);

/* Prints a line with the virtual time and who runs, with --trace. */
void sim_trace(struct sim_world *world, const char *format, ...)
    LKS_PRINTF(2, 3);

/* Reports the violation of an invariant and ends the run of this seed. */
_Noreturn void sim_fail(struct sim_world *world,
                        enum sim_invariant invariant,
                        const char *format,
                        ...) LKS_PRINTF(3, 4);

/* Starts a process with one fiber that runs `main`. */
struct sim_process *sim_process_start(struct sim_world *world,
                                      const char *name,
                                      lks_thread_fn *main,
                                      void *arg,
                                      sim_end_fn *end,
                                      void *end_arg);

/* Its code runs no more, and nothing of it is cleaned up. When called by the
 * process itself this does not return. */
void sim_process_kill(struct sim_process *process);

/* Freezes it for a while. Does nothing unless it runs. */
void sim_process_pause(struct sim_process *process,
                       bool suspended,
                       uint64_t duration_ns);

/* The process whose fiber runs. */
struct sim_process *sim_process_current(const struct sim_world *world);

/* A place where the baton passes, and where a hazard may befall. */
void sim_seam(struct sim_process *process);

/*
 * The fiber that runs blocks until sim_fiber_wake() or the time, LKS_FOREVER
 * being none; false when it was the time. A local time stands still with its
 * process's clock. `where` is for reports and must be static.
 */
bool sim_fiber_block(struct sim_world *world,
                     const char *where,
                     uint64_t time_ns,
                     bool local);
void sim_fiber_wake(struct sim_fiber *fiber);

/* For the environment's threads. */
struct sim_fiber *sim_fiber_start(struct sim_process *process,
                                  const char *name,
                                  lks_thread_fn *run,
                                  void *arg);
bool sim_fiber_has_ended(const struct sim_fiber *fiber);

/* Blocks until the other one has ended. */
void sim_fiber_join(struct sim_fiber *fiber);

/* Waiting in line at something: a list through the fibers. */
struct sim_line {
    struct sim_fiber *first;
};

/* Waits in the line until woken or the time has come. */
bool sim_line_wait(struct sim_world *world,
                   struct sim_line *line,
                   const char *where,
                   uint64_t time_ns);
void sim_line_wake(struct sim_line *line);

/* The environment's table: a process's env. */
extern const struct lks_env_ops sim_env_ops;

/* Ten years ago, or so: what the store's clock says at time 0. */
#define SIM_EPOCH_MS INT64_C(1700000000000)

#endif
