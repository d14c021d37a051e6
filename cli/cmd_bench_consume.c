/*
 * lakestream bench consume: reading slices in order against range-reading the
 * same bytes of the same objects. Copies of them would do for the raw side if
 * all of a machine's memory, or of a store's disks, were equally fast.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "commands.h"
#include "interrupt.h"
#include "report.h"

#define HUGE_PAGE_SIZE (UINT64_C(2) << 20)

static const struct arg_option options[] = {
    BENCH_OPTIONS,
    {.name = "ranks",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "1",
     .min = 1,
     .max = BENCH_WORKERS_MAX,
     .text = "ranks at the same time"},
    {.name = "fetches",
     .type = ARG_COUNT,
     .value = "N",
     .preset = "4",
     .min = 1,
     .max = BENCH_DEPTH_MAX,
     .text = "reads of each at a time"},
};

/*
 * What outlives a measurement: the warming up is to last, as it does in a
 * training run, whose memory is fresh and whose connections are made once.
 */
struct readers {
    char **keys;       /* of the steps' objects, in the bench's store */
    uint8_t **buffers; /* one for each thread of the raw side */
    struct lks_consumer *consumers[BENCH_WORKERS_MAX];
    char beginning[LKS_STATE_SIZE_MAX];
};

struct raw_gets {
    struct bench *bench;
    bool checksum;
    atomic_uint_fast64_t next[BENCH_WORKERS_MAX]; /* step of each rank */
    atomic_uint_fast32_t checksums; /* so that it is not left out */
};

/* Of what a rank reads of a TGB. */
static uint64_t range_size(const struct bench *bench)
{
    return bench_frame_size(bench) * bench->slices / bench->worker_count;
}

static enum lks_status get_ranges(void *shared,
                                  size_t index,
                                  struct lks_error *error)
{
    struct raw_gets *gets = shared;
    struct bench *bench = gets->bench;
    const struct readers *readers = bench->own;
    uint8_t *data = readers->buffers[index];
    uint64_t size = range_size(bench);
    uint64_t rank = index / bench->depth_count, step;
    enum lks_status status = LKS_OK;

    while (status == LKS_OK &&
           (step = atomic_fetch_add(&gets->next[rank], 1)) < bench->count) {
        status = interrupted()
                     ? fail(error, LKS_CANCELLED, "interrupted")
                     : lks_object_get(bench->store, readers->keys[step],
                                      rank * size, data, size, error);
        if (status == LKS_OK && gets->checksum)
            atomic_fetch_xor(&gets->checksums, lks_crc32c(data, size));
    }
    return status;
}

static enum lks_status get_all(struct bench *bench,
                               bool checksum,
                               double *out_seconds,
                               struct lks_error *error)
{
    struct raw_gets gets = {.bench = bench, .checksum = checksum};
    uint64_t before = bench_requests(bench->store, NULL, NULL);
    enum lks_status status;

    status = bench_threads(bench->worker_count * bench->depth_count, get_ranges,
                           &gets, out_seconds, error);
    bench->request_count = bench_requests(bench->store, NULL, NULL) - before;
    return status;
}

static enum lks_status measure_raw(struct bench *bench,
                                   double *out_seconds,
                                   struct lks_error *error)
{
    return get_all(bench, false, out_seconds, error);
}

static enum lks_status measure_raw_crc(struct bench *bench,
                                       double *out_seconds,
                                       struct lks_error *error)
{
    return get_all(bench, true, out_seconds, error);
}

/* With what was fetched ahead forgotten, and the threads that fetch anew. */
static enum lks_status read_steps(void *shared,
                                  size_t index,
                                  struct lks_error *error)
{
    struct bench *bench = shared;
    const struct readers *readers = bench->own;
    struct lks_consumer *consumer = readers->consumers[index];
    enum lks_status status;

    status = lks_consumer_restore(consumer, readers->beginning, error);
    for (uint64_t i = 0; i < bench->count && status == LKS_OK; i++) {
        struct lks_batch *batch = NULL;

        status = lks_consumer_next(consumer, &batch, error);
        lks_batch_release(batch);
    }
    return status;
}

static enum lks_status measure_ours(struct bench *bench,
                                    double *out_seconds,
                                    struct lks_error *error)
{
    uint64_t before = bench_requests(NULL, bench->stream, NULL);
    enum lks_status status;

    status = bench_threads(bench->worker_count, read_steps, bench, out_seconds,
                           error);
    bench->request_count = bench_requests(NULL, bench->stream, NULL) - before;
    return status;
}

static enum lks_status append_all(struct bench *bench,
                                  struct lks_producer *producer,
                                  const struct lks_slice *slices,
                                  struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    for (uint64_t i = 0; i < bench->count && status == LKS_OK; i++)
        status = lks_producer_append(producer, slices, bench->slices, NULL, 0,
                                     NULL, 0, NULL, NULL, error);
    return status == LKS_OK ? lks_producer_flush(producer, error) : status;
}

static enum lks_status write_stream(struct bench *bench,
                                    struct lks_error *error)
{
    struct lks_slice *slices = calloc(bench->slices, sizeof(*slices));
    struct lks_producer *producer = NULL;
    enum lks_status status;

