/*
 * Which of the files before has changed?
 *
 * An offset is too small to tell: it knows that one has. But each TGB carries
 * the names and digests of the files that it completed, so the stream itself
 * is asked. That reads every step of the producer, and is done only to explain
 * a refusal.
 */
#include "pack_history.h"

#include <inttypes.h>
#include <string.h>

#include "report.h"

struct search {
    struct lks_stream *stream;
    const char *producer;
    const struct token_source *source;
    struct lks_error found; /* LKS_OK until one is found */
};

/* Compares what is told of a completed file with today's. */
static enum lks_status compare(struct search *search,
                               json_int_t place,
                               const char *name,
                               json_int_t end,
                               const char *sum)
{
    const struct token_source *source = search->source;
    uint64_t index =
        ((uint64_t)place - source->plan->shard) / source->plan->shard_count;
    const struct token_file *file = &source->files[index];
    const char *sum_now = source->sums[index];
    enum lks_status status = LKS_OK;
    json_t *name_now;

    if (index >= source->index)
        return LKS_OK;
    name_now = report_name(file->path);
    if (name_now != NULL && strcmp(json_string_value(name_now), name) != 0)
        status = fail(&search->found, LKS_INVALID,
                      "file %" JSON_INTEGER_FORMAT
                      " was %s when it was packed, and is %s now; give the "
                      "same files in the same order",
                      place + 1, name, file->path);
    else if ((uint64_t)end != file->data_start + file->data_size ||
             (sum_now[0] != '\0' && strcmp(sum, sum_now) != 0))
        status = fail(&search->found, LKS_INVALID,
                      "%s has changed since it "
                      "was packed; give the same file, or use another "
                      "--producer",
                      file->path);
    json_decref(name_now);
    return status;
}

static enum lks_status look_at_record(struct search *search, json_t *record)
{
    const char *name = "", *sum = NULL;
    json_int_t place = 0, end = 0;

    if (json_unpack(record, "{s:s, s:I, s:I, s?s}", "file", &name, "place",
                    &place, "to", &end, "sum", &sum) != 0 ||
        sum == NULL)
        return LKS_OK;
    return compare(search, place, name, end, sum);
}

static enum lks_status look_at_step(struct search *search, uint64_t step)
{
    struct lks_batch *batch = NULL;
    enum lks_status status;
    const void *meta = NULL;
    json_t *root, *record;
    size_t size = 0, index;

    status = lks_stream_get(search->stream, step, 0, &batch, NULL);
    if (status == LKS_OK)
        status = lks_batch_meta(batch, &meta, &size, NULL);
    root = status == LKS_OK ? json_loadb(meta, size, 0, NULL) : NULL;
    lks_batch_release(batch);

    /* What cannot be read explains nothing; the refusal stands anyway. */
    status = LKS_OK;
    json_array_foreach(json_object_get(root, "sources"), index, record)
    {
        status = look_at_record(search, record);
        if (status != LKS_OK)
            break;
    }
    json_decref(root);
    return status;
}

static enum lks_status look_at_line(const char *line, void *arg)
{
    struct search *search = arg;
    json_t *entry = json_loads(line, 0, NULL);
    enum lks_status status = LKS_OK;
    const char *producer = "";
    json_int_t step = 0;

    if (json_unpack(entry, "{s:I, s:s}", "step", &step, "producer",
                    &producer) == 0 &&
        strcmp(producer, search->producer) == 0)
        status = look_at_step(search, (uint64_t)step);
    json_decref(entry);
    return status;
}

enum lks_status pack_history_find_changed(struct lks_stream *stream,
                                          const char *producer,
                                          const struct token_source *source,
                                          struct lks_error *error)
{
    struct search search = {
        .stream = stream,
        .producer = producer,
        .source = source,
    };

    lks_stream_log(stream, 0, UINT64_MAX, look_at_line, &search, NULL);
    if (search.found.status == LKS_OK)
        return LKS_NOT_FOUND;
    *error = search.found;
    return LKS_INVALID;
}
