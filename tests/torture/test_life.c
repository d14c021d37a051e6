/*
 * A stream's whole life, again and again, with one thing later going wrong each
 * time: the n-th allocation, the n-th store call.
 *
 * Whatever goes wrong, it ends with a status that says so, holds no memory
 * afterwards, and leaves a stream on which the work can be done: each TGB once,
 * in order, with its bytes (invariants 2, 3 and 4 of docs/protocol.md).
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/options.h"
#include "manifest/stream.h"
#include "support/env_hasty.h"
#include "support/store_faulty.h"
#include "support/torture.h"

#define SLICE_COUNT 9u /* unequal ones: their table is in the footer */
#define TGB_COUNT 5u
#define ROUND_MAX 20000u

struct world {
    struct faulty_store *store;
    struct lks_stream *stream;
    struct lks_options *options;
    enum fault fault;
    atomic_long calls_left; /* the call at which it strikes; < 0: it has */
    uint64_t appended;      /* acknowledged by a flush */
};

static enum fault strike(enum faulty_op op, const char *key, void *arg)
{
    struct world *world = arg;

    (void)op;
    (void)key;
    return atomic_fetch_sub(&world->calls_left, 1) == 0 ? world->fault
                                                        : FAULT_NONE;
}

static void set_option(struct world *world, const char *name, const char *value)
{
    struct lks_error error;

    assert_status(LKS_OK, lks_options_set(world->options, name, value, &error));
}

/* Writes stream.json as lks_stream_make() does, but for its slow probe. */
static void put_descriptor(struct lks_store *store)
{
    struct lks_descriptor descriptor = {
        .format = LKS_FORMAT_VERSION,
        .stream = {1, 2, 3},
        .dp = SLICE_COUNT,
        .cp = 1,
        .producers_to_end = 1,
    };
    struct lks_part part;
    struct lks_buf buf;
    struct lks_error error;

    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    assert_status(LKS_OK, lks_descriptor_encode(&descriptor, &buf, &error));
    part.data = buf.data;
    part.size = buf.size;
    assert_status(LKS_OK, lks_store_create(store, LKS_DESCRIPTOR_NAME, &part, 1,
                                           NULL, &error));
    lks_buf_done(&buf);
}

/* A stream that nothing has happened to yet. */
static void world_begin(struct world *world)
{
    struct lks_error error;

    memset(world, 0, sizeof(*world));
    world->calls_left = -1;
    world->store = faulty_store_new_mem(env_hasty(), strike, world);
    put_descriptor(world->store->inner);
    assert_status(LKS_OK,
                  lks_stream_load(&world->store->base, &world->stream, &error));
    assert_status(LKS_OK, lks_options_new(&world->options, &error));
    set_option(world, "commit_gap_ms", "0");
    set_option(world, "flush_timeout_ms", "6000000");
    set_option(world, "starve_timeout_ms", "6000000");
    set_option(world, "outage_timeout_ms", "6000000");
    set_option(world, "codec", "lz4");
}

static void world_end(struct world *world)
{
    lks_options_free(world->options);
    lks_stream_close(world->stream);
}

/* Slice `index` of TGB `seq`: its bytes tell both. */
static size_t slice_bytes(uint64_t seq, size_t index, char bytes[200])
{
    size_t size = 20 + 17 * index;

    memset(bytes, 'a' + (int)(seq % 26), size);
    snprintf(bytes, size, "%" PRIu64 ".%zu", seq, index);
    return size;
}

static enum lks_status append_one(struct lks_producer *producer,
                                  char bytes[SLICE_COUNT][200],
                                  struct lks_error *error)
{
    uint64_t seq = lks_producer_next_seq(producer);
    struct lks_slice slices[SLICE_COUNT];

    for (size_t i = 0; i < SLICE_COUNT; i++) {
        slices[i].data = bytes[i];
        slices[i].size = slice_bytes(seq, i, bytes[i]);
    }
    return lks_producer_append(producer, slices, SLICE_COUNT, &seq, sizeof(seq),
                               "meta", 4, NULL, NULL, error);
}

/* Appends what is missing to TGB_COUNT, and finishes. */
static enum lks_status produce(struct world *world, struct lks_error *error)
{
    static char bytes[TGB_COUNT][SLICE_COUNT][200];
    struct lks_producer *producer = NULL;
    enum lks_status status;

    status =
        lks_producer_open(world->stream, "p", world->options, &producer, error);
    for (int i = 0;
         status == LKS_OK && lks_producer_next_seq(producer) < TGB_COUNT; i++) {
        status = append_one(producer, bytes[i], error);
        if (status == LKS_OK)
            status = lks_producer_flush(producer, error);
        if (status == LKS_OK)
            world->appended = lks_producer_next_seq(producer);
    }
    if (status == LKS_OK)
        status = lks_producer_finish(producer, error);
    lks_producer_close(producer);
    return status;
}

static enum lks_status check_batch(struct lks_batch *batch,
                                   uint64_t step,
                                   struct lks_error *error)
{
    char expected[200];
    const void *meta;
    size_t meta_size;
    enum lks_status status;

    assert_int_equal(lks_batch_step(batch), step);
    assert_int_equal(lks_batch_slice_count(batch), SLICE_COUNT);
    for (size_t i = 0; i < SLICE_COUNT; i++) {
        struct lks_slice slice = lks_batch_slice(batch, i);

        assert_int_equal(slice.size, slice_bytes(step, i, expected));
        assert_memory_equal(slice.data, expected, slice.size);
    }
    status = lks_batch_meta(batch, &meta, &meta_size, error);
    if (status == LKS_OK) {
        assert_int_equal(meta_size, 4);
        assert_memory_equal(meta, "meta", 4);
    }
    return status;
}

