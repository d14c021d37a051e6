/*
 * Codecs: one-shot calls of lz4 and zstd, never trusted to stay in bounds
 * without our own.
 *
 * A context per call: slices are large, and a producer packs them on the thread
 * that appends, so there is nothing to keep between two.
 */
#include "format/codec.h"

#include <assert.h>
#include <lz4.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

_Static_assert(LKS_SLICE_SIZE_MAX <= LZ4_MAX_INPUT_SIZE,
               "lz4 takes every slice");

/* lz4 wants an address even for nothing. */
static const char nothing[1];

size_t lks_codec_bound(enum lks_codec codec, size_t size)
{
    assert(size <= LKS_SLICE_SIZE_MAX);

    switch (codec) {
    case LKS_CODEC_LZ4:
        return (size_t)LZ4_compressBound((int)size);
    case LKS_CODEC_ZSTD:
        return ZSTD_compressBound(size);
    case LKS_CODEC_NONE:
        break;
    }
    return size;
}

static enum lks_status zstd_failed(size_t code,
                                   const char *what,
                                   struct lks_error *error)
{
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        return lks_error_no_memory(error);
    return lks_error_set(error, LKS_CORRUPT, "zstd cannot %s: %s", what,
                         ZSTD_getErrorName(code));
}

static enum lks_status pack_zstd(int level,
                                 const void *data,
                                 size_t size,
                                 void *packed,
                                 size_t packed_size,
                                 size_t *out_size,
                                 struct lks_error *error)
{
    size_t result = ZSTD_compress(packed, packed_size, data, size, level);

    if (ZSTD_isError(result))
        return zstd_failed(result, "pack the slice", error);
    *out_size = result;
    return LKS_OK;
}

static enum lks_status pack_lz4(const void *data,
                                size_t size,
                                void *packed,
                                size_t packed_size,
                                size_t *out_size,
                                struct lks_error *error)
{
    int result = LZ4_compress_default(size == 0 ? nothing : data, packed,
                                      (int)size, (int)packed_size);

    if (result <= 0)
        return lks_error_set(error, LKS_INVALID,
                             "lz4 cannot pack a slice of %zu bytes", size);
    *out_size = (size_t)result;
    return LKS_OK;
}

enum lks_status lks_codec_pack(enum lks_codec codec,
                               int level,
                               const void *data,
                               size_t size,
                               void *packed,
                               size_t packed_size,
                               size_t *out_size,
                               struct lks_error *error)
{
    assert(codec != LKS_CODEC_NONE);
    assert(size <= LKS_SLICE_SIZE_MAX);
    assert(packed_size >= lks_codec_bound(codec, size));

    if (codec == LKS_CODEC_ZSTD)
        return pack_zstd(level, data, size, packed, packed_size, out_size,
                         error);
    return pack_lz4(data, size, packed, lks_codec_bound(codec, size), out_size,
                    error);
}

static enum lks_status unpack_zstd(const void *packed,
                                   size_t packed_size,
                                   void *data,
                                   size_t size,
                                   struct lks_error *error)
{
    size_t result = ZSTD_findFrameCompressedSize(packed, packed_size);

    /* zstd itself would take none for nothing, and several for their sum. */
    if (!ZSTD_isError(result) && result != packed_size)
        return lks_error_set(error, LKS_CORRUPT,
                             "the slice is not packed as one zstd frame");
    if (!ZSTD_isError(result))
        result = ZSTD_decompress(data, size, packed, packed_size);
    if (ZSTD_isError(result))
        return zstd_failed(result, "unpack the slice", error);
    if (result != size)
        return lks_error_set(error, LKS_CORRUPT,
                             "the slice unpacks to %zu bytes instead of %zu",
                             result, size);
    return LKS_OK;
}

static enum lks_status unpack_lz4(const void *packed,
                                  size_t packed_size,
                                  void *data,
                                  size_t size,
                                  struct lks_error *error)
{
    char none;
    int result = LZ4_decompress_safe(packed, size == 0 ? &none : data,
                                     (int)packed_size, (int)size);

    if (result < 0 || (size_t)result != size)
        return lks_error_set(error, LKS_CORRUPT,
                             "lz4 cannot unpack the slice to %zu bytes", size);
    return LKS_OK;
}

enum lks_status lks_codec_unpack(enum lks_codec codec,
                                 const void *packed,
                                 size_t packed_size,
                                 void *data,
                                 size_t size,
                                 struct lks_error *error)
{
    if (size > LKS_SLICE_SIZE_MAX || packed_size > LZ4_MAX_INPUT_SIZE)
        return lks_error_set(error, LKS_CORRUPT,
                             "a slice of %zu bytes is too large", size);

    switch (codec) {
    case LKS_CODEC_LZ4:
        return unpack_lz4(packed, packed_size, data, size, error);
    case LKS_CODEC_ZSTD:
        return unpack_zstd(packed, packed_size, data, size, error);
    case LKS_CODEC_NONE:
        break;
    }
    if (packed_size != size)
        return lks_error_set(error, LKS_CORRUPT,
                             "the slice has %zu bytes instead of %zu",
                             packed_size, size);
    if (size > 0)
        memcpy(data, packed, size);
    return LKS_OK;
}
