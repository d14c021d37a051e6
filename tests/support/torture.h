/*
 * Torture: a thing is done again and again, and each time one allocation later
 * fails, until none does.
 */
#ifndef LKS_TESTS_SUPPORT_TORTURE_H
#define LKS_TESTS_SUPPORT_TORTURE_H

#include "base/alloc.h"
#include "support/check.h"

#define TORTURE_ROUND_MAX 100000u

/* Long tortures try each so many-th place only where races are looked for, and
 * not what is done to memory. */
#ifdef __SANITIZE_THREAD__
#define TORTURE_STRIDE 7u
#else
#define TORTURE_STRIDE 1u
#endif

/* Does the thing and undoes it; it fails by its status and not by an assert. */
typedef enum lks_status torture_fn(void *arg);

/* Each round must say LKS_NO_MEMORY and hold nothing afterwards; the last one,
 * in which no allocation failed, must be LKS_OK. */
static inline void torture(torture_fn *run, void *arg)
{
    for (uint64_t n = 1; n < TORTURE_ROUND_MAX; n++) {
        int64_t live_before = lks_alloc_live();
        enum lks_status status;
        uint64_t count;

        lks_alloc_fail_at(n);
        status = run(arg);
        count = lks_alloc_count();
        lks_alloc_fail_at(0);

        if (lks_alloc_live() != live_before)
            fail_msg("allocation %d failed: %d are still held", (int)n,
                     (int)(lks_alloc_live() - live_before));
        if (status != (count < n ? LKS_OK : LKS_NO_MEMORY))
            fail_msg("allocation %d of %d failed: got %s", (int)n, (int)count,
                     lks_status_name(status));
        if (count < n)
            return;
    }
    fail_msg("there is no end of allocations");
}

#endif
