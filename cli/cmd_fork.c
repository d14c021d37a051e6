/*
 * lakestream fork: a new stream that continues at a step.
 */
#include <inttypes.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "step",
     .type = ARG_COUNT,
     .value = "N",
     .required = true,
     .max = INT64_MAX,
     .text = "the first step of the new stream"},
};

static int run(struct args *args)
{
    uint64_t step = args_number(args, "step");
    struct lks_stream *stream = NULL;
    struct lks_stream *fork = NULL;
    struct lks_error error;
    int code = EXIT_DONE;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_fork(stream, step, args->operands[1], args->options, &fork,
                        &error) != LKS_OK)
        code = report_error(args, &error);
    else if (args->json)
        code = report_json(args, json_pack("{s:s, s:s, s:s, s:I}", "url",
                                           args->operands[1], "stream",
                                           lks_stream_id(fork), "parent",
                                           lks_stream_id(stream), "step",
                                           (json_int_t)step));
    else
        printf("%s continues %s at step %" PRIu64 "\n", args->operands[1],
               args->operands[0], step);
    lks_stream_close(fork);
    lks_stream_close(stream);
    return code;
}

const struct command command_fork = {
    .name = "fork",
    .operands = "URL NEWURL",
    .operands_min = 2,
    .operands_max = 2,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "Create a stream that continues this one at a step",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
