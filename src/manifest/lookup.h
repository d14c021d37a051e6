/*
 * Finding a step's entry: in the head's tail, or in the index block that the
 * step's number names.
 */
#ifndef LKS_MANIFEST_LOOKUP_H
#define LKS_MANIFEST_LOOKUP_H

#include "format/index.h"
#include "manifest/log.h"

/* Keeps the last block. Belongs to one thread at a time. */
struct lks_lookup {
    struct lks_stream *stream;
    const struct lks_cancel *cancel;
    struct lks_index *index;
    uint64_t number; /* of `index`, if there is one */
    uint64_t get_count;
    uint64_t fetched_size; /* bytes of blocks and footers read */
};

void lks_lookup_init(struct lks_lookup *lookup,
                     struct lks_stream *stream,
                     const struct lks_cancel *cancel);
void lks_lookup_done(struct lks_lookup *lookup);

/*
 * The entry of `step` < next_step of the log's head. What it points to lives
 * until the next call, or until the log's head changes. When the block is
 * missing, the newest manifest decides: LKS_RECLAIMED with the first live step,
 * else LKS_CORRUPT.
 */
enum lks_status lks_lookup_entry(struct lks_lookup *lookup,
                                 struct lks_log *log,
                                 uint64_t step,
                                 struct lks_entry *out_entry,
                                 struct lks_error *error);

/*
 * The footer of a step's TGB, checked against its entry. The bytes it points
 * into go to `buf`, the caller's; released with lks_footer_done().
 */
enum lks_status lks_lookup_footer(struct lks_stream *stream,
                                  const struct lks_entry *entry,
                                  const struct lks_cancel *cancel,
                                  struct lks_buf *buf,
                                  struct lks_footer *out_footer,
                                  struct lks_error *error);

/* LKS_RECLAIMED for a step below the first live one. Where a fork's step never
 * was in the fork, it names the parent to read it in. */
enum lks_status lks_lookup_reclaimed(const struct lks_stream *stream,
                                     uint64_t step,
                                     uint64_t first_live_step,
                                     struct lks_error *error);

/*
 * What a missing object of `step` means: looks at the newest manifest afresh
 * and returns LKS_RECLAIMED with the first live step, or LKS_CORRUPT naming
 * the object.
 */
enum lks_status lks_lookup_explain(struct lks_stream *stream,
                                   const struct lks_cancel *cancel,
                                   uint64_t step,
                                   const char *name,
                                   struct lks_error *error);

#endif
