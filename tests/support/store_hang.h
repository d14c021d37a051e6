/*
 * A store that answers nothing while it hangs, around one that works: a call
 * returns only when its caller no longer wants it. It counts what it is asked.
 */
#ifndef LKS_TESTS_SUPPORT_STORE_HANG_H
#define LKS_TESTS_SUPPORT_STORE_HANG_H

#include <stdatomic.h>

#include "store/store.h"

enum hang {
    HANG_NEVER,
    HANG_DATA, /* calls for what is under data/ */
    HANG_ALWAYS,
};

struct hang_store {
    struct lks_store base;
    struct lks_store *inner;
    _Atomic(enum hang) hang;
    _Atomic(enum hang) fail; /* the same calls, but LKS_UNAVAILABLE at once */
    atomic_uint waiting;     /* calls that hang now */
    _Atomic uint64_t manifest_gets;
    _Atomic uint64_t index_gets;
    _Atomic uint64_t data_gets;
    _Atomic uint64_t lists;
};

/* Takes `inner` over; closed as any store. NULL when memory is out. */
struct hang_store *hang_store_new(struct lks_store *inner);

#endif
