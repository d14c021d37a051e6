/*
 * The calls into an environment's table, and what follows from them.
 */
#include "base/env.h"

#define NAP_NS (20 * LKS_NS_PER_MS)

uint64_t lks_env_now_ns(const struct lks_env *env)
{
    return env->ops->now_ns(env);
}

int64_t lks_env_wall_ms(const struct lks_env *env)
{
    return env->ops->wall_ms(env);
}

void lks_env_sleep_ns(const struct lks_env *env, uint64_t duration_ns)
{
    env->ops->sleep_ns(env, duration_ns);
}

void lks_env_random(const struct lks_env *env, void *data, size_t size)
{
    env->ops->random(env, data, size);
}

double lks_env_random_unit(const struct lks_env *env)
{
    uint64_t bits;

    lks_env_random(env, &bits, sizeof(bits));
    return (double)(bits >> 11) * 0x1p-53; /* as many as a double holds */
}

uint64_t lks_env_deadline_ms(const struct lks_env *env, uint64_t duration_ms)
{
    uint64_t now_ns = lks_env_now_ns(env);

    if (duration_ms > (LKS_FOREVER - now_ns) / LKS_NS_PER_MS)
        return LKS_FOREVER;
    return now_ns + duration_ms * LKS_NS_PER_MS;
}

int64_t lks_env_pid(const struct lks_env *env)
{
    return env->ops->pid(env);
}

void lks_env_host(const struct lks_env *env, char host[LKS_HOST_SIZE])
{
    env->ops->host(env, host);
}

uint32_t lks_env_processors(const struct lks_env *env)
{
    return env->ops->processors(env);
}

uint32_t lks_env_this_processor(const struct lks_env *env)
{
    return env->ops->this_processor(env);
}

enum lks_status lks_thread_start(const struct lks_env *env,
                                 const char *name,
                                 lks_thread_fn *run,
                                 void *arg,
                                 struct lks_thread **out_thread,
                                 struct lks_error *error)
{
    return env->ops->thread_start(env, name, run, arg, out_thread, error);
}

void lks_thread_join(const struct lks_env *env, struct lks_thread *thread)
{
    if (thread != NULL)
        env->ops->thread_join(env, thread);
}

enum lks_status lks_monitor_new(const struct lks_env *env,
                                struct lks_monitor **out_monitor,
                                struct lks_error *error)
{
    return env->ops->monitor_new(env, out_monitor, error);
}

void lks_monitor_free(const struct lks_env *env, struct lks_monitor *monitor)
{
    if (monitor != NULL)
        env->ops->monitor_free(env, monitor);
}

void lks_monitor_enter(const struct lks_env *env, struct lks_monitor *monitor)
{
    env->ops->monitor_enter(env, monitor);
}

void lks_monitor_leave(const struct lks_env *env, struct lks_monitor *monitor)
{
    env->ops->monitor_leave(env, monitor);
}

bool lks_monitor_wait(const struct lks_env *env,
                      struct lks_monitor *monitor,
                      uint64_t deadline_ns)
{
    return env->ops->monitor_wait(env, monitor, deadline_ns);
}

void lks_monitor_wake(const struct lks_env *env, struct lks_monitor *monitor)
{
    env->ops->monitor_wake(env, monitor);
}

void lks_env_sleep_unless(const struct lks_env *env,
                          uint64_t duration_ns,
                          const struct lks_cancel *cancel)
{
    uint64_t begin_ns = lks_env_now_ns(env);
    uint64_t slept_ns = 0;

    while (slept_ns < duration_ns && !lks_cancelled(cancel)) {
        uint64_t rest_ns = duration_ns - slept_ns;

        lks_env_sleep_ns(env, rest_ns < NAP_NS ? rest_ns : NAP_NS);
        slept_ns = lks_env_now_ns(env) - begin_ns;
    }
}
