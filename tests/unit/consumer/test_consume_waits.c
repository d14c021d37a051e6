/*
 * Consumers that wait: for steps, for the store, for room; and how such waits
 * end.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "support/consume.h"

static void nap_ms(uint64_t duration_ms)
{
    lks_env_sleep_ns(lks_env_real(), duration_ms * LKS_NS_PER_MS);
}

static uint64_t now_ms(void)
{
    return lks_env_now_ns(lks_env_real()) / LKS_NS_PER_MS;
}

/* Fails to take, with this status and message. */
static void assert_take(enum lks_status status,
                        struct lks_consumer *consumer,
                        const char *part)
{
    struct lks_batch *batch = NULL;
    struct lks_error error;

    assert_int_equal(lks_consumer_take(consumer, &batch, &error), status);
    assert_int_equal(error.status, status);
    assert_message_has(part);
    assert_null(batch);
}

/* Waits in vain for so long; other waits last as long as it takes. */
static void assert_starves(struct lks_consumer *consumer,
                           uint64_t timeout_ms,
                           const char *part)
{
    uint64_t before_ms = consumer->starve_timeout_ms;

    consumer->starve_timeout_ms = timeout_ms;
    assert_take(LKS_TIMEOUT, consumer, part);
    consumer->starve_timeout_ms = before_ms;
}

/* Waits again until those who read had their turn to fail. */
static void assert_unavailable(struct lks_consumer *consumer, const char *part)
{
    uint64_t before_ms = consumer->starve_timeout_ms;
    uint64_t begin_ms = now_ms();
    enum lks_status status = LKS_TIMEOUT;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    consumer->starve_timeout_ms = 300;
    while (status == LKS_TIMEOUT && now_ms() - begin_ms < 60000)
        status = lks_consumer_take(consumer, &batch, &error);
    consumer->starve_timeout_ms = before_ms;
    assert_status(LKS_UNAVAILABLE, status);
    assert_message_has(part);
}

