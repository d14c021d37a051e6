/* A clock that runs ahead, on the threads and monitors of the real world. */
#include "support/env_hasty.h"

#include <pthread.h>

#define HASTE 100u

static uint64_t hasty_now_ns(const struct lks_env *env)
{
    (void)env;
    return HASTE * lks_env_now_ns(lks_env_real());
}

static void hasty_sleep_ns(const struct lks_env *env, uint64_t duration_ns)
{
    (void)env;
    lks_env_sleep_ns(lks_env_real(), duration_ns / HASTE);
}

static bool hasty_wait(const struct lks_env *env,
                       struct lks_monitor *monitor,
                       uint64_t deadline_ns)
{
    (void)env;
    return lks_monitor_wait(lks_env_real(), monitor,
                            deadline_ns == LKS_FOREVER ? LKS_FOREVER
                                                       : deadline_ns / HASTE);
}

static struct lks_env_ops ops;
static const struct lks_env hasty = {.ops = &ops};

/* The real world does not look at which environment it is called for. */
static void make(void)
{
    ops = *lks_env_real()->ops;
    ops.now_ns = hasty_now_ns;
    ops.sleep_ns = hasty_sleep_ns;
    ops.monitor_wait = hasty_wait;
}

const struct lks_env *env_hasty(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make);
    return &hasty;
}
