/*
 * lakestream drop: ends a stream, and deletes all that it holds.
 */
#include "commands.h"
#include "freed.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "force", .type = ARG_FLAG, .text = "in spite of pins"},
};

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_error error;
    char *text = NULL;
    json_t *result;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_drop(stream, args_given(args, "force"), args->options, &text,
                        &error) != LKS_OK) {
        lks_stream_close(stream);
        return report_error(args, &error);
    }
    lks_stream_close(stream);
    result = report_parse(text);
    if (args->json)
        return report_json(args, result);
    print_freed(result, false);
    printf("%s is dropped, and its prefix is used up\n", args->operands[0]);
    json_decref(result);
    return EXIT_DONE;
}

const struct command command_drop = {
    .name = "drop",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "End a stream for good and delete all that it holds",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
