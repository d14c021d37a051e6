/*
 * lakestream bench reclaim: what a training run stores that is reclaimed behind
 * its checkpoints, against all of its bytes, which a raw store would keep; and
 * what a removal costs, against removing raw objects one by one. The producer
 * is always as far ahead as the limit lets it be: the most that can be stored.
 * docs/benchmarks/reclaim.md has results, with real processes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "bench.h"
#include "commands.h"
#include "freed.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

#define GROUP "bench"

static const struct arg_option options[] = {
    {.name = "steps",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "1010",
     .min = 1,
     .max = 1000000,
     .text = "steps of the run"},
    {.name = "checkpoint-every",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "100",
     .min = 1,
     .max = 1000000,
     .text = "steps from one checkpoint to the next"},
    {.name = "kept",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "2",
     .min = 1,
     .max = 1000,
     .text = "checkpoints that are kept"},
    {.name = "live-steps",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "283",
     .min = 1,
     .max = 1000000,
     .text = "the stream's limit of live steps"},
    {.name = "slice-size",
     .type = ARG_SIZE,
     .value = "SIZE",
     .preset = "64KiB",
     .min = 1,
     .max = LKS_SLICE_SIZE_MAX,
     .text = "bytes of a step"},
};

struct training {
    struct bench *bench;
    struct lks_stream *stream;
    struct lks_producer *producer;
    uint64_t steps, interval, kept, limit;

    uint64_t added;   /* steps that the producer has committed */
    uint64_t trained; /* and that the trainer has done */
    uint64_t oldest;  /* of the checkpoints that are kept */

    uint64_t peak, end; /* stored bytes */
    uint64_t reclaims, removed_count, removed_size, requests;
    double seconds;
    double raw_seconds; /* for removing as many raw objects as data objects */
    uint64_t data_count;
};

/* Appends all that the limit has room for. */
static enum lks_status add(struct training *training, struct lks_error *error)
{
    struct bench *bench = training->bench;
    const struct lks_slice slice = {bench->payload, bench->slice_size};
    enum lks_status status = LKS_OK;

    for (; training->added < training->steps &&
           training->added < training->oldest + training->limit &&
           status == LKS_OK;
         training->added++)
        status = lks_producer_append(training->producer, &slice, 1,
                                     &training->added, sizeof(training->added),
                                     NULL, 0, NULL, NULL, error);
    return status == LKS_OK ? lks_producer_flush(training->producer, error)
                            : status;
}

static enum lks_status live_bytes(struct training *training,
                                  uint64_t *out_size,
                                  struct lks_error *error)
{
    char *text = NULL;
    enum lks_status status = lks_stream_info(training->stream, &text, error);
    json_t *info;

    if (status != LKS_OK)
        return status;
    info = report_parse(text);
    *out_size = (uint64_t)freed_number(info, "live_bytes");
    json_decref(info);
    return LKS_OK;
}

/* What is stored after a reclaim is what is live and what it left; before it,
 * what it removed as well. */
static enum lks_status account(struct training *training,
                               const json_t *report,
                               struct lks_error *error)
{
    const json_t *removed = json_object_get(report, "removed");
    const json_t *left = json_object_get(report, "left");
    uint64_t size = (uint64_t)freed_number(removed, "bytes");
    enum lks_status status = live_bytes(training, &training->end, error);

    if (status != LKS_OK)
        return status;
    training->end +=
        (uint64_t)freed_number(json_object_get(left, "young_manifests"),
                               "bytes");
    if (training->peak < training->end + size)
        training->peak = training->end + size;
    training->reclaims++;
    training->removed_size += size;
    training->removed_count += (uint64_t)freed_number(removed, "count");
    training->data_count +=
        (uint64_t)freed_number(json_object_get(removed, "data"), "count");
    training->requests += (uint64_t)freed_number(report, "requests");
    return LKS_OK;
}

static enum lks_status checkpoint(struct training *training,
                                  struct lks_error *error)
{
    const struct lks_options *given = training->bench->args->options;
    uint64_t span = (training->kept - 1) * training->interval;
    char *text = NULL;
    enum lks_status status;
    double began;
    json_t *report;

    training->oldest = training->trained > span ? training->trained - span : 0;
    status = lks_stream_watermark(training->stream, GROUP, 1, 0,
                                  training->oldest, given, error);
    if (status != LKS_OK)
        return status;
    began = seconds_now();
    status = lks_stream_reclaim(training->stream, 0, given, &text, error);
    training->seconds += seconds_now() - began;
    if (status != LKS_OK)
        return status;
    report = report_parse(text);
    status = account(training, report, error);
    json_decref(report);
    return status;
}

static enum lks_status train(struct training *training, struct lks_error *error)
{
    enum lks_status status = LKS_OK;
    struct progress progress;

    progress_start(&progress, training->bench->title, training->steps, true);
    while (training->trained < training->steps && status == LKS_OK) {
        status = add(training, error);
        training->trained += training->interval;
        if (training->trained > training->steps)
            training->trained = training->steps;
        else if (status == LKS_OK)
            status = checkpoint(training, error);
        progress_show(&progress, training->trained);
    }
    progress_stop(&progress);
    return status;
}

