/*
 * lakestream evict: somebody is not coming back.
 */
#include "commands.h"
#include "ended.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "group",
     .type = ARG_ID,
     .value = "G",
     .text = "a training job, for which nothing is kept any more"},
    {.name = "rank",
     .type = ARG_COUNT,
     .value = "R",
     .max = LKS_SLICE_COUNT_MAX - 1,
     .text = "only this rank of it; the others count on"},
    {.name = "producer",
     .type = ARG_ID,
     .value = "ID",
     .text = "a producer: it is fenced, and counts as finished"},
};

static enum lks_status evict(const struct args *args,
                             struct lks_stream *stream,
                             struct lks_error *error)
{
    uint32_t rank = args_given(args, "rank")
                        ? (uint32_t)args_number(args, "rank")
                        : LKS_RANK_ALL;

    if (args_given(args, "producer"))
        return lks_stream_evict_producer(stream, args_text(args, "producer"),
                                         args->options, error);
    return lks_stream_evict_group(stream, args_text(args, "group"), rank,
                                  args->options, error);
}

/* It may have been the last one that the stream's end was waiting for. */
static int report_producer(const struct args *args, struct lks_stream *stream)
{
    const char *id = args_text(args, "producer");
    char what[LKS_PRODUCER_ID_SIZE_MAX + 32];

    snprintf(what, sizeof(what), "producer %s is evicted", id);
    return report_ended(args, stream, what,
                        args->json ? json_pack("{s:s}", "producer", id) : NULL);
}

static int report_group(const struct args *args)
{
    json_t *object;

    if (args->json) {
        object = json_pack("{s:s}", "group", args_text(args, "group"));
        if (args_given(args, "rank"))
            json_object_set_new(object, "rank",
                                json_integer(args_signed(args, "rank")));
        return report_json(args, object);
    }
    if (args_given(args, "rank"))
        printf("rank %s of group %s is evicted\n", args_text(args, "rank"),
               args_text(args, "group"));
    else
        printf("group %s is evicted\n", args_text(args, "group"));
    return EXIT_DONE;
}

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code;

    if (args_given(args, "group") == args_given(args, "producer"))
        return report_usage(args->command, "give --group or --producer");
    if (args_given(args, "rank") && !args_given(args, "group"))
        return report_usage(args->command, "--rank goes with --group");
    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (evict(args, stream, &error) != LKS_OK)
        code = report_error(args, &error);
    else if (args_given(args, "producer"))
        code = report_producer(args, stream);
    else
        code = report_group(args);
    lks_stream_close(stream);
    return code;
}

const struct command command_evict = {
    .name = "evict",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "Count on without a group, a rank or a producer",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
