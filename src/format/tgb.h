/*
 * A TGB object: frames, one per slice and in order of rank, then a footer.
 *
 *     frame   64 bytes of header, the payload, zeroes up to a multiple of 64
 *     footer  a Footer message, then a trailer of 32 bytes
 *
 * Every byte is under a checksum or checked to be zero, so that a rank needs
 * nothing but its own frames to know that they are right (docs/format.md).
 */
#ifndef LKS_FORMAT_TGB_H
#define LKS_FORMAT_TGB_H

#include <stdbool.h>

#include "base/buf.h"
#include "format/codec.h"
#include "format/names.h"

#define LKS_FRAME_ALIGN 64u
#define LKS_FRAME_HEADER_SIZE 64u
#define LKS_TRAILER_SIZE 32u
#define LKS_FOOTER_SIZE_MAX (2u << 20)

/* What one frame's header says. */
struct lks_frame {
    enum lks_codec codec;
    uint32_t index;       /* of the slice */
    uint64_t seq;         /* of the TGB */
    uint64_t raw_size;    /* of the slice as appended */
    uint64_t stored_size; /* of the payload */
    uint32_t payload_crc; /* CRC32C of the payload as stored */
};

/* Bytes that a frame takes whose payload has `stored_size` bytes. */
uint64_t lks_frame_size(uint64_t stored_size);

void lks_frame_encode(const struct lks_frame *frame,
                      uint8_t header[LKS_FRAME_HEADER_SIZE]);

/*
 * Checks a whole frame, header, payload and padding, of `size` bytes at
 * `bytes`, that must be slice `index` of TGB `seq`. The payload then stands at
 * bytes + LKS_FRAME_HEADER_SIZE. LKS_CORRUPT says what is off.
 */
enum lks_status lks_frame_decode(const uint8_t *bytes,
                                 uint64_t size,
                                 uint32_t index,
                                 uint64_t seq,
                                 struct lks_frame *out_frame,
                                 struct lks_error *error);

/*
 * Where the frames of a TGB stand. Uniform: all have one length. Inline: each
 * its own, the table small enough for an entry. Footer: as inline, but the
 * table is only in the object.
 */
#define LKS_TABLE_INLINE_MAX 8u

enum lks_table_kind {
    LKS_TABLE_UNIFORM,
    LKS_TABLE_INLINE,
    LKS_TABLE_FOOTER,
};

struct lks_table {
    enum lks_table_kind kind;
    uint32_t count;         /* of slices */
    uint64_t uniform;       /* UNIFORM: a frame's length */
    const uint64_t *frames; /* INLINE, or FOOTER once the footer was read */
};

/* Which kind such frames make. */
enum lks_table_kind lks_table_kind_of(const uint64_t *frames, uint32_t count);

/* The range of `count` consecutive frames from `index` on. `frames` must be
 * known. */
void lks_table_range(const struct lks_table *table,
                     uint32_t index,
                     uint32_t count,
                     uint64_t *out_offset,
                     uint64_t *out_size);

/* All that a footer says. Pointers are borrowed from what was decoded. */
struct lks_footer {
    uint8_t stream[LKS_ID_SIZE];
    uint32_t dp;
    uint32_t cp;
    const char *producer;
    uint64_t epoch;
    uint8_t owner[LKS_ID_SIZE];
    uint64_t seq;
    const void *offset_before;
    size_t offset_before_size;
    const void *offset_after;
    size_t offset_after_size;
    const void *meta;
    size_t meta_size;
    uint64_t raw_max;
    const uint64_t *frames; /* encoding: all dp * cp of them; decoding: NULL
                               when uniform */
    uint64_t uniform;       /* decoding: 0 when not */
    void *message;          /* what the decoded pointers live in */
};

/* Appends message and trailer. `frames_size` is the sum of the frames: where
 * the footer begins. */
enum lks_status lks_footer_encode(const struct lks_footer *footer,
                                  uint64_t frames_size,
                                  struct lks_buf *buf,
                                  struct lks_error *error);

/*
 * Decodes a whole footer that ends at the end of an object of `object_size`
 * bytes; checks that the frames fill what is before it. To be released with
 * lks_footer_done().
 */
enum lks_status lks_footer_decode(const uint8_t *bytes,
                                  size_t size,
                                  uint64_t object_size,
                                  struct lks_footer *out_footer,
                                  struct lks_error *error);
void lks_footer_done(struct lks_footer *footer);

/* For objects met without an entry: the footer's size, trailer included, from
 * the object's last LKS_TRAILER_SIZE bytes. */
enum lks_status lks_trailer_decode(const uint8_t bytes[LKS_TRAILER_SIZE],
                                   uint64_t object_size,
                                   uint32_t *out_footer_size,
                                   struct lks_error *error);

#endif
