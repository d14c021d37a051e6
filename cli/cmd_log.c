/*
 * lakestream log: one line per live step.
 */
#include <inttypes.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "from",
     .type = ARG_COUNT,
     .value = "N",
     .max = INT64_MAX,
     .preset = "0",
     .text = "the first step"},
    {.name = "to",
     .type = ARG_COUNT,
     .value = "N",
     .max = INT64_MAX,
     .text = "the step to stop before"},
};

static enum lks_status print_json_line(const char *line, void *arg)
{
    (void)arg;
    return puts(line) < 0 ? LKS_CANCELLED : LKS_OK;
}

/* Wide enough for what most streams hold; longer values just push. */
static enum lks_status print_row(const char *line, void *arg)
{
    json_t *entry = json_loads(line, 0, NULL);
    json_int_t step = 0, epoch = 0, seq = 0, bytes = 0, version = 0;
    const char *producer = "?";
    int printed;

    (void)arg;
    if (entry == NULL)
        return LKS_NO_MEMORY;
    json_unpack(entry, "{s:I, s:s, s:I, s:I, s:I, s:I}", "step", &step,
                "producer", &producer, "epoch", &epoch, "seq", &seq, "bytes",
                &bytes, "version", &version);
    printed = printf("%10" PRId64 "  %-16s %6" PRId64 " %10" PRId64
                     " %12" PRId64 " %10" PRId64 "\n",
                     (int64_t)step, producer, (int64_t)epoch, (int64_t)seq,
                     (int64_t)bytes, (int64_t)version);
    json_decref(entry);
    return printed < 0 ? LKS_CANCELLED : LKS_OK;
}

static int run(struct args *args)
{
    uint64_t from = args_number(args, "from");
    uint64_t to = args_given(args, "to") ? args_number(args, "to") : UINT64_MAX;
    struct lks_stream *stream = NULL;
    struct lks_error error;
    enum lks_status status;
    int code = EXIT_DONE;

    if (to < from)
        return report_usage(args->command,
                            "--to %" PRIu64 " is below --from %" PRIu64, to,
                            from);
    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (!args->json)
        printf("%10s  %-16s %6s %10s %12s %10s\n", "step", "producer", "epoch",
               "seq", "bytes", "version");
    status =
        lks_stream_log(stream, from, to,
                       args->json ? print_json_line : print_row, NULL, &error);
    /* What stops the walk is a stdout that takes no more; main says so. */
    if (status != LKS_OK && !ferror(stdout))
        code = report_error(args, &error);
    lks_stream_close(stream);
    return code;
}

const struct command command_log = {
    .name = "log",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reports = true,
    .text = "List the steps: who appended what, and when it became visible",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
