/*
 * Doing many transfers, or the pieces of a large one, several at a time.
 */
#ifndef LKS_STORE_PARALLEL_H
#define LKS_STORE_PARALLEL_H

#include "store/store.h"

#define LKS_PARALLEL_WORKERS_MAX 64u

typedef enum lks_status lks_piece_fn(size_t index,
                                     void *arg,
                                     struct lks_call *call,
                                     struct lks_error *error);

/* Does pieces 0..count-1, this thread being one of `worker_count`. After a
 * failure no further piece is begun; the first one's status and message are
 * returned. What the calls cost is added to `call`. */
enum lks_status lks_parallel(const struct lks_env *env,
                             size_t count,
                             uint32_t worker_count,
                             lks_piece_fn *piece,
                             void *arg,
                             struct lks_call *call,
                             struct lks_error *error);

/* How large the pieces of `size` bytes are: as even as can be, of `part_size`
 * and less than twice that, so that none is a mere tail. */
uint64_t lks_piece_size(uint64_t size, uint64_t part_size);

/* Adds the cost of one call to another's. */
void lks_call_add(struct lks_call *call, const struct lks_call *piece);

#endif
