/*
 * lakestream pin, unpin: steps that stay whatever is checkpointed.
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
     .text = "this step and all after it stay"},
};

static int run(struct args *args)
{
    const char *name = args->operands[1];
    uint64_t step = args_number(args, "step");
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code = EXIT_DONE;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_pin(stream, name, step, args->options, &error) != LKS_OK)
        code = report_error(args, &error);
    else if (args->json)
        code = report_json(args, json_pack("{s:s, s:I}", "pin", name, "step",
                                           (json_int_t)step));
    else
        printf("pin %s holds the steps from %" PRIu64 " on\n", name, step);
    lks_stream_close(stream);
    return code;
}

static int run_unpin(struct args *args)
{
    const char *name = args->operands[1];
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code = EXIT_DONE;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_unpin(stream, name, args->options, &error) != LKS_OK)
        code = report_error(args, &error);
    else if (args->json)
        code = report_json(args, json_pack("{s:s}", "unpinned", name));
    else
        printf("pin %s is gone\n", name);
    lks_stream_close(stream);
    return code;
}

const struct command command_pin = {
    .name = "pin",
    .operands = "URL NAME",
    .operands_min = 2,
    .operands_max = 2,
    .opens = true,
    .reports = true,
    .text = "Hold a step and all after it, by a name",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};

const struct command command_unpin = {
    .name = "unpin",
    .operands = "URL NAME",
    .operands_min = 2,
    .operands_max = 2,
    .opens = true,
    .reports = true,
    .text = "Let go of what a pin holds",
    .run = run_unpin,
};
