/*
 * lakestream info: what the newest manifest says.
 */
#include "commands.h"
#include "report.h"

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_error error;
    char *text = NULL;
    int code;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_info(stream, &text, &error) != LKS_OK)
        code = report_error(args, &error);
    else if (args->json)
        code = report_json(args, report_parse(text));
    else
        code = report_table(args, report_parse(text));
    lks_stream_close(stream);
    return code;
}

const struct command command_info = {
    .name = "info",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reports = true,
    .text = "Show a stream's state: steps, producers, groups, limits",
    .run = run,
};
