/*
 * The world behind one table: clock, sleep, randomness, threads, waiting.
 *
 * Everything above calls these and nothing of the kind directly, so that a
 * simulator can put its own world here and run the same code in virtual time.
 * Times are nanoseconds of a monotonic clock; it starts anywhere, and decides
 * only waits and reports, never what is true (docs/protocol.md, "Clocks").
 */
#ifndef LKS_BASE_ENV_H
#define LKS_BASE_ENV_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define LKS_NS_PER_MS UINT64_C(1000000)
#define LKS_NS_PER_S UINT64_C(1000000000)
#define LKS_FOREVER UINT64_MAX
#define LKS_HOST_SIZE 64u

struct lks_thread;  /* one running function */
struct lks_monitor; /* one mutex with one condition */

typedef void lks_thread_fn(void *arg);

struct lks_env;

struct lks_env_ops {
    uint64_t (*now_ns)(const struct lks_env *env);
    int64_t (*wall_ms)(const struct lks_env *env);
    void (*sleep_ns)(const struct lks_env *env, uint64_t duration_ns);
    void (*random)(const struct lks_env *env, void *data, size_t size);
    enum lks_status (*thread_start)(const struct lks_env *env,
                                    const char *name,
                                    lks_thread_fn *run,
                                    void *arg,
                                    struct lks_thread **out_thread,
                                    struct lks_error *error);
    void (*thread_join)(const struct lks_env *env, struct lks_thread *thread);
    enum lks_status (*monitor_new)(const struct lks_env *env,
                                   struct lks_monitor **out_monitor,
                                   struct lks_error *error);
    void (*monitor_free)(const struct lks_env *env,
                         struct lks_monitor *monitor);
    void (*monitor_enter)(const struct lks_env *env,
                          struct lks_monitor *monitor);
    void (*monitor_leave)(const struct lks_env *env,
                          struct lks_monitor *monitor);
    bool (*monitor_wait)(const struct lks_env *env,
                         struct lks_monitor *monitor,
                         uint64_t deadline_ns);
    void (*monitor_wake)(const struct lks_env *env,
                         struct lks_monitor *monitor);
    int64_t (*pid)(const struct lks_env *env);
    void (*host)(const struct lks_env *env, char host[LKS_HOST_SIZE]);
    uint32_t (*processors)(const struct lks_env *env);
    uint32_t (*this_processor)(const struct lks_env *env);
};

/* A simulator embeds this as the first member of its own world. */
struct lks_env {
    const struct lks_env_ops *ops;
};

/* The real world: POSIX clocks and threads. */
const struct lks_env *lks_env_real(void);

uint64_t lks_env_now_ns(const struct lks_env *env);

/* Unix time by the local clock. For reports to people only. */
int64_t lks_env_wall_ms(const struct lks_env *env);

void lks_env_sleep_ns(const struct lks_env *env, uint64_t duration_ns);
void lks_env_random(const struct lks_env *env, void *data, size_t size);

/* Uniform in [0, 1). */
double lks_env_random_unit(const struct lks_env *env);

/* The time `duration_ms` from now, for lks_monitor_wait(). */
uint64_t lks_env_deadline_ms(const struct lks_env *env, uint64_t duration_ms);

int64_t lks_env_pid(const struct lks_env *env);
void lks_env_host(const struct lks_env *env, char host[LKS_HOST_SIZE]);

/* How many this process may use. */
uint32_t lks_env_processors(const struct lks_env *env);

/* The number of the one that the caller is on; it may be on another soon. */
uint32_t lks_env_this_processor(const struct lks_env *env);

enum lks_status lks_thread_start(const struct lks_env *env,
                                 const char *name,
                                 lks_thread_fn *run,
                                 void *arg,
                                 struct lks_thread **out_thread,
                                 struct lks_error *error);

/* Waits for its end and frees it. NULL is fine. */
void lks_thread_join(const struct lks_env *env, struct lks_thread *thread);

enum lks_status lks_monitor_new(const struct lks_env *env,
                                struct lks_monitor **out_monitor,
                                struct lks_error *error);
void lks_monitor_free(const struct lks_env *env, struct lks_monitor *monitor);
void lks_monitor_enter(const struct lks_env *env, struct lks_monitor *monitor);
void lks_monitor_leave(const struct lks_env *env, struct lks_monitor *monitor);

/* Leaves, waits for a wake or the deadline (LKS_FOREVER: none), and enters
 * again. False when the deadline passed. Wakes may be spurious. */
bool lks_monitor_wait(const struct lks_env *env,
                      struct lks_monitor *monitor,
                      uint64_t deadline_ns);

/* Wakes all who wait. */
void lks_monitor_wake(const struct lks_env *env, struct lks_monitor *monitor);

/* A wish that whoever holds it stops soon. Set once, never cleared. */
struct lks_cancel {
    atomic_bool set;
};

static inline void lks_cancel_init(struct lks_cancel *cancel)
{
    atomic_init(&cancel->set, false);
}

static inline void lks_cancel_set(struct lks_cancel *cancel)
{
    atomic_store(&cancel->set, true);
}

/* NULL is never cancelled. */
static inline bool lks_cancelled(const struct lks_cancel *cancel)
{
    return cancel != NULL && atomic_load(&cancel->set);
}

/* Sleeps in short naps until the time is over or `cancel` is set. */
void lks_env_sleep_unless(const struct lks_env *env,
                          uint64_t duration_ns,
                          const struct lks_cancel *cancel);

#endif
