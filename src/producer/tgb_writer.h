/*
 * One TGB on its way: framed around the caller's slices, uploaded, waiting to
 * be committed.
 */
#ifndef LKS_PRODUCER_TGB_WRITER_H
#define LKS_PRODUCER_TGB_WRITER_H

#include "base/pool.h"
#include "format/entry.h"
#include "manifest/stream.h"

/* Who writes, and how: the same for all TGBs of a producer. */
struct lks_tgb_writer {
    struct lks_stream *stream;
    const char *producer;
    uint64_t epoch;
    const uint8_t *owner;
    enum lks_codec codec;
    int codec_level;
    uint64_t outage_timeout_ms;
    const struct lks_cancel *cancel;
};

struct lks_offset {
    uint8_t data[LKS_OFFSET_SIZE_MAX];
    uint32_t size;
};

struct lks_tgb;

/* Called by the uploading thread when it is done with the TGB's slices: it is
 * stored, or `status` says why not. */
typedef void lks_tgb_done_fn(struct lks_tgb *tgb,
                             enum lks_status status,
                             const struct lks_error *error,
                             void *arg);

struct lks_tgb {
    struct lks_job job;
    struct lks_tgb *next; /* the producer's queue, in order of seq */
    const struct lks_tgb_writer *writer;
    uint64_t seq;
    uint64_t appended_ns;
    uint64_t held_size; /* what it takes of the producer's budget */
    struct lks_offset before;
    struct lks_offset after;
    lks_release_fn *release;
    void *release_arg;
    lks_tgb_done_fn *done;
    void *done_arg;

    uint32_t slice_count;
    struct lks_slice *slices; /* the caller's bytes, or packed ones */
    uint64_t *frames;
    uint8_t *gaps; /* padding and headers between the payloads */
    void **packed; /* NULL where a slice goes as it is */
    void *meta;
    size_t meta_size;
    struct lks_buf tail; /* last padding, footer */

    uint64_t size; /* of the object; known once it is framed */
    uint32_t footer_size;
    uint32_t footer_crc;
    uint64_t raw_max;
    bool stored; /* under the producer's monitor */
};

/* What an append of these slices takes of the budget. */
uint64_t lks_tgb_held_size(enum lks_codec codec,
                           const struct lks_slice *slices,
                           size_t count,
                           size_t meta_size);

/* Copies the descriptions, not the slices' bytes. */
enum lks_status lks_tgb_new(const struct lks_tgb_writer *writer,
                            const struct lks_slice *slices,
                            size_t count,
                            const void *meta,
                            size_t meta_size,
                            struct lks_tgb **out_tgb,
                            struct lks_error *error);

/* Releases the slices, too, if that has not been done. */
void lks_tgb_free(struct lks_tgb *tgb);

/* The job of the upload pool: frames it, stores it, calls `done`. */
void lks_tgb_upload(struct lks_job *job);

/* What a manifest says of it. Points into the TGB. */
void lks_tgb_entry(const struct lks_tgb *tgb, struct lks_entry *out_entry);

#endif
