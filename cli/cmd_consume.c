/*
 * lakestream consume: a rank's slices in order, to the end of the stream.
 *
 * The end of the stream is success. A step that does not come in time is a
 * failure: a trainer that starves must not look like one that is through. So
 * is a first step behind the end, which nobody means.
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
     .text = "the step to stop before, and never to pass (default: the "
             "stream's end)"},
    {.name = "hash",
     .type = ARG_FLAG,
     .text = "print \"step sha256 bytes\" for each step"},
    {.name = "raw",
     .type = ARG_FLAG,
     .text = "write the slices' bytes to stdout"},
};

static const char more[] =
    "With k times as many dp ranks as the stream has, k TGBs make a step of\n"
    "training. Reading then stops before a group of k that --to or the end of\n"
    "the stream would cut; what is left over at the end is told on stderr.\n";

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

/*
 * `error` says LKS_ENDED: that is the end of a good run, unless --from was
 * behind it. TGBs that are too few for a step of training are told of.
 */
static enum lks_status take_end(const struct args *args,
                                struct lks_stream *stream,
                                uint64_t step,
                                struct lks_error *error)
{
    struct lks_error ended = *error;
    enum lks_status status;
    json_int_t ended_at;
    char *text = NULL;
    json_t *info;

    status = lks_stream_info(stream, &text, error);
    if (status != LKS_OK)
        return status;
    info = report_parse(text);
    ended_at = json_integer_value(json_object_get(info, "ended_at"));
    json_decref(info);
    if (step > (uint64_t)ended_at)
        return fail(error, LKS_NOT_FOUND,
                    "--from %" PRIu64 " is beyond the end: %s", step,
                    ended.message);
    if (step < (uint64_t)ended_at)
        report_failure(args, "%s", ended.message);
    return LKS_OK;
}

/* How many steps of the stream make one of the reader's mesh, which is one
 * that a consumer could be opened with. */
static uint64_t group_of(const struct args *args, struct lks_stream *stream)
{
    uint64_t dp = args_number(args, "dp");

    return dp > lks_stream_dp(stream) ? dp / lks_stream_dp(stream) : 1;
}

static enum lks_status print_steps(const struct args *args,
                                   struct lks_stream *stream,
                                   struct lks_consumer *consumer,
                                   struct lks_error *error)
{
    uint64_t to = args_given(args, "to") ? args_number(args, "to") : UINT64_MAX;
    uint64_t group = group_of(args, stream);
    uint64_t begin = lks_consumer_step(consumer);
    enum lks_status status = LKS_OK;

    while (group <= to && lks_consumer_step(consumer) <= to - group &&
           !ferror(stdout)) {
        struct lks_batch *batch = NULL;

        status = lks_consumer_next(consumer, &batch, error);
        if (status != LKS_OK)
            break;
        print_batch(args, batch);
        lks_batch_release(batch);
    }
    if (status != LKS_ENDED)
        return status;
    /* Who reads step by step and has read some is at the end: no need to ask.
     */
    if (group == 1 && lks_consumer_step(consumer) > begin)
        return LKS_OK;
    return take_end(args, stream, lks_consumer_step(consumer), error);
}

/* What the mesh that was given leaves of ranks; a part of it that was not is
 * the stream's. */
static bool rank_is_outside(const struct args *args)
{
    uint64_t dp = args_number(args, "dp"), cp = args_number(args, "cp");

    return dp > 0 && cp > 0 && args_number(args, "rank") / cp >= dp;
}

/* The library hands out slices as they were appended; to cut or join what is in
 * them takes a reader of their payload. */
static enum lks_status check_cp(const struct args *args,
                                const struct lks_stream *stream,
                                struct lks_error *error)
{
    uint64_t cp = args_number(args, "cp");
    uint32_t stream_cp = lks_stream_cp(stream);

    if (cp == 0 || cp == stream_cp)
        return LKS_OK;
    return fail(error, LKS_INVALID,
                "--cp %" PRIu64 " is not the stream's: the command line reads "
                "slices as bytes and cannot split or join them along cp; give "
                "--cp %" PRIu32 ", or read safetensors slices from Python",
                cp, stream_cp);
}

static int run(struct args *args)
{
    uint64_t from =
        args_given(args, "from") ? args_number(args, "from") : LKS_STEP_FIRST;
    struct lks_stream *stream = NULL;
    const char *group = args_library_text(args, "group");
    struct lks_consumer *consumer = NULL;
    struct lks_error error;
    enum lks_status status;

    if (args_given(args, "raw") && (args_given(args, "hash") || args->json))
        return report_usage(args->command, "--raw writes the bytes alone; "
                                           "leave out --hash and --json");
    if (args_given(args, "from") && args_given(args, "to") &&
        args_number(args, "to") < from)
        return report_usage(args->command,
                            "--to %" PRIu64 " is below --from %" PRIu64,
                            args_number(args, "to"), from);

    if (group[0] != '\0' && lks_id_check("group", group, &error) != LKS_OK)
        return report_usage(args->command, "%s", error.message);
    if (group[0] == '\0' && args_library_given(args, "run"))
        return report_usage(args->command, "--run goes with --group");
    if (rank_is_outside(args))
        return report_usage(args->command,
                            "--rank %" PRIu64 " is not in a mesh of --dp "
                            "%" PRIu64 " --cp %" PRIu64,
                            args_number(args, "rank"), args_number(args, "dp"),
                            args_number(args, "cp"));

    status = lks_stream_open(args->operands[0], args->options, &stream, &error);
    if (status == LKS_OK)
        status = check_cp(args, stream, &error);
    if (status == LKS_OK)
        status = lks_consumer_open(stream, (uint32_t)args_number(args, "rank"),
                                   (uint32_t)args_number(args, "dp"),
                                   (uint32_t)args_number(args, "cp"), from,
                                   args->options, &consumer, &error);
    if (status == LKS_OK) {
        interrupt_watch_consumer(consumer);
        status = print_steps(args, stream, consumer, &error);
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
    .reads = "consumer|run|change",
    .reports = true,
    .text = "Read a rank's slices in order, to the end of the stream",
    .more = more,
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