static void a_wait_in_vain_says_what_it_waited_for(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_batch *batch;
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_add(&consume, 3, 1);
    consumer = consume_open(&consume, 0, 0, 2);
    consume_take(&consume, consumer, 2);
    assert_starves(consumer, 60, " s for step 3 of mem://");
    assert_starves(consumer, 60, "version 3, next step 3, for ");
    /* The message ends here, without a word of limits. */
    consumer->starve_timeout_ms = 60;
    assert_int_equal(lks_consumer_take(consumer, &batch, &error), LKS_TIMEOUT);
    assert_string_equal(error.message + strlen(error.message) - 6, " s ago");
    consumer->starve_timeout_ms = 300000;
    assert_int_equal(consumer->step, 3);

    /* It may be asked again. */
    consume_add(&consume, 1, 1);
    consume_take(&consume, consumer, 3);
    lks_consumer_free(consumer);

    consumer = consume_open(&consume, 0, 6, 2);
    assert_starves(consumer, 60, "for steps 2 to 4 of mem://");
    consume_add(&consume, 1, 1);
    consume_take(&consume, consumer, 2);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void a_stream_at_its_limit_says_so(void **state)
{
    const struct lks_descriptor descriptor = {
        .dp = 1,
        .cp = 1,
        .producers_to_end = 1,
        .max_live_steps = 4,
    };
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin_with(&consume, &descriptor);
    consume_add(&consume, 4, 1);
    consumer = consume_open(&consume, 0, 0, 3);
    consume_take(&consume, consumer, 3);
    assert_starves(consumer, 60,
                   "limit of 4 live steps, with no checkpoint since step 0");
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void bytes_that_do_not_come_are_told_from_steps(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 2, 2);
    consumer = consume_open(&consume, 0, 0, 0);
    consume.store->hang = HANG_DATA;
    assert_starves(consumer, 60,
                   "which is there (version 1, next step "
                   "2) but is still being read");
    consume.store->hang = HANG_NEVER;
    consume_take(&consume, consumer, 0);
    consume_take(&consume, consumer, 1);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void a_store_that_fails_is_tried_until_the_caller_gives_up(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 9, 1);
    consume.builder.shape.spread = 100; /* Footers are read, too. */
    consume_add(&consume, 300, 10);
    consumer = consume_open(&consume, 0, 0, 0);
    consume.store->fail = HANG_ALWAYS;
    assert_unavailable(consumer, "HTTP 503 of the test");
    consume.store->fail = HANG_DATA;
    assert_unavailable(consumer, "HTTP 503 of the test");
    consume.store->fail = HANG_NEVER;
    for (uint64_t step = 0; step < 300; step++)
        consume_take(&consume, consumer, step);

    consume.store->fail = HANG_ALWAYS;
    assert_unavailable(consumer, "for step 300: get mem://");
    consume.store->fail = HANG_NEVER;
    consume_add(&consume, 1, 1);
    consume_take(&consume, consumer, 300);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void a_step_beyond_the_budget_is_refused(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_add(&consume, 1, 1);
    consume.builder.shape.size = 100000;
    consume_add(&consume, 1, 1);
    consume_set(&consume, "prefetch_bytes", "64KiB");
    consumer = consume_open(&consume, 0, 0, 0);
    consume.builder.shape.size = 100;
    consume_take(&consume, consumer, 0);
    assert_take(LKS_INVALID, consumer,
                "step 1 takes 100096 bytes, more than "
                "prefetch_bytes, which is 65536");
    assert_take(LKS_INVALID, consumer, "prefetch_bytes");
    assert_int_equal(consumer->step, 1);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void what_is_beyond_the_budget_waits_for_its_turn(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 9, 1);
    consume.builder.shape.spread = 100; /* Tables are read ahead of it. */
    consume_add(&consume, 5, 5);
    consume.builder.shape.size = 100000;
    consume_add(&consume, 1, 1);
    consume.builder.shape.size = 100;
    consume_add(&consume, 50, 50);
    consume_set(&consume, "prefetch_bytes", "64KiB");
    consumer = consume_open(&consume, 0, 0, 0);
    consume_take(&consume, consumer, 0);
    nap_ms(50);
    for (uint64_t step = 1; step < 5; step++)
        consume_take(&consume, consumer, step);
    assert_take(LKS_INVALID, consumer, "step 5 takes ");
    nap_ms(50);
    assert_take(LKS_INVALID, consumer, "step 5 takes ");
    lks_consumer_free(consumer);
    consume_end(&consume);
}

/* What the consumer holds, looked at while it may change. */
static uint64_t reserved(struct lks_consumer *consumer)
{
    struct lks_prefetch *prefetch = &consumer->prefetch;
    uint64_t size;

    lks_monitor_enter(prefetch->env, prefetch->monitor);
    size = prefetch->locked.reserved;
    lks_monitor_leave(prefetch->env, prefetch->monitor);
    return size;
}

/* In time, however busy the machine is. */
static void await_reserved(struct lks_consumer *consumer, uint64_t size)
{
    for (int i = 0; i < 5000 && reserved(consumer) != size; i++)
        nap_ms(2);
    assert_int_equal(reserved(consumer), size);
}

static void the_budget_bounds_what_is_fetched_ahead(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    uint64_t fetched;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume.builder.shape.size = 10000; /* frames of 10,112 bytes */
    consume_add(&consume, 100, 10);
    consume_set(&consume, "prefetch_bytes", "64KiB");
    consumer = consume_open(&consume, 0, 0, 0);
    for (uint64_t step = 0; step < 80; step++) {
        consume_take(&consume, consumer, step);
        assert_true(reserved(consumer) <= 65536);
        fetched = consume.store->data_gets;
        assert_true(fetched <= step + 1 + 6);
    }
    await_reserved(consumer, 6 * 10112);
    nap_ms(20);
    assert_true(consume.store->data_gets <= 86);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void packed_slices_keep_to_the_budget_and_give_back(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume.builder.shape.size = 10000;
    consume.builder.shape.codec = LKS_CODEC_ZSTD;
    consume_add(&consume, 30, 10);
    consume_set(&consume, "prefetch_bytes", "64KiB");
    consumer = consume_open(&consume, 0, 0, 0);
    consume_take(&consume, consumer, 0);
    /* What was stored is gone, what was unpacked stays: 10,048 bytes each. */
    await_reserved(consumer, 6 * 10048);
    for (uint64_t step = 1; step < 30; step++)
        consume_take(&consume, consumer, step);
    assert_int_equal(reserved(consumer), 0);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void a_missing_object_is_not_skipped(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    char name[LKS_NAME_SIZE];
    const char *names[] = {name};
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 10, 10);
    stream_builder_name(5, name);
    assert_status(LKS_OK, lks_store_remove(&consume.store->base, names, 1, NULL,
                                           &error));
    consumer = consume_open(&consume, 0, 0, 0);
    for (uint64_t step = 0; step < 5; step++)
        consume_take(&consume, consumer, step);
    assert_take(LKS_CORRUPT, consumer, name);
    assert_take(LKS_CORRUPT, consumer, "is missing");
    assert_int_equal(consumer->step, 5);

    assert_status(LKS_OK, lks_consumer_seek(consumer, 6, &error));
    consume_take(&consume, consumer, 6);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void damaged_bytes_are_never_handed_out(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    char name[LKS_NAME_SIZE];
    uint8_t bytes[400];
    size_t size;
    struct lks_part part = {.data = bytes};
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 3, 3);
    stream_builder_name(1, name);
    assert_status(LKS_OK, lks_store_get(&consume.store->base, name, 0, bytes,
                                        sizeof(bytes), &size, NULL, &error));
    bytes[LKS_FRAME_HEADER_SIZE + 50] ^= 1;
    part.size = size;
    assert_status(LKS_OK, lks_store_put(&consume.store->base, name, &part, 1,
                                        NULL, &error));
    consumer = consume_open(&consume, 0, 0, 0);
    consume_take(&consume, consumer, 0);
    assert_take(LKS_CORRUPT, consumer, "step 1, slice 0 of mem://");
    assert_take(LKS_CORRUPT, consumer, "wrong checksum");
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void *cancel_soon(void *arg)
{
    nap_ms(50);
    lks_consumer_stop(arg);
    return NULL;
}

static void a_cancel_ends_a_wait_for_good(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_error error;
    pthread_t thread;
    uint64_t begin_ms = now_ms();

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 1, 1);
    for (int i = 0; i < 3; i++) {
        consumer = consume_open(&consume, 0, 0, 0);
        if (i > 0)
            consume_take(&consume, consumer, 0);
        if (i == 2)
            consume.store->hang = HANG_ALWAYS;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, consumer),
                         0);
        if (i == 0)
            pthread_join(thread, NULL); /* before anything was asked for */
        assert_take(LKS_CANCELLED, consumer, "cancelled");
        assert_take(LKS_CANCELLED, consumer, "cancelled");
        if (i > 0)
            pthread_join(thread, NULL);
        assert_status(LKS_OK, lks_consumer_seek(consumer, 0, &error));
        assert_take(LKS_CANCELLED, consumer, "cancelled");
        lks_consumer_free(consumer);
    }
    assert_true(now_ms() - begin_ms < 5000);
    consume_end(&consume);
}

/* How long closing takes while calls of the store hang. */
static uint64_t close_hanging_ms(enum hang hang, size_t spread)
{
    struct consume consume;
    struct lks_consumer *consumer;
    uint64_t begin_ms;
    uint64_t end_ms;

    consume_begin(&consume, 9, 1);
    consume.builder.shape.spread = spread;
    consume_add(&consume, 300, 300);
    consumer = consume_open(&consume, 0, 0, 0);
    consume.store->hang = hang;
    assert_starves(consumer, 60, "waited");
    for (int i = 0; i < 5000 && consume.store->waiting == 0; i++)
        nap_ms(2);
    assert_true(consume.store->waiting > 0);
    begin_ms = now_ms();
    lks_consumer_free(consumer);
    end_ms = now_ms();
    assert_int_equal(consume.store->waiting, 0);
    consume_end(&consume);
    return end_ms - begin_ms;
}

static void closing_does_not_wait_for_a_dead_store(void **state)
{
    static const enum hang hangs[] = {HANG_DATA, HANG_ALWAYS};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t spread = 0; spread <= 100; spread += 100) {
            uint64_t best_ms = UINT64_MAX;

            for (int round = 0; round < 3 && best_ms >= 1000; round++)
                best_ms = close_hanging_ms(hangs[i], spread);
            assert_true(best_ms < 1000);
        }
    }
}

