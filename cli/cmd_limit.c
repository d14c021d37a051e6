/*
 * lakestream limit: how much may be live before producers wait.
 */
#include <inttypes.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "max-live-steps",
     .type = ARG_COUNT,
     .value = "N",
     .max = INT64_MAX,
     .text = "live steps; 0: no limit"},
    {.name = "max-live-bytes",
     .type = ARG_SIZE,
     .value = "SIZE",
     .max = INT64_MAX,
     .text = "live bytes; 0: no limit"},
};

/* The option's value, or NULL to leave that limit as it is. */
static const uint64_t *limit_of(const struct args *args,
                                const char *name,
                                uint64_t *value)
{
    if (!args_given(args, name))
        return NULL;
    *value = args_number(args, name);
    return value;
}

static int report(const struct args *args, struct lks_stream *stream)
{
    struct lks_error error;
    json_int_t steps = 0, bytes = 0;
    json_t *info, *limits;
    char *text = NULL;

    if (lks_stream_info(stream, &text, &error) != LKS_OK)
        return report_error(args, &error);
    info = report_parse(text);
    limits = json_incref(json_object_get(info, "limits"));
    json_decref(info);
    if (args->json)
        return report_json(args, limits);
    json_unpack(limits, "{s:I, s:I}", "max_live_steps", &steps,
                "max_live_bytes", &bytes);
    json_decref(limits);
    printf("limits: %" JSON_INTEGER_FORMAT " live steps, %" JSON_INTEGER_FORMAT
           " live bytes (0: none)\n",
           steps, bytes);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_error error;
    uint64_t steps, bytes;
    int code;

    if (!args_given(args, "max-live-steps") &&
        !args_given(args, "max-live-bytes"))
        return report_usage(args->command,
                            "give --max-live-steps or --max-live-bytes");
    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_limit(stream, limit_of(args, "max-live-steps", &steps),
                         limit_of(args, "max-live-bytes", &bytes),
                         args->options, &error) == LKS_OK)
        code = report(args, stream);
    else
        code = report_error(args, &error);
    lks_stream_close(stream);
    return code;
}

const struct command command_limit = {
    .name = "limit",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "Change how many live steps or bytes make producers wait",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
