/*
 * lakestream seal: ends a stream for good, whatever its producers think.
 */
#include "commands.h"
#include "ended.h"
#include "report.h"

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_seal(stream, args->options, &error) == LKS_OK)
        code =
            report_ended(args, stream, "sealed",
                         json_pack("{s:s}", "stream", lks_stream_id(stream)));
    else
        code = report_error(args, &error);
    lks_stream_close(stream);
    return code;
}

const struct command command_seal = {
    .name = "seal",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "End a stream for good after what is committed",
    .run = run,
};
