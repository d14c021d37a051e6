/*
 * A batch: one rank's slices of one training step, with the memory they stand
 * in. It needs its consumer only until it is handed out.
 */
#ifndef LKS_CONSUMER_BATCH_H
#define LKS_CONSUMER_BATCH_H

#include "base/pool.h"
#include "consumer/mesh.h"
#include "consumer/shelf.h"
#include "format/entry.h"
#include "manifest/stream.h"

/* An entry that owns what it points to. It must not be moved. */
struct lks_source {
    struct lks_entry entry;
    char producer[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t frames[LKS_TABLE_INLINE_MAX];
};

/* One read: neighbouring frames of one TGB, into memory of the batch. */
struct lks_fetch {
    struct lks_job job;
    struct lks_batch *batch;
    size_t place;   /* of its first slice among the batch's */
    uint32_t index; /* of that slice in the TGB */
    uint32_t count; /* of slices */
    uint64_t offset;
    uint64_t size;
    struct lks_block stored;   /* as read; none once nothing points into it */
    struct lks_block unpacked; /* none unless a slice was packed */
};

struct lks_planner;

struct lks_batch {
    struct lks_stream *stream;
    uint64_t step;
    uint64_t next_step;
    size_t slice_count;
    struct lks_slice *slices;
    uint64_t *frame_sizes; /* by slice, as stored */
    size_t fetch_count;
    struct lks_fetch *fetches;
    struct lks_source first;  /* the training step's first TGB: its metadata */
    struct lks_source source; /* the TGB that is read */

    /* The footer of `first`, once the metadata was asked for. */
    struct lks_buf footer_bytes;
    struct lks_footer footer;
    bool footer_is_read;

    struct lks_shelf *shelf;     /* where its memory goes; may be NULL */
    struct lks_planner *planner; /* for its jobs */
    struct lks_job table_job;

    struct {
        bool laid_out; /* the fetches know their ranges */
        bool failed;   /* for good, and `error` says why */
        size_t fetches_left;
        uint64_t payload_size;  /* of the slices, as appended */
        uint64_t reserved;      /* bytes of the prefetch budget */
        uint64_t ready_size;    /* bytes that were fetched */
        struct lks_error error; /* or the last trouble, while it goes on */
    } locked; /* by the prefetch's monitor, until it is handed out */
};

/* For the training step that begins at `step`, without sources yet. `shelf` may
 * be NULL. */
enum lks_status lks_batch_new(struct lks_stream *stream,
                              struct lks_shelf *shelf,
                              const struct lks_share *share,
                              uint64_t step,
                              struct lks_batch **out_batch,
                              struct lks_error *error);
void lks_batch_free(struct lks_batch *batch);

void lks_source_set(struct lks_source *source, const struct lks_entry *entry);

/* Gives the fetches their ranges. The table's frames must be known. */
enum lks_status lks_batch_lay_out(struct lks_batch *batch,
                                  const struct lks_table *table,
                                  struct lks_error *error);

/* The same from the TGB's footer, which it reads. */
enum lks_status lks_batch_read_table(struct lks_batch *batch,
                                     const struct lks_cancel *cancel,
                                     struct lks_error *error);

/* The most memory that its slices take on their way; it must be laid out. */
uint64_t lks_batch_memory(const struct lks_batch *batch);

/* Reads the footer of the first TGB, the first time. */
enum lks_status lks_batch_read_meta(struct lks_batch *batch,
                                    const void **out_data,
                                    size_t *out_size,
                                    struct lks_error *error);

#endif
