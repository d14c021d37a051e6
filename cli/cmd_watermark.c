/*
 * lakestream watermark: what a rank may still replay, for trainers that read
 * the stream in another way than through a consumer.
 */
#include <inttypes.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "group",
     .type = ARG_ID,
     .value = "G",
     .required = true,
     .text = "the training job"},
    {.name = "ranks",
     .type = ARG_COUNT,
     .value = "N",
     .required = true,
     .min = 1,
     .max = LKS_SLICE_COUNT_MAX,
     .text = "the ranks of its run"},
    {.name = "rank",
     .type = ARG_COUNT,
     .value = "R",
     .max = LKS_SLICE_COUNT_MAX - 1,
     .text = "whose watermark it is (default: that of all ranks)"},
    {.name = "step",
     .type = ARG_COUNT,
     .value = "S",
     .required = true,
     .max = INT64_MAX,
     .text = "it may replay this step and later ones, none before"},
};

static int report(const struct args *args)
{
    const char *group = args_text(args, "group");
    uint64_t step = args_number(args, "step");

    if (args->json)
        return report_json(args, json_pack("{s:s, s:I}", "group", group, "step",
                                           (json_int_t)step));
    if (args_given(args, "rank"))
        printf("rank %" PRIu64 " of group %s may replay steps from %" PRIu64
               " on\n",
               args_number(args, "rank"), group, step);
    else
        printf("group %s may replay steps from %" PRIu64 " on\n", group, step);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    uint32_t rank = args_given(args, "rank")
                        ? (uint32_t)args_number(args, "rank")
                        : LKS_RANK_ALL;
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_watermark(stream, args_text(args, "group"),
                             (uint32_t)args_number(args, "ranks"), rank,
                             args_number(args, "step"), args->options,
                             &error) == LKS_OK)
        code = report(args);
    else
        code = report_error(args, &error);
    lks_stream_close(stream);
    return code;
}

const struct command command_watermark = {
    .name = "watermark",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "run|change",
    .reports = true,
    .text = "Say which steps a rank of a training job may still replay",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
