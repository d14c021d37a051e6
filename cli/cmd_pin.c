/*
 * lakestream pin, unpin: steps that stay whatever is checkpointed.
 */
#include <string.h>

#include "commands.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "step",
     .type = ARG_COUNT,
     .value = "N",
     .required = true,
     .max = INT64_MAX,
     .text = "this step and all after it stay"},
};

/* Where the pin is now; -1: nowhere. */
static enum lks_status find_pin(struct lks_stream *stream,
                                const char *name,
                                json_int_t *out_step,
                                struct lks_error *error)
{
    char *text = NULL;
    enum lks_status status = lks_stream_info(stream, &text, error);
    json_t *info;
    json_t *pin;
    size_t i;

    if (status != LKS_OK)
        return status;
    *out_step = -1;
    info = report_parse(text);
    json_array_foreach(json_object_get(info, "pins"), i, pin)
    {
        const char *each = json_string_value(json_object_get(pin, "name"));

        if (each != NULL && strcmp(each, name) == 0)
            *out_step = json_integer_value(json_object_get(pin, "step"));
    }
    json_decref(info);
    return LKS_OK;
}

static int report(const struct args *args, json_int_t step, json_int_t before)
{
    const char *name = args->operands[1];
    bool moved = before >= 0 && before != step;
    json_t *object;

    if (args->json) {
        object = json_pack("{s:s, s:I}", "pin", name, "step", step);
        if (moved)
            json_object_set_new(object, "moved_from", json_integer(before));
        return report_json(args, object);
    }
    if (moved)
        printf("pin %s moved from step %" JSON_INTEGER_FORMAT
               " to %" JSON_INTEGER_FORMAT "\n",
               name, before, step);
    printf("pin %s holds the steps from %" JSON_INTEGER_FORMAT " on\n", name,
           step);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    const char *name = args->operands[1];
    uint64_t step = args_number(args, "step");
    struct lks_stream *stream = NULL;
    struct lks_error error;
    json_int_t before;
    int code;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (find_pin(stream, name, &before, &error) == LKS_OK &&
        lks_stream_pin(stream, name, step, args->options, &error) == LKS_OK)
        code = report(args, (json_int_t)step, before);
    else
        code = report_error(args, &error);
    lks_stream_close(stream);
    return code;
}

static int run_unpin(struct args *args)
{
    const char *name = args->operands[1];
    struct lks_stream *stream = NULL;
    struct lks_error error;
    int code = EXIT_DONE;

    if (lks_stream_open(args->operands[0], args->options, &stream, &error) !=
        LKS_OK)
        return report_error(args, &error);
    if (lks_stream_unpin(stream, name, args->options, &error) != LKS_OK)
        code = report_error(args, &error);
    else if (args->json)
        code = report_json(args, json_pack("{s:s}", "unpinned", name));
    else
        printf("pin %s is gone\n", name);
    lks_stream_close(stream);
    return code;
}

const struct command command_pin = {
    .name = "pin",
    .operands = "URL NAME",
    .operands_min = 2,
    .operands_max = 2,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "Hold a step and all after it, by a name",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};

const struct command command_unpin = {
    .name = "unpin",
    .operands = "URL NAME",
    .operands_min = 2,
    .operands_max = 2,
    .opens = true,
    .reads = "change",
    .reports = true,
    .text = "Let go of what a pin holds",
    .run = run_unpin,
};
