/*
 * lakestream verify: re-checks all that stored objects can show.
 */
#include <inttypes.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "data",
     .type = ARG_FLAG,
     .text = "also read every byte of every live TGB"},
};

static void print_findings(const json_t *result, const json_t *problems)
{
    const json_t *problem;
    size_t index;

    json_array_foreach(problems, index, problem)
        printf("%s\n", json_string_value(problem));
    printf("checked %" JSON_INTEGER_FORMAT " steps, %" JSON_INTEGER_FORMAT
           " index blocks, %" JSON_INTEGER_FORMAT " bytes: %zu problems\n",
           json_integer_value(json_object_get(result, "steps")),
           json_integer_value(json_object_get(result, "blocks")),
           json_integer_value(json_object_get(result, "bytes")),
           json_array_size(problems));
}

static int run(struct args *args)
{
    const char *url = args->operands[0];
    struct lks_stream *stream = NULL;
    struct lks_error error;
    json_t *result;
    char *text = NULL;
    size_t count;
    int code = EXIT_DONE;

    if (lks_stream_open(url, args->options, &stream, &error) != LKS_OK)
        return report_error(args, &error);
    if (lks_stream_verify(stream, args_given(args, "data"), &text, &error) !=
        LKS_OK) {
        lks_stream_close(stream);
        return report_error(args, &error);
    }
    lks_stream_close(stream);

    result = report_parse(text);
    count = json_array_size(json_object_get(result, "problems"));
    if (!args->json)
        print_findings(result, json_object_get(result, "problems"));
    if (count > 0 || !json_is_true(json_object_get(result, "ok")))
        code = report_failure(args, "%s has %zu problems", url, count);
    if (args->json)
        report_json(args, result);
    else
        json_decref(result);
    return code;
}

const struct command command_verify = {
    .name = "verify",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reports = true,
    .text = "Check a stream: its chain, its index, its producers, its data",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