    if (slices == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    for (uint64_t i = 0; i < bench->slices; i++) {
        slices[i].data = bench->payload + i * bench->slice_size;
        slices[i].size = bench->slice_size;
    }
    status = bench_create_stream(bench, &bench->stream, error);
    if (status == LKS_OK)
        status = lks_producer_open(bench->stream, "bench", bench->args->options,
                                   &producer, error);
    if (status == LKS_OK) {
        interrupt_watch_producer(producer);
        status = append_all(bench, producer, slices, error);
        interrupt_unwatch(producer);
    }
    lks_producer_close(producer);
    free(slices);
    return status;
}

/* As a key of the bench's own store, which is opened above the stream. */
static enum lks_status keep_key(const char *line, void *arg)
{
    struct bench *bench = arg;
    struct readers *readers = bench->own;
    json_t *entry = json_loads(line, 0, NULL);
    json_int_t step = -1;
    const char *object = "";
    char key[BENCH_URL_SIZE];

    json_unpack(entry, "{s:I, s:s}", "step", &step, "object", &object);
    snprintf(key, sizeof(key), "%s/%s", bench->stream_name, object);
    json_decref(entry);
    if (step < 0 || (uint64_t)step >= bench->count)
        return LKS_CANCELLED;
    readers->keys[step] = strdup(key);
    return readers->keys[step] != NULL ? LKS_OK : LKS_CANCELLED;
}

/* As a stream's own blocks: what is under a copy must not decide. */
static uint8_t *new_buffer(uint64_t size)
{
    uint64_t room = (size + HUGE_PAGE_SIZE - 1) / HUGE_PAGE_SIZE;
    uint8_t *buffer = aligned_alloc(HUGE_PAGE_SIZE, room * HUGE_PAGE_SIZE);

    if (buffer != NULL)
        madvise(buffer, size - size % HUGE_PAGE_SIZE, MADV_HUGEPAGE);
    return buffer;
}

static enum lks_status open_raw(struct bench *bench, struct lks_error *error)
{
    struct readers *readers = bench->own;
    uint64_t threads = bench->worker_count * bench->depth_count;

    readers->keys = calloc(bench->count, sizeof(*readers->keys));
    readers->buffers = calloc(threads, sizeof(*readers->buffers));
    if (readers->keys == NULL || readers->buffers == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    for (uint64_t i = 0; i < threads; i++) {
        readers->buffers[i] = new_buffer(range_size(bench));
        if (readers->buffers[i] == NULL)
            return fail(error, LKS_NO_MEMORY,
                        "out of memory for %" PRIu64 " bytes",
                        range_size(bench));
    }
    return lks_stream_log(bench->stream, 0, bench->count, keep_key, bench,
                          error);
}

static enum lks_status open_consumers(struct bench *bench,
                                      struct lks_error *error)
{
    struct readers *readers = bench->own;
    enum lks_status status = LKS_OK;

    for (uint32_t i = 0; i < bench->worker_count && status == LKS_OK; i++) {
        status =
            lks_consumer_open(bench->stream, i, (uint32_t)bench->worker_count,
                              1, 0, bench->args->options,
                              &readers->consumers[i], error);
        if (status == LKS_OK)
            interrupt_watch_consumer(readers->consumers[i]);
    }
    if (status == LKS_OK)
        status = lks_consumer_state(readers->consumers[0], readers->beginning,
                                    sizeof(readers->beginning), error);
    return status;
}

static void close_readers(struct bench *bench)
{
    struct readers *readers = bench->own;
    uint64_t threads = bench->worker_count * bench->depth_count;

    for (uint64_t i = 0; i < bench->worker_count; i++) {
        interrupt_unwatch(readers->consumers[i]);
        lks_consumer_close(readers->consumers[i]);
    }
    for (uint64_t i = 0; readers->keys != NULL && i < bench->count; i++)
        free(readers->keys[i]);
    for (uint64_t i = 0; readers->buffers != NULL && i < threads; i++)
        free(readers->buffers[i]);
    free(readers->keys);
    free(readers->buffers);
}

static int run(struct args *args)
{
    const struct bench_sides sides = {measure_raw, measure_raw_crc,
                                      measure_ours};
    struct readers readers = {.keys = NULL};
    struct bench bench;
    struct lks_error error;
    enum lks_status status;
    int code;

    code = bench_parse(&bench, args, "consume", "ranks", "fetches");
    if (code != EXIT_DONE)
        return code;
    if (bench.slices % bench.worker_count != 0)
        return report_usage(args->command,
                            "--slices %" PRIu64 " must be a "
                            "multiple of --ranks %" PRIu64,
                            bench.slices, bench.worker_count);

    bench.own = &readers;
    bench.item = "step"; /* as one rank takes it */
    bench.item_count = bench.count * bench.worker_count;
    status = bench_open(&bench, &error);
    if (status == LKS_OK)
        status = write_stream(&bench, &error);
    if (status == LKS_OK)
        status = open_raw(&bench, &error);
    if (status == LKS_OK)
        status = open_consumers(&bench, &error);
    code = status == LKS_OK ? bench_run(&bench, &sides)
                            : report_error(args, &error);
    close_readers(&bench);
    bench_close(&bench);
    return code;
}

const struct command command_bench_consume = {
    .name = "bench consume",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "producer|consumer|run|change",
    .reports = true,
    .text = "Measure reading slices against range-reading raw objects",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
