/*
 * Packing slices: none, lz4, zstd.
 */
#ifndef LKS_FORMAT_CODEC_H
#define LKS_FORMAT_CODEC_H

#include <stddef.h>

#include "base/error.h"

/* Stored in frames, and in this order in the option "codec". */
enum lks_codec {
    LKS_CODEC_NONE = 0,
    LKS_CODEC_LZ4 = 1,
    LKS_CODEC_ZSTD = 2,
};

/* The most bytes that packing `size` bytes may take. */
size_t lks_codec_bound(enum lks_codec codec, size_t size);

/* Packs into `packed` of lks_codec_bound() bytes. Not for LKS_CODEC_NONE. */
enum lks_status lks_codec_pack(enum lks_codec codec,
                               int level,
                               const void *data,
                               size_t size,
                               void *packed,
                               size_t packed_size,
                               size_t *out_size,
                               struct lks_error *error);

/* Unpacks to exactly `size` bytes, else LKS_CORRUPT. */
enum lks_status lks_codec_unpack(enum lks_codec codec,
                                 const void *packed,
                                 size_t packed_size,
                                 void *data,
                                 size_t size,
                                 struct lks_error *error);

#endif
