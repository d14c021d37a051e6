/*
 * lakestream reclaim: deletes what no group and no pin needs any more.
 */
#include <inttypes.h>
#include <time.h>

#include "commands.h"
#include "freed.h"
#include "interrupt.h"
#include "report.h"

#define NAP_NS 200000000L

static const struct arg_option options[] = {
    {.name = "dry-run",
     .type = ARG_FLAG,
     .text = "only tell what would be removed"},
    {.name = "every",
     .type = ARG_COUNT,
     .value = "SECONDS",
     .min = 1,
     .max = 86400,
     .text = "again and again, until a signal or the stream is dropped"},
};

static void print_holder(const json_t *holder)
{
    const char *kind = "?", *name = "?", *run = NULL;
    json_int_t step = 0, attempt = 0, rank_count = 0;
    json_t *ranks = NULL, *rank;
    size_t index;

    json_unpack((json_t *)holder, "{s:s, s:s, s:I, s?s, s?I, s?o, s?I}", "kind",
                &kind, "name", &name, "step", &step, "run", &run, "attempt",
                &attempt, "ranks", &ranks, "rank_count", &rank_count);
    printf("held by %s %s at step %" JSON_INTEGER_FORMAT, kind, name, step);
    if (run != NULL)
        printf(", run %s.%" JSON_INTEGER_FORMAT ", rank%s", run, attempt,
               plural((uint64_t)rank_count));
    json_array_foreach(ranks, index, rank)
        printf(" %" JSON_INTEGER_FORMAT, json_integer_value(rank));
    if (rank_count > (json_int_t)json_array_size(ranks))
        printf(" ... (%" JSON_INTEGER_FORMAT " in all)", rank_count);
    putchar('\n');
}

static void print_result(const json_t *result)
{
    bool dry_run = json_is_true(json_object_get(result, "dry_run"));
    const json_t *holder;
    size_t index;

    print_freed(result, dry_run);
    printf("first live step %s %" JSON_INTEGER_FORMAT
           " (before: %" JSON_INTEGER_FORMAT ") of %" JSON_INTEGER_FORMAT
           ": %s\n",
           dry_run ? "would be" : "is", freed_number(result, "first_live_step"),
           freed_number(result, "first_live_step_before"),
           freed_number(result, "next_step"),
           json_string_value(json_object_get(result, "why")));
    json_array_foreach(json_object_get(result, "held_by"), index, holder)
        print_holder(holder);
}

static int reclaim_once(const struct args *args,
                        struct lks_stream *stream,
                        enum lks_status *out_status)
{
    struct lks_error error;
    char *text = NULL;
    json_t *result;

    *out_status = lks_stream_reclaim(stream, args_given(args, "dry-run"),
                                     args->options, &text, &error);
    if (*out_status != LKS_OK)
        return report_error(args, &error);
    result = report_parse(text);
    if (args->json)
        return report_json(args, result);
    print_result(result);
    json_decref(result);
    return EXIT_DONE;
}

static bool is_dropped(struct lks_stream *stream)
{
    char *text = NULL;
    json_t *info;
    bool dropped;

    if (lks_stream_info(stream, &text, NULL) != LKS_OK)
        return false;
    info = report_parse(text);
    dropped = json_is_true(json_object_get(info, "dropped"));
    json_decref(info);
    return dropped;
}

/* False once it is interrupted. */
static bool rest(uint64_t seconds)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    fflush(stdout);
    for (uint64_t i = 0; i < seconds * (1000000000 / NAP_NS); i++) {
        if (interrupted())
            return false;
        nanosleep(&nap, NULL);
    }
    return !interrupted();
}

/* A store that fails for a while is no reason to stop for ever. */
static int reclaim_often(const struct args *args, struct lks_stream *stream)
{
    uint64_t seconds = args_number(args, "every");
    enum lks_status status;
    int code;

    interrupt_watch_work(stream);
    do {
        code = reclaim_once(args, stream, &status);
        if (status != LKS_OK && status != LKS_UNAVAILABLE &&
            status != LKS_TIMEOUT)
            break;
    } while (!ferror(stdout) && !(status == LKS_OK && is_dropped(stream)) &&
             rest(seconds));
    interrupt_unwatch(stream);
    return interrupted() ? interrupt_exit_code() : code;
}

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_error error;
    enum lks_status status;
    int code;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (args_given(args, "every"))
        code = reclaim_often(args, stream);
    else
        code = reclaim_once(args, stream, &status);
    lks_stream_close(stream);
    return code;
}

const struct command command_reclaim = {
    .name = "reclaim",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "Delete the steps that nobody needs, and what was never committed",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
