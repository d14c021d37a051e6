/*
 * The log sink. Lines are handed out under a lock that many may hold, so that
 * once lks_log_set() has returned, the former sink is never called again.
 */
#include "base/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 1024u

static const struct {
    enum lks_area area;
    const char *name;
} areas_known[] = {
    {LKS_AREA_STORE, "store"},       {LKS_AREA_COMMIT, "commit"},
    {LKS_AREA_PRODUCER, "producer"}, {LKS_AREA_CONSUMER, "consumer"},
    {LKS_AREA_RECLAIM, "reclaim"},   {LKS_AREA_LIMIT, "limit"},
    {LKS_AREA_OUTAGE, "outage"},
};

#define AREA_COUNT (sizeof(areas_known) / sizeof(areas_known[0]))

static struct {
    atomic_uint areas; /* that are on; 0 without a sink */

    struct {
        lks_log_fn *log;
        void *arg;
    } locked;
    pthread_rwlock_t lock;
} sink = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static unsigned int area_named(const char *name, size_t size)
{
    unsigned int all = 0;

    for (size_t i = 0; i < AREA_COUNT; i++) {
        if (strlen(areas_known[i].name) == size &&
            memcmp(areas_known[i].name, name, size) == 0)
            return areas_known[i].area;
        all |= areas_known[i].area;
    }
    return size == 3 && memcmp(name, "all", 3) == 0 ? all : 0;
}

/* Names that are none count for nothing: newer ones do no harm. */
static unsigned int areas_named(const char *names)
{
    unsigned int areas = 0;

    for (;;) {
        size_t size = strcspn(names, ",");

        areas |= area_named(names, size);
        if (names[size] == '\0')
            return areas;
        names += size + 1;
    }
}

void lks_log_set(lks_log_fn *log, void *arg, const char *areas)
{
    unsigned int wanted = 0;

    if (areas == NULL)
        areas = getenv("LKS_TRACE");
    if (log != NULL && areas != NULL)
        wanted = areas_named(areas);

    /* Silence first, or a stream of lines would keep the writer waiting. */
    atomic_store(&sink.areas, 0);
    pthread_rwlock_wrlock(&sink.lock);
    sink.locked.log = log;
    sink.locked.arg = arg;
    atomic_store(&sink.areas, wanted);
    pthread_rwlock_unlock(&sink.lock);
}

bool lks_trace_on(enum lks_area area)
{
    return (atomic_load_explicit(&sink.areas, memory_order_relaxed) & area) !=
           0;
}

static const char *area_name(enum lks_area area)
{
    for (size_t i = 0; i < AREA_COUNT; i++) {
        if (areas_known[i].area == area)
            return areas_known[i].name;
    }
    return "other";
}

void lks_trace_write(enum lks_area area, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    lks_line_clean(line);

    pthread_rwlock_rdlock(&sink.lock);
    /* The sink may have changed since the caller asked whether it is on. */
    if (lks_trace_on(area))
        sink.locked.log(area_name(area), line, sink.locked.arg);
    pthread_rwlock_unlock(&sink.lock);
}
