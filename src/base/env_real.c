/*
 * The real environment: POSIX threads, and waits by the monotonic clock.
 */
#include "base/env.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

#define THREAD_NAME_SIZE 16u /* what Linux keeps, with the NUL */

struct lks_thread {
    pthread_t id;
    lks_thread_fn *run;
    void *arg;
    char name[THREAD_NAME_SIZE];
};

struct lks_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};

static struct timespec timespec_of(uint64_t time_ns)
{
    struct timespec time = {
        .tv_sec = (time_t)(time_ns / LKS_NS_PER_S),
        .tv_nsec = (long)(time_ns % LKS_NS_PER_S),
    };

    return time;
}

static uint64_t real_now_ns(const struct lks_env *env)
{
    struct timespec now;

    (void)env;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * LKS_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int64_t real_wall_ms(const struct lks_env *env)
{
    struct timespec now;

    (void)env;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / (long)LKS_NS_PER_MS;
}

static void real_sleep_ns(const struct lks_env *env, uint64_t duration_ns)
{
    uint64_t now_ns = real_now_ns(env);
    struct timespec end;

    if (duration_ns > LKS_FOREVER - now_ns)
        duration_ns = LKS_FOREVER - now_ns;
    end = timespec_of(now_ns + duration_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        continue;
}

static void real_random(const struct lks_env *env, void *data, size_t size)
{
    uint8_t *bytes = data;

    (void)env;
    while (size > 0) {
        ssize_t count = getrandom(bytes, size, 0);

        if (count < 0 && errno == EINTR)
            continue;
        /* Ownership rests on numbers that nobody else draws: without a source
         * of them nothing may go on. No supported kernel lacks it. */
        if (count <= 0)
            abort();
        bytes += count;
        size -= (size_t)count;
    }
}

static void *thread_main(void *arg)
{
    struct lks_thread *thread = arg;

    pthread_setname_np(pthread_self(), thread->name);
    thread->run(thread->arg);
    return NULL;
}

static enum lks_status real_thread_start(const struct lks_env *env,
                                         const char *name,
                                         lks_thread_fn *run,
                                         void *arg,
                                         struct lks_thread **out_thread,
                                         struct lks_error *error)
{
    struct lks_thread *thread = lks_alloc_zero(1, sizeof(*thread));
    sigset_t all;
    sigset_t before;
    int failure;

    (void)env;
    if (thread == NULL)
        return lks_error_no_memory(error);
    thread->run = run;
    thread->arg = arg;
    snprintf(thread->name, sizeof(thread->name), "%s", name);

    /* The program's signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&thread->id, NULL, thread_main, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        lks_free(thread);
        return lks_error_set(error, LKS_NO_MEMORY, "start thread %s: %s", name,
                             strerror(failure));
    }
    *out_thread = thread;
    return LKS_OK;
}

static void real_thread_join(const struct lks_env *env,
                             struct lks_thread *thread)
{
    int failure = pthread_join(thread->id, NULL);

    (void)env;
    (void)failure;
    assert(failure == 0);
    lks_free(thread);
}

static enum lks_status real_monitor_new(const struct lks_env *env,
                                        struct lks_monitor **out_monitor,
                                        struct lks_error *error)
{
    struct lks_monitor *monitor = lks_alloc(sizeof(*monitor));
    pthread_condattr_t attributes;

    (void)env;
    if (monitor == NULL)
        return lks_error_no_memory(error);
    /* None of these can fail with default attributes on Linux. */
    pthread_mutex_init(&monitor->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monitor->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    *out_monitor = monitor;
    return LKS_OK;
}

static void real_monitor_free(const struct lks_env *env,
                              struct lks_monitor *monitor)
{
    (void)env;
    pthread_cond_destroy(&monitor->condition);
    pthread_mutex_destroy(&monitor->mutex);
    lks_free(monitor);
}

static void real_monitor_enter(const struct lks_env *env,
                               struct lks_monitor *monitor)
{
    int failure = pthread_mutex_lock(&monitor->mutex);

    (void)env;
    (void)failure;
    assert(failure == 0);
}

static void real_monitor_leave(const struct lks_env *env,
                               struct lks_monitor *monitor)
{
    int failure = pthread_mutex_unlock(&monitor->mutex);

    (void)env;
    (void)failure;
    assert(failure == 0);
}

static bool real_monitor_wait(const struct lks_env *env,
                              struct lks_monitor *monitor,
                              uint64_t deadline_ns)
{
    struct timespec deadline = timespec_of(deadline_ns);

    (void)env;
    if (deadline_ns == LKS_FOREVER) {
        pthread_cond_wait(&monitor->condition, &monitor->mutex);
        return true;
    }
    return pthread_cond_timedwait(&monitor->condition, &monitor->mutex,
                                  &deadline) != ETIMEDOUT;
}

static void real_monitor_wake(const struct lks_env *env,
                              struct lks_monitor *monitor)
{
    (void)env;
    pthread_cond_broadcast(&monitor->condition);
}

static int64_t real_pid(const struct lks_env *env)
{
    (void)env;
    return getpid();
}

static void real_host(const struct lks_env *env, char host[LKS_HOST_SIZE])
{
    struct utsname names;

    (void)env;
    if (uname(&names) != 0)
        names.nodename[0] = '\0';
    snprintf(host, LKS_HOST_SIZE, "%.*s", (int)LKS_HOST_SIZE - 1,
             names.nodename);
}

static uint32_t real_processors(const struct lks_env *env)
{
    cpu_set_t set;

    (void)env;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    return (uint32_t)CPU_COUNT(&set);
}

static uint32_t real_this_processor(const struct lks_env *env)
{
    unsigned number;

    (void)env;
    return getcpu(&number, NULL) == 0 ? number : 0;
}

const struct lks_env *lks_env_real(void)
{
    static const struct lks_env_ops ops = {
        .now_ns = real_now_ns,
        .wall_ms = real_wall_ms,
        .sleep_ns = real_sleep_ns,
        .random = real_random,
        .thread_start = real_thread_start,
        .thread_join = real_thread_join,
        .monitor_new = real_monitor_new,
        .monitor_free = real_monitor_free,
        .monitor_enter = real_monitor_enter,
        .monitor_leave = real_monitor_leave,
        .monitor_wait = real_monitor_wait,
        .monitor_wake = real_monitor_wake,
        .pid = real_pid,
        .host = real_host,
        .processors = real_processors,
        .this_processor = real_this_processor,
    };
    static const struct lks_env real = {.ops = &ops};

    return &real;
}
