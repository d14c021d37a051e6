/*
 * One round of what `bench commit` measures of a stream. Requests are what the
 * stream or the store says it has sent; bytes are counted from the lines that
 * the library logs of its store, those of raw objects too, so that both sides
 * pay alike for being counted.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_commit.h"
#include "interrupt.h"
#include "report.h"

/* From the start of a measurement on. */
struct meter {
    double start;
    uint64_t requests; /* that were sent before */
    atomic_uint_fast64_t bytes_read;
    atomic_uint_fast64_t bytes_written;
};

/* What is open between the measurements of a round. */
struct round {
    struct bench *bench;
    struct bench_stream *target;
    size_t index;
    struct meter meter;
    struct lks_stream *stream;
    struct lks_producer *producer;
    struct lks_stream *reading;
    struct lks_consumer *consumer;
};

/* "get URL/KEY size=N ok". */
static void count_line(const char *area, const char *line, void *arg)
{
    const char *number = strrchr(line, '=');
    struct meter *meter = arg;
    uint64_t size;

    (void)area;
    if (number == NULL)
        return;
    size = strtoull(number + 1, NULL, 10);
    if (strncmp(line, "get ", 4) == 0)
        atomic_fetch_add(&meter->bytes_read, size);
    else if (strncmp(line, "put ", 4) == 0 || strncmp(line, "create ", 7) == 0)
        atomic_fetch_add(&meter->bytes_written, size);
}

/* Of a stream that is open, of the raw store, or of one yet to be opened. */
static void meter_start(struct round *round,
                        struct lks_store *store,
                        struct lks_stream *stream)
{
    struct meter *meter = &round->meter;
    bool is_open = store != NULL || stream != NULL;

    meter->requests = is_open ? bench_requests(store, stream, NULL) : 0;
    atomic_store(&meter->bytes_read, 0);
    atomic_store(&meter->bytes_written, 0);
    meter->start = seconds_now();
}

static void meter_take(struct round *round,
                       enum bench_cost cost,
                       struct lks_store *store,
                       struct lks_stream *stream)
{
    const struct meter *meter = &round->meter;
    double ms = 1e3 * (seconds_now() - meter->start);
    double values[FIELD_COUNT] = {
        [FIELD_MS] = ms,
        [FIELD_REQUESTS] =
            (double)(bench_requests(store, stream, NULL) - meter->requests),
        [FIELD_BYTES_READ] = (double)atomic_load(&meter->bytes_read),
        [FIELD_BYTES_WRITTEN] = (double)atomic_load(&meter->bytes_written),
    };

    for (int field = 0; field < FIELD_COUNT; field++)
        round->target->samples[cost][field][round->index] = values[field];
}

static enum lks_status commit_step(struct round *round, struct lks_error *error)
{
    struct bench *bench = round->bench;
    struct lks_slice slice = {bench->payload, bench->slice_size};
    uint64_t offset = round->target->steps;
    enum lks_status status;

    status = lks_producer_append(round->producer, &slice, 1, &offset,
                                 sizeof(offset), NULL, 0, NULL, NULL, error);
    if (status == LKS_OK)
        status = lks_producer_flush(round->producer, error);
    if (status == LKS_OK)
        round->target->steps++;
    return status;
}

static enum lks_status take_step(struct round *round, struct lks_error *error)
{
    struct lks_batch *batch = NULL;
    enum lks_status status = lks_consumer_next(round->consumer, &batch, error);

    lks_batch_release(batch);
    return status;
}

static enum lks_status open_producer(struct round *round,
                                     struct lks_error *error)
{
    const struct lks_options *options = round->bench->args->options;
    enum lks_status status;

    meter_start(round, NULL, NULL);
    status =
        lks_stream_open(round->target->url, options, &round->stream, error);
    if (status == LKS_OK)
        status = lks_producer_open(round->stream, "bench", options,
                                   &round->producer, error);
    meter_take(round, COST_OPEN_PRODUCER, NULL, round->stream);
    return status;
}

