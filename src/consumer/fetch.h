/*
 * Reading one range of a TGB: get, check, unpack. Blocks; no thread of its own.
 */
#ifndef LKS_CONSUMER_FETCH_H
#define LKS_CONSUMER_FETCH_H

#include "consumer/batch.h"

/* What reading took, also when it failed. */
struct lks_fetch_cost {
    uint64_t get_count;
    uint64_t fetched_size;
    uint64_t needed_size;   /* payloads, as stored */
    uint64_t payload_size;  /* payloads, as appended */
    uint64_t returned_size; /* memory reserved for it that it has no need of */
    uint64_t duration_ns;   /* set by who measures it */
};

/*
 * Makes the fetch's slices point to their checked bytes. Adds to *cost. A
 * missing object is explained: LKS_RECLAIMED or LKS_CORRUPT. On failure the
 * fetch is as before, and may be tried again.
 */
enum lks_status lks_fetch_read(struct lks_fetch *fetch,
                               const struct lks_cancel *cancel,
                               struct lks_fetch_cost *cost,
                               struct lks_error *error);

#endif