/* As many raw objects as data objects were removed, one by one. */
static enum lks_status remove_raw(struct training *training,
                                  struct lks_error *error)
{
    struct bench *bench = training->bench;
    enum lks_status status = LKS_OK;
    char key[BENCH_KEY_SIZE];
    double began;

    bench->raw_count = training->data_count;
    for (uint64_t i = 0; i < training->data_count && status == LKS_OK; i++) {
        bench_key(i, key);
        status = lks_object_put(bench->store, key, bench->payload,
                                bench->slice_size, error);
    }
    began = seconds_now();
    for (uint64_t i = 0; i < training->data_count && status == LKS_OK; i++) {
        bench_key(i, key);
        status = lks_object_remove(bench->store, key, error);
    }
    training->raw_seconds = seconds_now() - began;
    return status;
}

static int report_training(const struct training *training)
{
    struct bench *bench = training->bench;
    uint64_t raw = training->steps * bench->slice_size;
    json_t *report = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:{s:I, s:I}, s:{s:I, s:I}, "
        "s:f, s:{s:I, s:I, s:I, s:I}, s:{s:f, s:f}}",
        "bench", "reclaim", "url", bench->args->operands[0], "steps",
        (json_int_t)training->steps, "checkpoint_every",
        (json_int_t)training->interval, "kept", (json_int_t)training->kept,
        "live_steps", (json_int_t)training->limit, "slice_size",
        (json_int_t)bench->slice_size, "unit", "bytes", "ours", "peak",
        (json_int_t)training->peak, "end", (json_int_t)training->end, "raw",
        "peak", (json_int_t)raw, "end", (json_int_t)raw, "ratio",
        (double)training->peak / (double)raw, "removed", "reclaims",
        (json_int_t)training->reclaims, "objects",
        (json_int_t)training->removed_count, "bytes",
        (json_int_t)training->removed_size, "requests",
        (json_int_t)training->requests, "remove_seconds", "ours",
        training->seconds, "raw", training->raw_seconds);

    if (bench->args->json)
        return report_json(bench->args, report);
    printf("a run of %" PRIu64 " steps has %" PRIu64 " bytes; reclaimed behind "
           "its checkpoints it stores at most %" PRIu64 ", at the end "
           "%" PRIu64 "\n",
           training->steps, raw, training->peak, training->end);
    printf("peak over all: %.4f\n", (double)training->peak / (double)raw);
    printf("%" PRIu64 " reclaims removed %" PRIu64 " objects with %" PRIu64
           " requests in %.2f s; raw, %" PRIu64 " one by one: %.2f s\n",
           training->reclaims, training->removed_count, training->requests,
           training->seconds, training->data_count, training->raw_seconds);
    json_decref(report);
    return EXIT_DONE;
}

static int run_open(struct training *training)
{
    struct bench *bench = training->bench;
    struct lks_error error;
    enum lks_status status;

    status = bench_create_stream(bench, &training->stream, &error);
    if (status == LKS_OK)
        status =
            lks_producer_open(training->stream, "bench", bench->args->options,
                              &training->producer, &error);
    if (status == LKS_OK) {
        interrupt_watch_producer(training->producer);
        status = train(training, &error);
        interrupt_unwatch(training->producer);
    }
    if (status == LKS_OK)
        status = remove_raw(training, &error);
    lks_producer_close(training->producer);
    bench_drop_stream(bench, training->stream);
    return status == LKS_OK ? report_training(training)
                            : report_error(bench->args, &error);
}

static int run(struct args *args)
{
    struct bench bench = {
        .args = args,
        .title = "reclaim",
        .slice_size = args_number(args, "slice-size"),
        .slices = 1,
    };
    struct training training = {
        .bench = &bench,
        .steps = args_number(args, "steps"),
        .interval = args_number(args, "checkpoint-every"),
        .kept = args_number(args, "kept"),
        .limit = args_number(args, "live-steps"),
    };
    struct lks_error error;
    int code;

    if (training.kept * training.interval > training.limit)
        return report_usage(args->command,
                            "--live-steps %" PRIu64 " has no room for %" PRIu64
                            " checkpoints every %" PRIu64
                            " steps: the trainer would starve",
                            training.limit, training.kept, training.interval);
    bench.tgb_size = bench.slice_size;
    bench.count = training.steps;
    if (lks_options_set(args->options, "max_live_steps",
                        args_text(args, "live-steps"), &error) != LKS_OK)
        return report_usage(args->command, "%s", error.message);
    if (bench_open(&bench, &error) == LKS_OK)
        code = run_open(&training);
    else
        code = report_error(args, &error);
    bench_close(&bench);
    return code;
}

const struct command command_bench_reclaim = {
    .name = "bench reclaim",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "create|producer|consumer|run|change",
    .reports = true,
    .text = "Measure what a run stores that is reclaimed behind its "
            "checkpoints, against all of it",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