static enum lks_status open_consumer(struct round *round,
                                     struct lks_error *error)
{
    const struct lks_options *options = round->bench->args->options;
    enum lks_status status;

    meter_start(round, NULL, NULL);
    status =
        lks_stream_open(round->target->url, options, &round->reading, error);
    if (status == LKS_OK)
        status =
            lks_consumer_open(round->reading, 0, 0, 0, round->target->steps - 1,
                              options, &round->consumer, error);
    if (status == LKS_OK)
        status = take_step(round, error);
    meter_take(round, COST_OPEN_CONSUMER, NULL, round->reading);
    return status;
}

static void close_consumer(struct round *round)
{
    lks_consumer_close(round->consumer);
    lks_stream_close(round->reading);
    round->consumer = NULL;
    round->reading = NULL;
}

static void close_producer(struct round *round)
{
    lks_producer_close(round->producer);
    lks_stream_close(round->stream);
}

static enum lks_status poll_once(struct round *round, struct lks_error *error)
{
    enum lks_status status = commit_step(round, error);

    meter_start(round, NULL, round->reading);
    if (status == LKS_OK)
        status = take_step(round, error);
    meter_take(round, COST_POLL, NULL, round->reading);
    return status;
}

static enum lks_status commit_once(struct round *round, struct lks_error *error)
{
    enum lks_status status;

    meter_start(round, NULL, round->stream);
    status = commit_step(round, error);
    meter_take(round, COST_COMMIT, NULL, round->stream);
    return status;
}

static enum lks_status look_up(struct round *round, struct lks_error *error)
{
    struct lks_stream *stream = NULL;
    struct lks_batch *batch = NULL;
    enum lks_status status;

    meter_start(round, NULL, NULL);
    status = lks_stream_open(round->target->url, round->bench->args->options,
                             &stream, error);
    if (status == LKS_OK)
        status = lks_stream_get(stream, 0, 0, &batch, error);
    meter_take(round, COST_LOOKUP, NULL, stream);
    lks_batch_release(batch);
    lks_stream_close(stream);
    return status;
}

/* The bytes of a commit that was just measured, a TGB's and a manifest's. */
static enum lks_status write_raw(struct round *round, struct lks_error *error)
{
    struct bench *bench = round->bench;
    const double *written =
        round->target->samples[COST_COMMIT][FIELD_BYTES_WRITTEN];
    size_t all = (size_t)written[round->index];
    size_t tgb = bench->slice_size < all ? (size_t)bench->slice_size : all;
    uint8_t *bytes = calloc(all > 0 ? all : 1, 1);
    enum lks_status status;

    if (bytes == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    meter_start(round, bench->store, NULL);
    status = lks_object_put(bench->store, "raw/tgb", bytes, tgb, error);
    if (status == LKS_OK)
        status = lks_object_put(bench->store, "raw/manifest", bytes, all - tgb,
                                error);
    meter_take(round, COST_RAW, bench->store, NULL);
    free(bytes);
    return status;
}

enum lks_status bench_commit_round(struct bench *bench,
                                   struct bench_stream *target,
                                   size_t index,
                                   struct lks_error *error)
{
    struct round round = {.bench = bench, .target = target, .index = index};
    enum lks_status status;

    if (interrupted())
        return fail(error, LKS_CANCELLED, "interrupted");
    lks_log_set(count_line, &round.meter, "store");
    status = open_producer(&round, error);
    if (status == LKS_OK)
        status = open_consumer(&round, error);
    if (status == LKS_OK)
        status = poll_once(&round, error);
    close_consumer(&round);
    if (status == LKS_OK)
        status = commit_once(&round, error);
    close_producer(&round);
    if (status == LKS_OK)
        status = look_up(&round, error);
    if (status == LKS_OK)
        status = write_raw(&round, error);
    lks_log_set(NULL, NULL, "");
    return status;
}
