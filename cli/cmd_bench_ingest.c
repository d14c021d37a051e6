/*
 * lakestream bench ingest: appending TGBs against putting raw objects of the
 * same sizes.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"
#include "commands.h"
#include "interrupt.h"
#include "report.h"

static const struct arg_option options[] = {
    BENCH_OPTIONS,
    {.name = "producers",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "1",
     .min = 1,
     .max = BENCH_WORKERS_MAX,
     .text = "producers at the same time"},
    {.name = "uploads",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "4",
     .min = 1,
     .max = BENCH_DEPTH_MAX,
     .text = "uploads of each at a time"},
};

struct raw_puts {
    struct bench *bench;
    bool checksum;
    atomic_uint_fast64_t next;
    atomic_uint_fast32_t checksums; /* so that it is not left out */
};

static enum lks_status put_objects(void *shared,
                                   size_t index,
                                   struct lks_error *error)
{
    struct raw_puts *puts = shared;
    struct bench *bench = puts->bench;
    char key[BENCH_KEY_SIZE];
    uint64_t object;

    (void)index;
    while ((object = atomic_fetch_add(&puts->next, 1)) < bench->count) {
        enum lks_status status;

        if (interrupted())
            return fail(error, LKS_CANCELLED, "interrupted");
        bench_key(object, key);
        if (puts->checksum)
            atomic_fetch_xor(&puts->checksums,
                             lks_crc32c(bench->payload, bench->object_size));
        status = lks_object_put(bench->store, key, bench->payload,
                                bench->object_size, error);
        if (status != LKS_OK)
            return status;
    }
    return LKS_OK;
}

static enum lks_status put_all(struct bench *bench,
                               bool checksum,
                               double *out_seconds,
                               struct lks_error *error)
{
    struct raw_puts puts = {.bench = bench, .checksum = checksum};
    uint64_t before = bench_requests(bench->store, NULL, NULL);
    enum lks_status status;
    char key[BENCH_KEY_SIZE];

    bench->raw_count = bench->count;
    status = bench_threads(bench->worker_count * bench->depth_count,
                           put_objects, &puts, out_seconds, error);
    bench->request_count = bench_requests(bench->store, NULL, NULL) - before;
    bench->commit_count = 0;
    for (uint64_t i = 0; i < bench->count && status == LKS_OK; i++) {
        bench_key(i, key);
        status = lks_object_remove(bench->store, key, error);
    }
    return status;
}

static enum lks_status measure_raw(struct bench *bench,
                                   double *out_seconds,
                                   struct lks_error *error)
{
    return put_all(bench, false, out_seconds, error);
}

static enum lks_status measure_raw_crc(struct bench *bench,
                                       double *out_seconds,
                                       struct lks_error *error)
{
    return put_all(bench, true, out_seconds, error);
}

struct appends {
    struct bench *bench;
    struct lks_slice *slices;
    struct lks_producer *producers[BENCH_WORKERS_MAX];
};

static enum lks_status append_tgbs(void *shared,
                                   size_t index,
                                   struct lks_error *error)
{
    struct appends *appends = shared;
    struct bench *bench = appends->bench;
    struct lks_producer *producer = appends->producers[index];
    enum lks_status status = LKS_OK;

    for (uint64_t i = 0; i < bench->count / bench->worker_count; i++) {
        status = lks_producer_append(producer, appends->slices, bench->slices,
                                     &i, sizeof(i), NULL, 0, NULL, NULL, error);
        if (status != LKS_OK)
            return status;
    }
    return lks_producer_flush(producer, error);
}

static enum lks_status open_producers(struct appends *appends,
                                      struct lks_stream *stream,
                                      struct lks_error *error)
{
    struct bench *bench = appends->bench;

    for (uint64_t i = 0; i < bench->worker_count; i++) {
        enum lks_status status;
        char id[32];

        snprintf(id, sizeof(id), "bench-%" PRIu64, i);
        status = lks_producer_open(stream, id, bench->args->options,
                                   &appends->producers[i], error);
        if (status != LKS_OK)
            return status;
        interrupt_watch_producer(appends->producers[i]);
    }
    return LKS_OK;
}

/* All producers' sum of what lks_producer_stats() calls so. */
static uint64_t sum_stats(const struct appends *appends, const char *name)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < appends->bench->worker_count; i++) {
        char *text = NULL;
        json_t *stats;

        if (lks_producer_stats(appends->producers[i], &text, NULL) != LKS_OK)
            continue;
        stats = report_parse(text);
        sum += (uint64_t)json_integer_value(json_object_get(stats, name));
        json_decref(stats);
    }
    return sum;
}

/* Producers that are open have sent requests, and written nothing. A commit's
 * are all but the uploads: the puts that were not tries to commit. */
static enum lks_status append_all(struct appends *appends,
                                  struct lks_stream *stream,
                                  double *out_seconds,
                                  struct lks_error *error)
{
    struct bench *bench = appends->bench;
    uint64_t all = bench_requests(NULL, stream, NULL);
    uint64_t puts = bench_requests(NULL, stream, "puts");
    enum lks_status status;

    status = bench_threads(bench->worker_count, append_tgbs, appends,
                           out_seconds, error);
    puts = bench_requests(NULL, stream, "puts") - puts;
    bench->request_count = bench_requests(NULL, stream, NULL) - all;
    bench->commit_count = sum_stats(appends, "commits");
    bench->commit_request_count =
        bench->request_count - puts + sum_stats(appends, "attempts");
    return status;
}

static enum lks_status measure_ours(struct bench *bench,
                                    double *out_seconds,
                                    struct lks_error *error)
{
    struct appends appends = {
        .bench = bench,
        .slices = calloc(bench->slices, sizeof(*appends.slices)),
    };
    struct lks_stream *stream = NULL;
    enum lks_status status;

    if (appends.slices == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    for (uint64_t i = 0; i < bench->slices; i++) {
        appends.slices[i].data = bench->payload + i * bench->slice_size;
        appends.slices[i].size = bench->slice_size;
    }
    status = bench_create_stream(bench, &stream, error);
    if (status == LKS_OK)
        status = open_producers(&appends, stream, error);
    if (status == LKS_OK)
        status = append_all(&appends, stream, out_seconds, error);
    for (uint64_t i = 0; i < bench->worker_count; i++) {
        interrupt_unwatch(appends.producers[i]);
        lks_producer_close(appends.producers[i]);
    }
    bench_drop_stream(bench, stream);
    free(appends.slices);
    return status;
}

static int run(struct args *args)
{
    const struct bench_sides sides = {measure_raw, measure_raw_crc,
                                      measure_ours};
    struct bench bench;
    struct lks_error error;
    int code;

    code = bench_parse(&bench, args, "ingest", "producers", "uploads");
    if (code != EXIT_DONE)
        return code;
    if (bench_open(&bench, &error) == LKS_OK)
        code = bench_run(&bench, &sides);
    else
        code = report_error(args, &error);
    bench_close(&bench);
    return code;
}

const struct command command_bench_ingest = {
    .name = "bench ingest",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "producer|change",
    .reports = true,
    .text = "Measure appending TGBs against putting raw objects",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
