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

static uint64_t count_at(const json_t *result, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(result, key));
}

static void print_lines(const json_t *lines, const char *prefix)
{
    const json_t *line;
    size_t index;

    json_array_foreach(lines, index, line)
        printf("%s%s\n", prefix, json_string_value(line));
}

/*
 * Notes may be of objects that nobody needs, or of some that a producer will
 * commit yet. Which are the former, only reclaim knows; if it cannot tell now,
 * that is no finding.
 */
static void suggest_reclaim(struct lks_stream *stream,
                            const struct args *args,
                            json_t *notes)
{
    json_t *result, *removed;
    char *text = NULL;
    uint64_t count;

    if (lks_stream_reclaim(stream, true, args->options, &text, NULL) != LKS_OK)
        return;
    result = report_parse(text);
    removed = json_object_get(result, "removed");
    count = count_at(removed, "count");
    if (count > 0)
        json_array_append_new(
            notes, json_sprintf("lakestream reclaim %s removes %" PRIu64
                                " object%s, %" PRIu64 " bytes",
                                args->operands[0], count, plural(count),
                                count_at(removed, "bytes")));
    json_decref(result);
}

static void print_findings(const json_t *result, uint64_t problem_count)
{
    print_lines(json_object_get(result, "problems"), "");
    print_lines(json_object_get(result, "notes"), "note: ");
    printf("checked %" PRIu64 " steps, %" PRIu64 " index blocks, %" PRIu64
           " bytes: %" PRIu64 " problem%s\n",
           count_at(result, "steps"), count_at(result, "blocks"),
           count_at(result, "bytes"), problem_count, plural(problem_count));
}

static int run(struct args *args)
{
    const char *url = args->operands[0];
    struct lks_stream *stream = NULL;
    struct lks_error error;
    json_t *result;
    char *text = NULL;
    uint64_t count;
    int code = EXIT_DONE;

    if (lks_stream_open(url, args->options, &stream, &error) != LKS_OK)
        return report_error(args, &error);
    if (lks_stream_verify(stream, args_given(args, "data"), &text, &error) !=
        LKS_OK) {
        lks_stream_close(stream);
        return report_error(args, &error);
    }
    result = report_parse(text);
    count = count_at(result, "problem_count");
    if (count == 0 && !args->json && count_at(result, "note_count") > 0)
        suggest_reclaim(stream, args, json_object_get(result, "notes"));
    lks_stream_close(stream);

    if (!args->json)
        print_findings(result, count);
    if (count > 0 || !json_is_true(json_object_get(result, "ok")))
        code = report_failure(args, "%s has %" PRIu64 " problem%s", url, count,
                              plural(count));
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
