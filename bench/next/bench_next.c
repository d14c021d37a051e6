/*
 * How long lks_consumer_next() takes when the data is there: bench_next FOLDER
 *
 * Makes a stream of small steps in FOLDER, lets the window fill, and times each
 * call on its own until half of it is handed out. Prints one line of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lakestream.h"

#define STEPS 1200u
#define TIMED 500u
#define FILL_MS 500

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static enum lks_status fill(struct lks_stream *stream, struct lks_error *error)
{
    static const char payload[4096];
    struct lks_slice slice = {payload, sizeof(payload)};
    struct lks_producer *producer = NULL;
    enum lks_status status;

    status = lks_producer_open(stream, "bench", NULL, &producer, error);
    for (unsigned int i = 0; i < STEPS && status == LKS_OK; i++)
        status = lks_producer_append(producer, &slice, 1, NULL, 0, NULL, 0,
                                     NULL, NULL, error);
    if (status == LKS_OK)
        status = lks_producer_finish(producer, error);
    lks_producer_close(producer);
    return status;
}

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return (a > b) - (a < b);
}

static void report(uint64_t times[TIMED])
{
    uint64_t sum = 0;

    for (unsigned int i = 0; i < TIMED; i++)
        sum += times[i];
    qsort(times, TIMED, sizeof(*times), by_value);
    printf("{\"calls\": %u, \"mean_us\": %.2f, \"p50_us\": %.2f, "
           "\"p95_us\": %.2f}\n",
           TIMED, (double)sum / TIMED / 1e3, (double)times[TIMED / 2] / 1e3,
           (double)times[TIMED * 95 / 100] / 1e3);
}

static enum lks_status measure(struct lks_stream *stream,
                               struct lks_error *error)
{
    struct timespec rest = {.tv_nsec = FILL_MS * 1000000};
    struct lks_consumer *consumer = NULL;
    struct lks_batch *batch = NULL;
    uint64_t times[TIMED] = {0};
    enum lks_status status;

    status = lks_consumer_open(stream, 0, 0, 0, 0, NULL, &consumer, error);
    if (status == LKS_OK)
        status = lks_consumer_next(consumer, &batch, error);
    if (status == LKS_OK)
        lks_batch_release(batch);
    nanosleep(&rest, NULL);
    for (unsigned int i = 0; i < TIMED && status == LKS_OK; i++) {
        uint64_t begin = now_ns();

        status = lks_consumer_next(consumer, &batch, error);
        times[i] = now_ns() - begin;
        if (status == LKS_OK)
            lks_batch_release(batch);
    }
    lks_consumer_close(consumer);
    if (status == LKS_OK)
        report(times);
    return status;
}

int main(int argc, char **argv)
{
    struct lks_stream *stream = NULL;
    struct lks_error error = {0};
    enum lks_status status;

    if (argc != 2) {
        fprintf(stderr, "usage: bench_next FOLDER\n");
        return 2;
    }
    status = lks_stream_create(argv[1], 1, 1, NULL, &stream, &error);
    if (status == LKS_OK)
        status = fill(stream, &error);
    if (status == LKS_OK)
        status = measure(stream, &error);
    lks_stream_close(stream);
    if (status != LKS_OK)
        fprintf(stderr, "bench_next: %s\n", error.message);
    return status == LKS_OK ? 0 : 1;
}
