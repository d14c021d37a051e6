/*
 * How a rank's mesh lies over the stream's: which slices of which TGBs are its
 * share of a training step. Pure.
 */
#ifndef LKS_CONSUMER_MESH_H
#define LKS_CONSUMER_MESH_H

#include "base/error.h"

/* The same for every training step: the one that begins at stream step n reads
 * TGB n + place, there slice_count slices, from slice_first on by slice_stride,
 * and the next one begins at n + group. */
struct lks_share {
    uint32_t group;
    uint32_t place;
    uint32_t slice_first;
    uint32_t slice_count;
    uint32_t slice_stride;
};

/*
 * The share of `rank` in a mesh of dp x cp, each 0 for the stream's own.
 * LKS_INVALID says which number does not fit.
 */
enum lks_status lks_share_find(uint32_t stream_dp,
                               uint32_t stream_cp,
                               uint32_t rank,
                               uint32_t dp,
                               uint32_t cp,
                               struct lks_share *out_share,
                               struct lks_error *error);

#endif
