/*
 * The one log sink, and the areas that are on. The only global of the library
 * besides the test hooks of alloc.h.
 */
#ifndef LKS_BASE_TRACE_H
#define LKS_BASE_TRACE_H

#include <stdbool.h>

#include "base/error.h"

enum lks_area {
    LKS_AREA_STORE = 1 << 0,
    LKS_AREA_COMMIT = 1 << 1,
    LKS_AREA_PRODUCER = 1 << 2,
    LKS_AREA_CONSUMER = 1 << 3,
    LKS_AREA_RECLAIM = 1 << 4,
    LKS_AREA_LIMIT = 1 << 5,
    LKS_AREA_OUTAGE = 1 << 6,
};

bool lks_trace_on(enum lks_area area);

void lks_trace_write(enum lks_area area, const char *format, ...)
    LKS_PRINTF(2, 3);

/* The arguments are evaluated only when somebody listens. */
#define LKS_TRACE(area, ...)                                                   \
    do {                                                                       \
        if (lks_trace_on(area))                                                \
            lks_trace_write(area, __VA_ARGS__);                                \
    } while (0)

#endif
