/*
 * lakestream bench commit: what a commit, an open, a poll and a lookup cost on
 * a stream of many steps, against a stream of few, and a commit against writing
 * raw objects of its size. docs/benchmarks/flat-cost.md has results.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_commit.h"
#include "bench_folder.h"
#include "commands.h"
#include "interrupt.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "steps",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "100000",
     .min = 1,
     .max = 1000000000,
     .text = "steps of the long stream"},
    {.name = "small-steps",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "1000",
     .min = 1,
     .max = 1000000000,
     .text = "steps of the short one"},
    {.name = "producers-in-map",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "0",
     .min = 0,
     .max = 4095, /* and the one that commits */
     .text = "other producers of both, with offsets of 256 bytes"},
    {.name = "slice-size",
     .type = ARG_SIZE,
     .value = "SIZE",
     .preset = "64",
     .min = 1,
     .max = LKS_SLICE_SIZE_MAX,
     .text = "bytes of a step"},
    {.name = "pairs",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "100",
     .min = 7,
     .max = BENCH_PAIRS_MAX,
     .text = "measurements of each"},
};

static struct bench_stream *new_stream(const struct bench *bench,
                                       const char *name)
{
    struct bench_stream *target = calloc(1, sizeof(*target));

    if (target != NULL)
        snprintf(target->url, sizeof(target->url), "%s/%s", bench->url, name);
    return target;
}

/* In a folder all is removed as files at the end, which is quicker. */
static void drop(const struct bench *bench, struct bench_stream *target)
{
    struct lks_stream *stream = NULL;
    char *json = NULL;

    if (target == NULL || bench_folder_is(target->url))
        return;
    if (lks_stream_open(target->url, bench->args->options, &stream, NULL) !=
        LKS_OK)
        return;
    if (lks_stream_drop(stream, 1, bench->args->options, &json, NULL) == LKS_OK)
        lks_text_free(json);
    lks_stream_close(stream);
}

/* Once for warming up, then pairs, in changing order. */
static enum lks_status measure(struct bench *bench,
                               struct bench_stream *small,
                               struct bench_stream *large,
                               struct lks_error *error)
{
    struct bench_stream *targets[] = {small, large};
    enum lks_status status = LKS_OK;
    struct progress progress;

    progress_start(&progress, bench->title, bench->pairs, true);
    for (uint64_t i = 0; i <= bench->pairs && status == LKS_OK; i++) {
        for (uint64_t k = 0; k < 2 && status == LKS_OK; k++)
            status = bench_commit_round(bench, targets[(i + k) % 2],
                                        i == 0 ? 0 : i - 1, error);
        progress_show(&progress, i);
    }
    progress_stop(&progress);
    return status;
}

static int run_open(struct bench *bench)
{
    struct bench_stream *small = new_stream(bench, "small");
    struct bench_stream *large = new_stream(bench, "large");
    uint64_t map_count = args_number(bench->args, "producers-in-map");
    enum lks_status status;
    struct lks_error error;
    int code;

    if (small == NULL || large == NULL)
        status = fail(&error, LKS_NO_MEMORY, "out of memory");
    else
        status = bench_commit_build(bench, small,
                                    args_number(bench->args, "small-steps"),
                                    map_count, &error);
    if (status == LKS_OK)
        status =
            bench_commit_build(bench, large, args_number(bench->args, "steps"),
                               map_count, &error);
    if (status == LKS_OK)
        status = measure(bench, small, large, &error);
    code = status == LKS_OK
               ? bench_commit_report(bench, small, large, map_count)
               : report_error(bench->args, &error);
    drop(bench, small);
    drop(bench, large);
    free(small);
    free(large);
    return code;
}

static int run(struct args *args)
{
    struct bench bench = {
        .args = args,
        .title = "commit",
        .slice_size = args_number(args, "slice-size"),
        .slices = 1,
        .pairs = args_number(args, "pairs"),
    };
    struct lks_error error;
    int code;

    bench.tgb_size = bench.slice_size;
    if (bench_open(&bench, &error) == LKS_OK)
        code = run_open(&bench);
    else
        code = report_error(args, &error);
    if (bench.store != NULL) {
        lks_object_remove(bench.store, "raw/tgb", NULL);
        lks_object_remove(bench.store, "raw/manifest", NULL);
    }
    bench_close(&bench);
    return code;
}

const struct command command_bench_commit = {
    .name = "bench commit",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "producer|consumer|run|change",
    .reports = true,
    .text = "Measure commits, opens, polls and lookups on a long stream and a "
            "short one",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
