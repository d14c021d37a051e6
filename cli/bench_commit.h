/*
 * What `bench commit` is made of: a stream of so many steps, and one round of
 * measurements of it. Two streams, a short one and a long one, are measured in
 * turns, so that what they cost can be compared.
 */
#ifndef LAKESTREAM_CLI_BENCH_COMMIT_H
#define LAKESTREAM_CLI_BENCH_COMMIT_H

#include "bench.h"
#include "progress.h"

#define BENCH_COMMIT_BLOCK 256u /* steps that a manifest may list itself */

/* What is measured, from nothing open to the result unless said otherwise. */
enum bench_cost {
    COST_COMMIT,        /* one TGB, appended and flushed by an open producer */
    COST_OPEN_PRODUCER, /* that was there before */
    COST_OPEN_CONSUMER, /* at the newest step, until that is in hand */
    COST_POLL,          /* by an open consumer, for a step just committed */
    COST_LOOKUP,        /* of a slice of step 0 */
    COST_RAW,           /* writing two objects as large as a commit's */
    COST_COUNT,
};

enum bench_field {
    FIELD_MS,
    FIELD_REQUESTS,
    FIELD_BYTES_READ,
    FIELD_BYTES_WRITTEN,
    FIELD_COUNT,
};

struct bench_stream {
    char url[BENCH_URL_SIZE + 64];
    uint64_t steps;
    double build_seconds;
    uint64_t version; /* when built, as the next */
    uint64_t manifest_size;
    double samples[COST_COUNT][FIELD_COUNT][BENCH_PAIRS_MAX];
};

/*
 * Creates the stream at target->url with `steps` steps, which becomes a whole
 * number of blocks: then streams of any length are alike in what their newest
 * manifest lists. `map_count` producers are in it, with offsets as long as they
 * may be. Fills in the rest.
 */
enum lks_status bench_commit_build(struct bench *bench,
                                   struct bench_stream *target,
                                   uint64_t steps,
                                   uint64_t map_count,
                                   struct lks_error *error);

/* Takes sample `index` of each cost. */
enum lks_status bench_commit_round(struct bench *bench,
                                   struct bench_stream *target,
                                   size_t index,
                                   struct lks_error *error);

/* Prints what `bench->pairs` samples of each say. An exit code. */
int bench_commit_report(const struct bench *bench,
                        struct bench_stream *small,
                        struct bench_stream *large,
                        uint64_t map_count);

#endif
