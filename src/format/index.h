/*
 * An index block: 256 consecutive steps, sealed, and the producers as of the
 * last of them. Made from the manifest whose tail they filled.
 */
#ifndef LKS_FORMAT_INDEX_H
#define LKS_FORMAT_INDEX_H

#include "format/manifest.h"

#define LKS_INDEX_SIZE_MAX LKS_MANIFEST_SIZE_MAX

struct lks_index;

/* The tail of `manifest` must be full. */
enum lks_status lks_index_encode(const struct lks_manifest *manifest,
                                 struct lks_buf *buf,
                                 struct lks_error *error);

enum lks_status lks_index_decode(const uint8_t *bytes,
                                 size_t size,
                                 const uint8_t stream[LKS_ID_SIZE],
                                 uint64_t number,
                                 struct lks_index **out_index,
                                 struct lks_error *error);

/* As lks_manifest_decode_head(). */
enum lks_status lks_index_decode_head(const uint8_t *bytes,
                                      size_t size,
                                      const uint8_t stream[LKS_ID_SIZE],
                                      uint64_t number,
                                      struct lks_index **out_index,
                                      size_t *out_needed,
                                      struct lks_error *error);
void lks_index_free(struct lks_index *index);

/* Whether two encoded blocks say the same, however they were encoded. */
enum lks_status lks_index_compare(const struct lks_buf *left,
                                  const struct lks_buf *right,
                                  const uint8_t stream[LKS_ID_SIZE],
                                  uint64_t number,
                                  bool *out_equal,
                                  struct lks_error *error);

/* The step of its first entry: the block's first, but in a fork's first block,
 * which begins where the fork does. */
uint64_t lks_index_first(const struct lks_index *index);

void lks_index_entry(const struct lks_index *index,
                     uint64_t step,
                     uint32_t slice_count,
                     struct lks_entry *out_entry);

uint32_t lks_index_producer_count(const struct lks_index *index);
void lks_index_producer(const struct lks_index *index,
                        uint32_t place,
                        struct lks_producer_record *out_record);

#endif