static void closing_at_any_moment_leaves_nothing(void **state)
{
    struct consume consume;
    int64_t live;

    (void)state;
    consume_begin(&consume, 9, 1);
    consume.builder.shape.spread = 100;
    consume_add(&consume, 400, 40);
    live = lks_alloc_live();
    for (uint64_t round = 0; round < 40; round++) {
        struct lks_consumer *consumer = consume_open(&consume, 3, 0, round * 9);

        for (uint64_t i = 0; i < round % 5; i++)
            consume_take(&consume, consumer, round * 9 + i);
        lks_consumer_free(consumer);
        assert_int_equal(lks_alloc_live(), live);
    }
    consume_end(&consume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_in_vain_says_what_it_waited_for),
        cmocka_unit_test(a_stream_at_its_limit_says_so),
        cmocka_unit_test(bytes_that_do_not_come_are_told_from_steps),
        cmocka_unit_test(a_store_that_fails_is_tried_until_the_caller_gives_up),
        cmocka_unit_test(a_step_beyond_the_budget_is_refused),
        cmocka_unit_test(what_is_beyond_the_budget_waits_for_its_turn),
        cmocka_unit_test(the_budget_bounds_what_is_fetched_ahead),
        cmocka_unit_test(packed_slices_keep_to_the_budget_and_give_back),
        cmocka_unit_test(a_missing_object_is_not_skipped),
        cmocka_unit_test(damaged_bytes_are_never_handed_out),
        cmocka_unit_test(a_cancel_ends_a_wait_for_good),
        cmocka_unit_test(closing_does_not_wait_for_a_dead_store),
        cmocka_unit_test(closing_at_any_moment_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
