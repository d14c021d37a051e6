/*
 * Memory that released batches leave to those that are fetched next.
 *
 * A fresh block of this size comes from the system page by page, which costs
 * about as much as filling it; a used one costs nothing.
 */
#ifndef LKS_CONSUMER_SHELF_H
#define LKS_CONSUMER_SHELF_H

#include "base/env.h"

#define LKS_SHELF_BLOCKS_MAX 1024u
/* Smaller ones are cheap anyway, on the heap. */
#define LKS_SHELF_BLOCK_MIN (64u << 10)

/* What a consumer may keep beyond its budget: the caller holds a batch while
 * the next one is fetched. */
#define LKS_SHELF_SLACK (32u << 20)

/* Zeroed: none. */
struct lks_block {
    uint8_t *data; /* at a multiple of LKS_FRAME_ALIGN */
    size_t size;
    uint32_t processor; /* of who fills it, and has it in its cache */
};

/* Where blocks come from, if not from the heap; zeroed: from there. */
struct lks_block_source {
    lks_allocate_fn *allocate;
    lks_deallocate_fn *deallocate;
    lks_release_fn *release; /* may be NULL */
    void *arg;
};

/* Counted: batches outlive the consumer that made it. */
struct lks_shelf;

/* Blocks that are in use and those that lie there together have at most
 * `size_max` bytes, or none lies there. The source is released with the last
 * holder. */
enum lks_status lks_shelf_new(const struct lks_env *env,
                              uint64_t size_max,
                              const struct lks_block_source *source,
                              struct lks_shelf **out_shelf,
                              struct lks_error *error);
struct lks_shelf *lks_shelf_acquire(struct lks_shelf *shelf);
void lks_shelf_release(struct lks_shelf *shelf);

/* A block of `size` bytes, or little more. Without a shelf (NULL) it is a fresh
 * one from the heap. LKS_INVALID if the source does not align. */
enum lks_status lks_shelf_take(struct lks_shelf *shelf,
                               size_t size,
                               struct lks_block *out_block,
                               struct lks_error *error);

/* Lays it back, or frees it; it is no block then. None is fine. */
void lks_shelf_give(struct lks_shelf *shelf, struct lks_block *block);

#endif
