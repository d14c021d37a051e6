/*
 * lakestream consume: a rank's slices in order, to the end of the stream.
 *
 * The end of the stream is success. A step that does not come in time is a
 * failure: a trainer that starves must not look like one that is through.
 */
#include <inttypes.h>
#include <stdio.h>

#include "commands.h"
#include "digest.h"
#include "interrupt.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "rank",
     .type = ARG_COUNT,
     .value = "R",
     .required = true,
     .max = UINT32_MAX,
     .text = "the rank in its mesh, d * cp + c"},
    {.name = "dp",
     .type = ARG_COUNT,
     .value = "D",
     .preset = "0",
     .max = UINT32_MAX,
     .text = "the reader's mesh; 0: the stream's own"},
    {.name = "cp",
     .type = ARG_COUNT,
     .value = "C",
     .preset = "0",
     .max = UINT32_MAX,
     .text = "the same for context-parallel ranks"},
    {.name = "from",
     .type = ARG_COUNT,
     .value = "N",
     .max = INT64_MAX,
     .text = "the first step (default: the first live one)"},
    {.name = "to",
     .type = ARG_COUNT,
     .value = "N",
     .max = INT64_MAX,
     .text = "the step to stop before (default: the stream's end)"},
    {.name = "hash",
     .type = ARG_FLAG,
     .text = "print \"step sha256 bytes\" for each step"},
    {.name = "raw",
     .type = ARG_FLAG,
     .text = "write the slices' bytes to stdout"},
};

static void hash_batch(const struct lks_batch *batch, char hex[DIGEST_HEX_SIZE])
{
    struct digest digest;

    digest_start(&digest);
    for (size_t i = 0; i < lks_batch_slice_count(batch); i++) {
        struct lks_slice slice = lks_batch_slice(batch, i);

        digest_add(&digest, slice.data, slice.size);
    }
    digest_hex(&digest, hex, DIGEST_SIZE);
}

static uint64_t batch_size(const struct lks_batch *batch)
{
    uint64_t size = 0;

    for (size_t i = 0; i < lks_batch_slice_count(batch); i++)
        size += lks_batch_slice(batch, i).size;
    return size;
}

static void print_json(const struct args *args, const struct lks_batch *batch)
{
    char hex[DIGEST_HEX_SIZE];
    json_t *line = json_pack("{s:I, s:I, s:I, s:I}", "step",
                             (json_int_t)lks_batch_step(batch), "next_step",
                             (json_int_t)lks_batch_next_step(batch), "slices",
                             (json_int_t)lks_batch_slice_count(batch), "bytes",
                             (json_int_t)batch_size(batch));

    if (args_given(args, "hash")) {
        hash_batch(batch, hex);
        json_object_set_new(line, "sha256", json_string(hex));
    }
    report_json(args, line);
}

static void print_batch(const struct args *args, const struct lks_batch *batch)
{
    uint64_t step = lks_batch_step(batch);
    char hex[DIGEST_HEX_SIZE];

    if (args->json) {
        print_json(args, batch);
    } else if (args_given(args, "hash")) {
        hash_batch(batch, hex);
        printf("%" PRIu64 " %s %" PRIu64 "\n", step, hex, batch_size(batch));
    } else if (args_given(args, "raw")) {
        for (size_t i = 0; i < lks_batch_slice_count(batch); i++) {
            struct lks_slice slice = lks_batch_slice(batch, i);

            fwrite(slice.data, 1, slice.size, stdout);
        }
    } else {
        size_t count = lks_batch_slice_count(batch);

        printf("step %" PRIu64 ": %zu slice%s, %" PRIu64 " bytes\n", step,
               count, plural(count), batch_size(batch));
    }
    /* Whoever follows the output sees a step as soon as it is there. */
    fflush(stdout);
}

static enum lks_status print_steps(const struct args *args,
                                   struct lks_consumer *consumer,
                                   struct lks_error *error)
{
    uint64_t to = args_given(args, "to") ? args_number(args, "to") : UINT64_MAX;
    enum lks_status status = LKS_OK;

    while (lks_consumer_step(consumer) < to && !ferror(stdout)) {
        struct lks_batch *batch = NULL;

        status = lks_consumer_next(consumer, &batch, error);
        if (status != LKS_OK)
            break;
        print_batch(args, batch);
        lks_batch_release(batch);
    }
    return status == LKS_ENDED ? LKS_OK : status;
}

static int run(struct args *args)
{
    uint64_t from =
        args_given(args, "from") ? args_number(args, "from") : LKS_STEP_FIRST;
    struct lks_stream *stream = NULL;
    struct lks_consumer *consumer = NULL;
    struct lks_error error;
    enum lks_status status;

    if (args_given(args, "raw") && (args_given(args, "hash") || args->json))
        return report_usage(args->command, "--raw writes the bytes alone; "
                                           "leave out --hash and --json");

    status = lks_stream_open(args->operands[0], args->options, &stream, &error);
    if (status == LKS_OK)
        status = lks_consumer_open(stream, (uint32_t)args_number(args, "rank"),
                                   (uint32_t)args_number(args, "dp"),
                                   (uint32_t)args_number(args, "cp"), from,
                                   args->options, &consumer, &error);
    if (status == LKS_OK) {
        interrupt_watch_consumer(consumer);
        status = print_steps(args, consumer, &error);
        interrupt_unwatch(consumer);
    }
    lks_consumer_close(consumer);
    lks_stream_close(stream);
    return status == LKS_OK ? EXIT_DONE : report_error(args, &error);
}

const struct command command_consume = {
    .name = "consume",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reports = true,
    .text = "Read a rank's slices in order, to the end of the stream",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
