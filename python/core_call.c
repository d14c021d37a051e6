/*
 * Blocking calls that Ctrl-C ends.
 *
 * Python runs its signal handlers on the main thread and only between two
 * instructions, so a call that blocks there would hold them back. The call goes
 * to a thread of its own, and the caller looks for signals until it is done.
 */
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 50000000 /* between two looks for signals */
#define NS_PER_S 1000000000

/* Freed by whoever leaves last. */
struct running {
    const struct core_call *call;
    void *arg;

    struct {
        pthread_mutex_t mutex;
        pthread_cond_t changed;
        bool done;
        bool abandoned;
        struct lks_error error;
    } locked;
};

static void running_free(struct running *running)
{
    pthread_cond_destroy(&running->locked.changed);
    pthread_mutex_destroy(&running->locked.mutex);
    free(running);
}

static void *run(void *arg)
{
    struct running *running = arg;
    struct lks_error error = {0};
    bool abandoned;

    error.status = running->call->run(running->arg, &error);

    pthread_mutex_lock(&running->locked.mutex);
    running->locked.error = error;
    running->locked.done = true;
    abandoned = running->locked.abandoned;
    pthread_cond_signal(&running->locked.changed);
    pthread_mutex_unlock(&running->locked.mutex);
    if (abandoned) {
        running->call->discard(running->arg);
        running_free(running);
    }
    return NULL;
}

/* NULL without threads or memory. */
static struct running *start(const struct core_call *call, void *arg)
{
    struct running *running = calloc(1, sizeof(*running));
    pthread_condattr_t clock;
    pthread_t thread;

    if (running == NULL)
        return NULL;
    running->call = call;
    running->arg = arg;
    pthread_mutex_init(&running->locked.mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&running->locked.changed, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&thread, NULL, run, running) != 0) {
        running_free(running);
        return NULL;
    }
    pthread_detach(thread);
    return running;
}

/* Waits for a little while, or for ever. */
static bool await(struct running *running, bool forever)
{
    struct timespec until;
    bool done;
    int result = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_S;
    }
    pthread_mutex_lock(&running->locked.mutex);
    while (!running->locked.done && result != ETIMEDOUT) {
        if (forever)
            pthread_cond_wait(&running->locked.changed, &running->locked.mutex);
        else
            result = pthread_cond_timedwait(&running->locked.changed,
                                            &running->locked.mutex, &until);
    }
    done = running->locked.done;
    pthread_mutex_unlock(&running->locked.mutex);
    return done;
}

/* Returns whether it was done already, and is the caller's to free. */
static bool abandon(struct running *running)
{
    bool done;

    pthread_mutex_lock(&running->locked.mutex);
    done = running->locked.done;
    running->locked.abandoned = !done;
    pthread_mutex_unlock(&running->locked.mutex);
    return done;
}

/* A signal handler has raised. */
static void give_up(struct running *running)
{
    const struct core_call *call = running->call;
    void *arg = running->arg;

    if (call->cancel != NULL) {
        Py_BEGIN_ALLOW_THREADS call->cancel(arg);
        await(running, true);
        Py_END_ALLOW_THREADS running_free(running);
    } else if (abandon(running)) {
        running_free(running);
        call->discard(arg);
    }
}

bool core_call_run(const struct core_call *call,
                   void *arg,
                   struct lks_error *out_error)
{
    struct running *running = start(call, arg);
    bool done = false;

    if (running == NULL) { /* Then without looking for signals. */
        memset(out_error, 0, sizeof(*out_error));
        Py_BEGIN_ALLOW_THREADS out_error->status = call->run(arg, out_error);
        Py_END_ALLOW_THREADS return true;
    }
    while (!done) {
        Py_BEGIN_ALLOW_THREADS done = await(running, false);
        Py_END_ALLOW_THREADS if (!done && PyErr_CheckSignals() != 0)
        {
            give_up(running);
            return false;
        }
    }
    *out_error = running->locked.error;
    /* The thread may still hold the mutex that it signals under. */
    pthread_mutex_lock(&running->locked.mutex);
    pthread_mutex_unlock(&running->locked.mutex);
    running_free(running);
    return true;
}
