/*
 * stream.json: what is fixed for ever when a stream is created. JSON, its last
 * key a checksum of all before.
 */
#ifndef LKS_FORMAT_DESCRIPTOR_H
#define LKS_FORMAT_DESCRIPTOR_H

#include "base/buf.h"
#include "format/names.h"

#define LKS_FORMAT_VERSION 1u
#define LKS_DESCRIPTOR_SIZE_MAX (64u << 10)

struct lks_descriptor {
    uint32_t format;
    uint8_t stream[LKS_ID_SIZE];
    uint32_t dp;
    uint32_t cp;
    /* What version 0 starts with. */
    uint32_t producers_to_end;
    uint64_t max_live_steps;
    uint64_t max_live_bytes;
    uint64_t first_step; /* 0 but for forks */
    int64_t created_ms;
    char *probe;      /* JSON object; NULL: none */
    char *parent_url; /* NULL: no fork */
    uint8_t parent_stream[LKS_ID_SIZE];
    char *ancestors; /* JSON array: the parent's, the nearest first; NULL */
};

/* Streams before the parent that a fork remembers. */
#define LKS_ANCESTORS_MAX 16u

/* LKS_INVALID for a mesh of 0, or of more than LKS_SLICE_COUNT_MAX. */
enum lks_status lks_mesh_check(uint32_t dp,
                               uint32_t cp,
                               struct lks_error *error);

enum lks_status lks_descriptor_encode(const struct lks_descriptor *descriptor,
                                      struct lks_buf *buf,
                                      struct lks_error *error);

/* LKS_UNSUPPORTED for a newer format or a required feature we do not know. */
enum lks_status lks_descriptor_decode(const void *data,
                                      size_t size,
                                      struct lks_descriptor *out_descriptor,
                                      struct lks_error *error);

/*
 * What a stream that continues `parent` at `step` is described by: its mesh and
 * where it comes from. The limits are left to the caller.
 */
enum lks_status lks_descriptor_fork(const struct lks_descriptor *parent,
                                    const char *parent_url,
                                    uint64_t step,
                                    struct lks_descriptor *out_fork,
                                    struct lks_error *error);
void lks_descriptor_done(struct lks_descriptor *descriptor);

#endif
