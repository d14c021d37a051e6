/*
 * lakestream init: creates a stream, having probed the store.
 */
#include <string.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "dp",
     .type = ARG_COUNT,
     .value = "D",
     .required = true,
     .min = 1,
     .max = LKS_SLICE_COUNT_MAX,
     .text = "data-parallel ranks"},
    {.name = "cp",
     .type = ARG_COUNT,
     .value = "C",
     .required = true,
     .min = 1,
     .max = LKS_SLICE_COUNT_MAX,
     .text = "context-parallel ranks"},
};

static int run(struct args *args)
{
    const char *url = args->operands[0];
    uint64_t dp = args_number(args, "dp");
    uint64_t cp = args_number(args, "cp");
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code = EXIT_DONE;

    if (strncmp(url, "mem://", strlen("mem://")) == 0)
        return report_usage(args->command,
                            "%s would be gone when this command ends; take a "
                            "folder or s3://",
                            url);
    if (dp * cp > LKS_SLICE_COUNT_MAX)
        return report_usage(args->command,
                            "--dp %ju times --cp %ju is %ju slices; a mesh "
                            "may have up to %u",
                            (uintmax_t)dp, (uintmax_t)cp, (uintmax_t)(dp * cp),
                            LKS_SLICE_COUNT_MAX);
    if (lks_stream_create(url, (uint32_t)dp, (uint32_t)cp, args->options,
                          &stream, &error) != LKS_OK)
        return report_error(args, &error);

    if (args->json)
        code =
            report_json(args, json_pack("{s:o, s:s, s:I, s:I}", "url",
                                        report_name(url), "stream",
                                        lks_stream_id(stream), "dp",
                                        (json_int_t)dp, "cp", (json_int_t)cp));
    else
        printf("created %s: stream %s, mesh %ju x %ju\n", url,
               lks_stream_id(stream), (uintmax_t)dp, (uintmax_t)cp);
    lks_stream_close(stream);
    return code;
}

const struct command command_init = {
    .name = "init",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "create",
    .reports = true,
    .text = "Create a stream, having probed the store",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
