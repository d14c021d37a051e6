/*
 * A stream of many steps, built by the library at speed: TGBs as small as can
 * be, many at once, and as many with a manifest as one may list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench_commit.h"
#include "bench_folder.h"
#include "interrupt.h"
#include "report.h"

#define MAP_ID_SIZE 32u

static enum lks_status set(struct lks_options *options,
                           const char *name,
                           const char *value,
                           struct lks_error *error)
{
    return lks_options_set(options, name, value, error);
}

/* The steps need not survive a crash of the machine; in a folder that spares a
 * sync for each. Elsewhere the command's own options hold. */
static enum lks_status make_options(const char *url,
                                    struct lks_options **out_options,
                                    struct lks_error *error)
{
    enum lks_status status;

    if (!bench_folder_is(url))
        return LKS_OK;
    status = lks_options_new(out_options, error);
    if (status == LKS_OK)
        status = set(*out_options, "durability", "none", error);
    if (status == LKS_OK)
        status = set(*out_options, "uploads", "8", error);
    if (status == LKS_OK) /* One pause to a manifest of 256 steps. */
        status = set(*out_options, "commit_percent", "90", error);
    return status;
}

static enum lks_status append(struct lks_producer *producer,
                              const struct bench *bench,
                              const void *offset,
                              size_t offset_size,
                              struct lks_error *error)
{
    struct lks_slice slice = {bench->payload, bench->slice_size};

    if (interrupted())
        return fail(error, LKS_CANCELLED, "interrupted");
    return lks_producer_append(producer, &slice, 1, offset, offset_size, NULL,
                               0, NULL, NULL, error);
}

/* One producer's TGB; its place in the map stays. */
static enum lks_status add_to_map(struct bench *bench,
                                  struct lks_stream *stream,
                                  uint64_t index,
                                  const struct lks_options *options,
                                  struct lks_error *error)
{
    struct lks_producer *producer = NULL;
    char offset[LKS_OFFSET_SIZE_MAX];
    char id[MAP_ID_SIZE];
    enum lks_status status;

    snprintf(id, sizeof(id), "map-%04" PRIu64, index);
    memset(offset, 'o', sizeof(offset));
    memcpy(offset, id, strlen(id));
    status = lks_producer_open(stream, id, options, &producer, error);
    if (status == LKS_OK)
        status = append(producer, bench, offset, sizeof(offset), error);
    if (status == LKS_OK)
        status = lks_producer_flush(producer, error);
    lks_producer_close(producer);
    return status;
}

/* Outside the ring of turns, since nobody would come when it is theirs. */
static enum lks_status fill_map(struct bench *bench,
                                struct lks_stream *stream,
                                uint64_t count,
                                struct lks_error *error)
{
    struct lks_options *options = NULL;
    enum lks_status status = lks_options_new(&options, error);

    if (status == LKS_OK)
        status = set(options, "pacing", "fixed", error);
    if (status == LKS_OK)
        status = set(options, "commit_gap_ms", "0", error);
    for (uint64_t i = 0; i < count && status == LKS_OK; i++)
        status = add_to_map(bench, stream, i, options, error);
    lks_options_free(options);
    return status;
}

static enum lks_status add_steps(struct bench *bench,
                                 struct lks_stream *stream,
                                 uint64_t count,
                                 const struct lks_options *options,
                                 struct lks_error *error)
{
    struct lks_producer *producer = NULL;
    struct progress progress;
    enum lks_status status;

    status = lks_producer_open(stream, "bench", options, &producer, error);
    if (status != LKS_OK)
        return status;
    progress_start(&progress, "building", count, true);
    for (uint64_t i = 0; i < count && status == LKS_OK; i++) {
        status = append(producer, bench, &i, sizeof(i), error);
        if (i % BENCH_COMMIT_BLOCK == 0)
            progress_show(&progress, i);
    }
    if (status == LKS_OK)
        status = lks_producer_flush(producer, error);
    progress_stop(&progress);
    lks_producer_close(producer);
    return status;
}

static enum lks_status ask_info(struct lks_stream *stream,
                                struct bench_stream *target,
                                struct lks_error *error)
{
    char *text = NULL;
    enum lks_status status = lks_stream_info(stream, &text, error);
    json_t *info;

    if (status != LKS_OK)
        return status;
    info = report_parse(text);
    if (info == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    target->version =
        (uint64_t)json_integer_value(json_object_get(info, "version"));
    target->manifest_size =
        (uint64_t)json_integer_value(json_object_get(info, "manifest_bytes"));
    json_decref(info);
    return LKS_OK;
}

enum lks_status bench_commit_build(struct bench *bench,
                                   struct bench_stream *target,
                                   uint64_t steps,
                                   uint64_t map_count,
                                   struct lks_error *error)
{
    struct lks_options *options = NULL;
    const struct lks_options *used;
    struct lks_stream *stream = NULL;
    double start = seconds_now();
    enum lks_status status;

    steps = steps < map_count ? map_count : steps;
    steps += BENCH_COMMIT_BLOCK - 1;
    steps -= steps % BENCH_COMMIT_BLOCK;
    target->steps = steps;

    status = make_options(bench->url, &options, error);
    used = options != NULL ? options : bench->args->options;
    if (status == LKS_OK)
        status = lks_stream_create(target->url, 1, 1, used, &stream, error);
    if (status == LKS_OK)
        status = fill_map(bench, stream, map_count, error);
    if (status == LKS_OK)
        status = add_steps(bench, stream, steps - map_count, used, error);
    if (status == LKS_OK)
        status = ask_info(stream, target, error);
    target->build_seconds = seconds_now() - start;
    lks_stream_close(stream);
    lks_options_free(options);
    return status;
}
