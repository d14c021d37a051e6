/*
 * The share of a rank. With fewer data ranks than the stream has, each reads
 * several neighbours' slices; with more, several TGBs in a row make one
 * training step. docs/protocol.md, "Reading".
 */
#include "consumer/mesh.h"

#include <inttypes.h>

#include "format/descriptor.h"

/* `dp` data ranks, of which this is `data_rank`, on a stream of `stream_dp`. */
static enum lks_status share_data(uint32_t stream_dp,
                                  uint32_t dp,
                                  uint32_t data_rank,
                                  struct lks_share *share,
                                  struct lks_error *error)
{
    if (stream_dp % dp == 0) {
        share->group = 1;
        share->place = 0;
        share->slice_count = stream_dp / dp;
        share->slice_first = data_rank * share->slice_count;
        return LKS_OK;
    }
    if (dp % stream_dp == 0) {
        share->group = dp / stream_dp;
        share->place = data_rank / stream_dp;
        share->slice_count = 1;
        share->slice_first = data_rank % stream_dp;
        return LKS_OK;
    }
    return lks_error_set(error, LKS_INVALID,
                         "dp %" PRIu32 " neither divides the stream's dp "
                         "%" PRIu32 " nor is a multiple of it",
                         dp, stream_dp);
}

enum lks_status lks_share_find(uint32_t stream_dp,
                               uint32_t stream_cp,
                               uint32_t rank,
                               uint32_t dp,
                               uint32_t cp,
                               struct lks_share *out_share,
                               struct lks_error *error)
{
    struct lks_share share;
    enum lks_status status;

    if (dp == 0)
        dp = stream_dp;
    if (cp == 0)
        cp = stream_cp;
    status = lks_mesh_check(dp, cp, error);
    if (status != LKS_OK)
        return status;
    if (cp != stream_cp)
        return lks_error_set(error, LKS_INVALID,
                             "cp %" PRIu32 " is not the stream's cp %" PRIu32
                             ": raw slices can't be split or joined along cp",
                             cp, stream_cp);
    if (rank >= dp * cp)
        return lks_error_set(error, LKS_INVALID,
                             "rank %" PRIu32 " is not in a mesh of dp %" PRIu32
                             " x cp %" PRIu32 ": ranks go from 0 to %" PRIu32,
                             rank, dp, cp, dp * cp - 1);

    status = share_data(stream_dp, dp, rank / cp, &share, error);
    if (status != LKS_OK)
        return status;
    share.slice_first = share.slice_first * cp + rank % cp;
    share.slice_stride = cp;
    *out_share = share;
    return LKS_OK;
}
