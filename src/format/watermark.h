/*
 * A watermark: the oldest step that a rank of a run may still replay. JSON, its
 * last key a checksum of all before, as the descriptor has it.
 */
#ifndef LKS_FORMAT_WATERMARK_H
#define LKS_FORMAT_WATERMARK_H

#include "base/buf.h"
#include "format/names.h"

#define LKS_WATERMARK_SIZE_MAX 1024u

/* `name` is the object's own, so that a copy under another is refused. */
enum lks_status lks_watermark_encode(const uint8_t stream[LKS_ID_SIZE],
                                     const char *name,
                                     uint64_t step,
                                     struct lks_buf *buf,
                                     struct lks_error *error);

/* LKS_CORRUPT says what is off; LKS_UNSUPPORTED for a newer format. */
enum lks_status lks_watermark_decode(const void *data,
                                     size_t size,
                                     const uint8_t stream[LKS_ID_SIZE],
                                     const char *name,
                                     uint64_t *out_step,
                                     struct lks_error *error);

#endif