/* One rank that takes all slices, to the end. */
static enum lks_status consume(struct world *world, struct lks_error *error)
{
    struct lks_consumer *consumer = NULL;
    enum lks_status status;
    uint64_t step = 0;

    status = lks_consumer_open(world->stream, 0, 1, 1, 0, world->options,
                               &consumer, error);
    while (status == LKS_OK) {
        struct lks_batch *batch = NULL;

        status = lks_consumer_next(consumer, &batch, error);
        if (status != LKS_OK)
            break;
        status = check_batch(batch, step++, error);
        lks_batch_release(batch);
    }
    lks_consumer_close(consumer);
    if (status != LKS_ENDED)
        return status;
    assert_int_equal(step, TGB_COUNT);
    return LKS_OK;
}

static enum lks_status keep_quiet(const char *line, void *arg)
{
    (void)line;
    (void)arg;
    return LKS_OK;
}

static enum lks_status inspect(struct world *world, struct lks_error *error)
{
    char *json = NULL;
    enum lks_status status = lks_stream_info(world->stream, &json, error);

    if (status == LKS_OK) {
        lks_text_free(json);
        status = lks_stream_log(world->stream, 0, UINT64_MAX, keep_quiet, NULL,
                                error);
    }
    if (status == LKS_OK)
        status = lks_stream_verify(world->stream, 1, &json, error);
    if (status != LKS_OK)
        return status;
    if (strstr(json, "\"ok\": true") == NULL &&
        strstr(json, "\"ok\":true") == NULL)
        fail_msg("the stream is damaged: %s", json);
    lks_text_free(json);
    return LKS_OK;
}

/* What a failing thing may be reported as. */
static bool is_honest(enum lks_status status, enum lks_status expected)
{
    return status == LKS_OK || status == expected;
}

/* The whole life with one thing going wrong; then the same life, in peace.
 * Returns the allocations of the first. */
static uint64_t live_twice(struct world *world, enum lks_status expected)
{
    uint64_t allocations;
    struct lks_error error;
    enum lks_status status = produce(world, &error);

    if (!is_honest(status, expected))
        fail_msg("produce: %s: %s", lks_status_name(status), error.message);
    if (status == LKS_OK)
        status = consume(world, &error);
    if (!is_honest(status, expected))
        fail_msg("consume: %s: %s", lks_status_name(status), error.message);
    if (status == LKS_OK)
        status = inspect(world, &error);
    if (!is_honest(status, expected))
        fail_msg("inspect: %s: %s", lks_status_name(status), error.message);

    allocations = lks_alloc_count();
    lks_alloc_fail_at(0);
    atomic_store(&world->calls_left, -1);
    assert_status(LKS_OK, produce(world, &error));
    assert_status(LKS_OK, consume(world, &error));
    assert_status(LKS_OK, inspect(world, &error));
    return allocations;
}

static void every_allocation_may_fail(void **state)
{
    uint64_t allocations;
    uint64_t round = 0;

    (void)state;
    do {
        int64_t live = lks_alloc_live();
        struct world world;

        world_begin(&world);
        round += TORTURE_STRIDE;
        lks_alloc_fail_at(round);
        allocations = live_twice(&world, LKS_NO_MEMORY);
        world_end(&world);
        if (lks_alloc_live() != live)
            fail_msg("allocation %" PRIu64 " failed: %" PRId64 " are held",
                     round, lks_alloc_live() - live);
        assert_true(round < ROUND_MAX);
    } while (allocations >= round);
    print_message("%" PRIu64 " allocations\n", allocations);
}

static long count_calls(void)
{
    struct world world;
    struct lks_error error;
    long calls = 1000000;

    world_begin(&world);
    atomic_store(&world.calls_left, calls);
    assert_status(LKS_OK, produce(&world, &error));
    assert_status(LKS_OK, consume(&world, &error));
    assert_status(LKS_OK, inspect(&world, &error));
    calls -= atomic_load(&world.calls_left);
    world_end(&world);
    return calls;
}

static void every_store_call_may_fail(enum fault fault)
{
    long calls = count_calls() + 5;

    for (long i = 0; i < calls; i++) {
        int64_t live = lks_alloc_live();
        struct world world;

        world_begin(&world);
        world.fault = fault;
        atomic_store(&world.calls_left, i);
        live_twice(&world, LKS_UNAVAILABLE);
        world_end(&world);
        assert_int_equal(lks_alloc_live(), live);
    }
    print_message("%ld calls\n", calls);
}

static void every_request_may_be_lost(void **state)
{
    (void)state;
    every_store_call_may_fail(FAULT_LOSE_REQUEST);
}

static void every_reply_may_be_lost(void **state)
{
    (void)state;
    every_store_call_may_fail(FAULT_LOSE_REPLY);
}

static void every_call_may_be_refused(void **state)
{
    (void)state;
    every_store_call_may_fail(FAULT_FAIL);
}

static void every_call_may_be_throttled(void **state)
{
    (void)state;
    every_store_call_may_fail(FAULT_THROTTLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_request_may_be_lost),
        cmocka_unit_test(every_reply_may_be_lost),
        cmocka_unit_test(every_call_may_be_refused),
        cmocka_unit_test(every_call_may_be_throttled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
