/*
 * lakestream show: what is in one step. Names, types, shapes and ranges of its
 * tensors, and where its data came from: what one looks at after a loss spike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "report.h"
#include "tensor_view.h"

#define NUMBER_SIZE 48u

static const struct arg_option options[] = {
    {.name = "step",
     .type = ARG_COUNT,
     .value = "N",
     .required = true,
     .max = INT64_MAX - 1,
     .text = "the step"},
    {.name = "rank",
     .type = ARG_COUNT,
     .value = "R",
     .max = LKS_SLICE_COUNT_MAX - 1,
     .text = "one slice, d * cp + c (default: all)"},
};

/* A number for JSON; for people a text, so that none is rounded away. */
static json_t *number(const struct args *args, long double value, bool whole)
{
    char text[NUMBER_SIZE];

    if (args->json && whole && value <= (long double)INT64_MAX)
        return json_integer((json_int_t)value);
    if (args->json)
        return json_real((double)value);
    snprintf(text, sizeof(text), whole ? "%.0Lf" : "%.6Lg", value);
    return json_string(text);
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *shape_of(const struct args *args, const json_t *shape)
{
    json_t *text = NULL;
    char *dump;

    if (args->json)
        return json_deep_copy(shape);
    dump = json_dumps(shape, JSON_COMPACT);
    if (dump != NULL)
        text = json_string(dump);
    free(dump);
    return text;
}

static json_t *describe_tensor(const struct args *args,
                               uint32_t rank,
                               const struct tensor_view *view)
{
    struct tensor_stats stats;
    json_t *row = json_object();

    tensor_stats_take(view, &stats);
    json_object_set_new(row, "rank", count(rank));
    json_object_set_new(row, "name", json_string(view->name));
    json_object_set_new(row, "dtype", json_string(view->dtype));
    json_object_set_new(row, "shape", shape_of(args, view->shape));
    json_object_set_new(row, "min",
                        stats.any ? number(args, stats.min, stats.whole)
                                  : json_null());
    json_object_set_new(row, "max",
                        stats.any ? number(args, stats.max, stats.whole)
                                  : json_null());
    json_object_set_new(row, "nan",
                        stats.known ? count(stats.nan_count) : json_null());
    json_object_set_new(row, "inf",
                        stats.known ? count(stats.infinite_count)
                                    : json_null());
    json_object_set_new(row, "bytes", count(view->size));
    return row;
}

/* Adds the slice's tensors, or that it is raw bytes. */
static void describe_slice(const struct args *args,
                           uint32_t rank,
                           const struct lks_slice *slice,
                           json_t *report)
{
    json_t *header = tensor_header(slice);
    struct tensor_view view;
    const char *name;
    json_t *entry;

    if (header == NULL) {
        json_array_append_new(json_object_get(report, "raw"),
                              json_pack("{s:I, s:I}", "rank", (json_int_t)rank,
                                        "bytes", (json_int_t)slice->size));
        return;
    }
    json_object_foreach(header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0)
            json_object_set(report, "metadata", entry);
        else if (tensor_view_get(slice, name, entry, &view))
            json_array_append_new(json_object_get(report, "tensors"),
                                  describe_tensor(args, rank, &view));
        else
            json_array_append_new(json_object_get(report, "damaged"),
                                  json_pack("{s:I, s:s}", "rank",
                                            (json_int_t)rank, "name", name));
    }
    json_decref(header);
}

/* The producer's metadata: as JSON if it is an object (pack's is: the sources),
 * else as text, else in hex. */
static void describe_meta(const void *data, size_t size, json_t *report)
{
    static const char digits[] = "0123456789abcdef";
    json_t *meta = json_loadb(data, size, 0, NULL);
    const uint8_t *bytes = data;
    char *hex;

    if (json_is_object(meta)) {
        json_object_update(report, meta);
        json_decref(meta);
        return;
    }
    json_decref(meta);
    meta = json_stringn(data, size);
    if (meta == NULL && (hex = malloc(2 * size + 1)) != NULL) {
        for (size_t i = 0; i < size; i++) {
            hex[2 * i] = digits[bytes[i] >> 4];
            hex[2 * i + 1] = digits[bytes[i] & 15];
        }
        meta = json_stringn(hex, 2 * size);
        free(hex);
    }
    json_object_set_new(report, "meta", meta);
}

static enum lks_status show_slice(const struct args *args,
                                  struct lks_stream *stream,
                                  uint32_t rank,
                                  json_t *report,
                                  struct lks_error *error)
{
    struct lks_batch *batch = NULL;
    struct lks_slice slice;
    const void *data;
    size_t size;
    enum lks_status status;

    status =
        lks_stream_get(stream, args_number(args, "step"), rank, &batch, error);
    if (status == LKS_OK && json_object_get(report, "described") == NULL) {
        status = lks_batch_meta(batch, &data, &size, error);
        if (status == LKS_OK) {
            describe_meta(size > 0 ? data : "", size, report);
            json_object_set_new(report, "described", json_true());
        }
    }
    if (status == LKS_OK) {
        slice = lks_batch_slice(batch, 0);
        describe_slice(args, rank, &slice, report);
    }
    lks_batch_release(batch);
    return status;
}

/* The step's line of the log is how the report begins. */
static enum lks_status keep_line(const char *line, void *arg)
{
    json_t *object = json_loads(line, 0, NULL);

    json_object_update(arg, object);
    json_decref(object);
    return LKS_OK;
}

static enum lks_status show(const struct args *args,
                            struct lks_stream *stream,
                            json_t *report,
                            struct lks_error *error)
{
    static const char *const lists[] = {"tensors", "raw", "damaged"};
    uint64_t step = args_number(args, "step");
    uint32_t first = 0, last;
    enum lks_status status;

    last = lks_stream_dp(stream) * lks_stream_cp(stream) - 1;
    if (args_given(args, "rank"))
        first = last = (uint32_t)args_number(args, "rank");
    status = lks_stream_log(stream, step, step + 1, keep_line, report, error);
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        json_object_set_new(report, lists[i], json_array());
    for (uint32_t rank = first; status == LKS_OK && rank <= last; rank++)
        status = show_slice(args, stream, rank, report, error);

    json_object_del(report, "described");
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (json_array_size(json_object_get(report, lists[i])) == 0)
            json_object_del(report, lists[i]);
    }
    return status;
}

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    json_t *report = json_object();
    struct lks_error error;
    enum lks_status status;
    int code;

    status = lks_stream_open(args->operands[0], args->options, &stream, &error);
    if (status == LKS_OK)
        status = show(args, stream, report, &error);
    lks_stream_close(stream);
    if (status != LKS_OK)
        code = report_error(args, &error);
    else if (args->json)
        return report_json(args, report);
    else
        return report_table(args, report);
    json_decref(report);
    return code;
}

const struct command command_show = {
    .name = "show",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reports = true,
    .text = "Show what is in a step: sources, types, shapes, ranges, NaNs",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
