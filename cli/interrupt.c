/*
 * SIGINT and SIGTERM: cancel what waits, or exit at once if nothing could.
 */
#include "interrupt.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "args.h"

/* A bench runs this many producers or consumers at most. */
#define WATCHED_MAX 16u

/* A command that was cancelled has so long to end by itself. */
#define GRACE_S 5

#define STOP_SIGNAL SIGURG

enum watched_kind { WATCHED_PRODUCER, WATCHED_CONSUMER, WATCHED_WORK };

struct watched {
    enum watched_kind kind;
    void *handle; /* NULL if the place is free */
};

static struct {
    pthread_mutex_t mutex;
    struct watched watched[WATCHED_MAX];
    const char *file;
} locked = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static atomic_int signal_seen;
static atomic_bool stopping;

static pthread_t waiter;
static bool started;

static void exit_now(int number)
{
    if (locked.file != NULL)
        unlink(locked.file);
    _exit(EXIT_INTERRUPTED + number);
}

/* Returns whether there was anything to cancel. */
static bool cancel_locked(void)
{
    bool any = false;

    for (size_t i = 0; i < WATCHED_MAX; i++) {
        const struct watched *watched = &locked.watched[i];

        if (watched->handle == NULL)
            continue;
        any = true;
        if (watched->kind == WATCHED_PRODUCER)
            lks_producer_cancel(watched->handle);
        else if (watched->kind == WATCHED_CONSUMER)
            lks_consumer_cancel(watched->handle);
    }
    return any;
}

/* STOP_SIGNAL only wakes the thread, to end it. Whoever does not know of it
 * ignores it, so nobody is surprised. */
static void signals_of_interest(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, STOP_SIGNAL);
}

/* The next signal that asks us to end; 0 when the command has ended. */
static int wait_for_signal(const sigset_t *set)
{
    int number = 0;

    do {
        sigwait(set, &number);
        if (atomic_load(&stopping))
            return 0;
    } while (number == STOP_SIGNAL);
    return number;
}

static void *wait_for_signals(void *arg)
{
    const struct timespec grace = {.tv_sec = GRACE_S};
    sigset_t set;
    int number;

    (void)arg;
    signals_of_interest(&set);
    number = wait_for_signal(&set);
    if (number == 0)
        return NULL;

    pthread_mutex_lock(&locked.mutex);
    atomic_store(&signal_seen, number);
    if (!cancel_locked())
        exit_now(number);
    pthread_mutex_unlock(&locked.mutex);

    sigtimedwait(&set, NULL, &grace);
    if (atomic_load(&stopping))
        return NULL;
    /* A second signal, or no end in sight. */
    pthread_mutex_lock(&locked.mutex);
    exit_now(number);
    return NULL;
}

void interrupt_start(void)
{
    sigset_t set;

    signals_of_interest(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    started = pthread_create(&waiter, NULL, wait_for_signals, NULL) == 0;
    if (!started)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void interrupt_stop(void)
{
    if (!started)
        return;
    atomic_store(&stopping, true);
    pthread_kill(waiter, STOP_SIGNAL);
    pthread_join(waiter, NULL);
}

static void watch(enum watched_kind kind, void *handle)
{
    size_t i = 0;

    pthread_mutex_lock(&locked.mutex);
    while (i < WATCHED_MAX && locked.watched[i].handle != NULL)
        i++;
    assert(i < WATCHED_MAX);
    locked.watched[i].kind = kind;
    locked.watched[i].handle = handle;
    /* It came while the handle was being opened. */
    if (interrupted())
        cancel_locked();
    pthread_mutex_unlock(&locked.mutex);
}

void interrupt_watch_producer(struct lks_producer *producer)
{
    watch(WATCHED_PRODUCER, producer);
}

void interrupt_watch_consumer(struct lks_consumer *consumer)
{
    watch(WATCHED_CONSUMER, consumer);
}

void interrupt_watch_work(void *work)
{
    watch(WATCHED_WORK, work);
}

void interrupt_unwatch(const void *handle)
{
    pthread_mutex_lock(&locked.mutex);
    for (size_t i = 0; handle != NULL && i < WATCHED_MAX; i++) {
        if (locked.watched[i].handle == handle)
            locked.watched[i].handle = NULL;
    }
    pthread_mutex_unlock(&locked.mutex);
}

bool interrupted(void)
{
    return atomic_load(&signal_seen) != 0;
}

int interrupt_exit_code(void)
{
    return EXIT_INTERRUPTED + atomic_load(&signal_seen);
}

void interrupt_owns_file(const char *path)
{
    pthread_mutex_lock(&locked.mutex);
    locked.file = path;
    pthread_mutex_unlock(&locked.mutex);
}
