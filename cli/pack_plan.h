/*
 * What `pack` was asked for, and where in a TGB each token goes.
 */
#ifndef LAKESTREAM_CLI_PACK_PLAN_H
#define LAKESTREAM_CLI_PACK_PLAN_H

#include "args.h"
#include "safetensors.h"
#include "token_file.h"

struct pack_plan {
    /* As asked for. */
    uint64_t seq_len;
    uint64_t micro_batch;
    uint64_t shard; /* this one of `shard_count` */
    uint64_t shard_count;
    enum token_type bin_type;
    int64_t pad_token;
    bool drop_last;
    bool labels;
    bool zigzag;
    bool recheck_all;
    bool finish;

    /* As the files have it. */
    enum token_type type;

    /* As follows from the mesh. A chunk is what stays together in the cut: the
     * tokens of a TGB are its chunks in order. */
    uint64_t slice_count;
    uint64_t cp;
    uint64_t chunk_tokens;
    uint64_t chunks_per_sequence;
    uint64_t chunk_count;
    uint64_t tensor_size; /* of one slice */
    size_t slice_size;
    size_t slice_stride; /* from slice to slice in a buffer */
    size_t header_size;
    char header[SAFETENSORS_HEADER_SIZE_MAX];
};

/* From the command line; EXIT_USAGE after a line on stderr. */
int pack_plan_parse(struct pack_plan *plan, const struct args *args);

/* For this mesh and type. LKS_INVALID if the rows cannot be cut like that. */
enum lks_status pack_plan_fit(struct pack_plan *plan,
                              uint32_t dp,
                              uint32_t cp,
                              enum token_type type,
                              struct lks_error *error);

uint64_t pack_plan_tgb_tokens(const struct pack_plan *plan);
size_t pack_plan_tgb_size(const struct pack_plan *plan);

/* Where in a buffer chunk `index` of the tensor `tokens` lies. Its labels lie
 * tensor_size behind. */
uint8_t *pack_plan_chunk(const struct pack_plan *plan,
                         uint8_t *buffer,
                         uint64_t index);

const char *pack_plan_cp_layout(const struct pack_plan *plan);

#endif
