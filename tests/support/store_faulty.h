/*
 * A store that fails when it is told to, around one that works: what a network
 * does to requests and replies, one call at a time.
 */
#ifndef LKS_TESTS_SUPPORT_STORE_FAULTY_H
#define LKS_TESTS_SUPPORT_STORE_FAULTY_H

#include <stdatomic.h>

#include "store/store.h"

enum fault {
    FAULT_NONE,
    FAULT_LOSE_REQUEST, /* nothing happens, and the sender can't know */
    FAULT_LOSE_REPLY,   /* it is done, and the sender can't know */
    FAULT_THROTTLE,     /* nothing happens: the store wants less load */
    FAULT_FAIL,         /* nothing happens, for certain */
};

enum faulty_op {
    FAULTY_GET,
    FAULTY_PUT,
    FAULTY_CREATE,
    FAULTY_LIST,
    FAULTY_REMOVE,
    FAULTY_STAT,
    FAULTY_OPS,
};

#define FAULTY_UPLOADS_MAX 8u

/* What happens to this call. May itself use the inner store: what it does then
 * comes before the call. */
typedef enum fault fault_fn(enum faulty_op op, const char *key, void *arg);

struct faulty_store {
    struct lks_store base;
    struct lks_store *inner;
    fault_fn *_Atomic decide; /* NULL: no faults */
    void *arg;
    _Atomic int64_t date_add_ms; /* the store's clock runs ahead by this */
    _Atomic uint64_t counts[FAULTY_OPS];

    /* What uploads() shows, in order, and abort() takes away; or how it fails,
     * if that is not LKS_OK. */
    struct lks_upload uploads[FAULTY_UPLOADS_MAX];
    size_t upload_count;
    enum lks_status uploads_status;
};

/* Takes `inner` over; closed as any store. */
struct faulty_store *faulty_store_new(struct lks_store *inner,
                                      fault_fn *decide,
                                      void *arg);

/* Around a fresh store in memory of its own. */
struct faulty_store *faulty_store_new_mem(const struct lks_env *env,
                                          fault_fn *decide,
                                          void *arg);

#endif
