/*
 * What the benches share: they alternate between the raw store and a stream,
 * at the same sizes and with as much at the same time.
 */
#ifndef LAKESTREAM_CLI_BENCH_H
#define LAKESTREAM_CLI_BENCH_H

#include "args.h"

#define BENCH_WORKERS_MAX 8u /* producers or ranks */
#define BENCH_DEPTH_MAX 64u  /* uploads or fetches of each */
#define BENCH_PAIRS_MAX 1000u
#define BENCH_URL_SIZE 2048u
#define BENCH_KEY_SIZE 32u

/* The options that both benches have. */
#define BENCH_OPTIONS                                                          \
    {.name = "slice-size",                                                     \
     .type = ARG_SIZE,                                                         \
     .value = "SIZE",                                                          \
     .preset = "1MiB",                                                         \
     .min = 1,                                                                 \
     .max = LKS_SLICE_SIZE_MAX,                                                \
     .text = "bytes of a slice"},                                              \
        {.name = "slices",                                                     \
         .type = ARG_COUNT,                                                    \
         .value = "N",                                                         \
         .preset = "4",                                                        \
         .min = 1,                                                             \
         .max = LKS_SLICE_COUNT_MAX,                                           \
         .text = "slices of a TGB"},                                           \
        {.name = "count",                                                      \
         .type = ARG_COUNT,                                                    \
         .value = "N",                                                         \
         .preset = "64",                                                       \
         .min = 1,                                                             \
         .max = 1000000,                                                       \
         .text = "TGBs of each measurement, in all"},                          \
    {                                                                          \
        .name = "pairs", .type = ARG_COUNT, .value = "N", .preset = "7",       \
        .min = 7, .max = BENCH_PAIRS_MAX, .text = "measurements of each side"  \
    }

struct bench {
    struct args *args;
    const char *title;   /* "ingest" */
    const char *workers; /* "producers" */
    const char *depth;   /* "uploads" */
    uint64_t slice_size;
    uint64_t slices;
    uint64_t count;
    uint64_t pairs;
    uint64_t worker_count;
    uint64_t depth_count; /* of each worker */
    uint64_t tgb_size;    /* payload */
    uint64_t object_size; /* of a TGB, and so of a raw object */
    const char *item;     /* what requests are counted by: "tgb" */
    uint64_t item_count;  /* of each measurement */

    char url[BENCH_URL_SIZE];  /* of a fresh prefix below the one given */
    struct lks_store *store;   /* there, for the raw side */
    uint64_t raw_count;        /* raw objects that may be there */
    uint64_t stream_count;     /* made so far: a prefix is used once */
    char stream_name[32];      /* the last one's, below `url` */
    uint8_t *payload;          /* of one object */
    struct lks_stream *stream; /* there, for who reads it; closed with it */
    void *own;                 /* what the command keeps */

    /* Of the last measurement. */
    uint64_t request_count;
    uint64_t commit_count; /* 0 unless it is about them */
    uint64_t commit_request_count;
};

/* One measurement; *out_seconds covers the work and not what is around it. */
typedef enum lks_status bench_measure_fn(struct bench *bench,
                                         double *out_seconds,
                                         struct lks_error *error);

/* `workers` and `depth` are the names of options. Fills in what stands
 * above `url`. Returns an exit code. */
int bench_parse(struct bench *bench,
                struct args *args,
                const char *title,
                const char *workers,
                const char *depth);

enum lks_status bench_open(struct bench *bench, struct lks_error *error);

/* Removes all that was made. */
void bench_close(struct bench *bench);

/* What is compared: the raw store, the same with a checksum over the bytes, as
 * whoever wants to trust them makes it, and a stream. */
struct bench_sides {
    bench_measure_fn *raw;
    bench_measure_fn *raw_crc;
    bench_measure_fn *ours;
};

/* Once for warming up, then in rounds of each; prints the report. An exit
 * code. */
int bench_run(struct bench *bench, const struct bench_sides *sides);

/* Runs `work` in `count` threads at once, each with its index, and takes the
 * time. The first failure is the result. */
typedef enum lks_status bench_work_fn(void *shared,
                                      size_t index,
                                      struct lks_error *error);
enum lks_status bench_threads(size_t count,
                              bench_work_fn *work,
                              void *shared,
                              double *out_seconds,
                              struct lks_error *error);

/* Creates a stream for the bench below its prefix, under a name of its own. */
enum lks_status bench_create_stream(struct bench *bench,
                                    struct lks_stream **out_stream,
                                    struct lks_error *error);

/* Drops the stream, so that its bytes are gone, and closes it. */
void bench_drop_stream(struct bench *bench, struct lks_stream *stream);

/* Requests that the handle has sent so far; one of the two is given. `kind` is
 * as in lks_stream_stats(), or NULL for all. */
uint64_t bench_requests(struct lks_store *store,
                        struct lks_stream *stream,
                        const char *kind);

/* Of a slice with what docs/format.md puts around it, within a TGB. */
uint64_t bench_frame_size(const struct bench *bench);

/* The name of the raw object `index`. */
void bench_key(uint64_t index, char key[BENCH_KEY_SIZE]);

#endif
