/*
 * What reading costs: requests are money, and many ranks share one store.
 */
#include "support/consume.h"

static void nap_ms(uint64_t duration_ms)
{
    lks_env_sleep_ns(lks_env_real(), duration_ms * LKS_NS_PER_MS);
}

static uint64_t control_requests(const struct consume *consume)
{
    return consume->store->manifest_gets + consume->store->index_gets +
           consume->store->lists;
}

static void a_thousand_steps_cost_a_get_each_and_their_blocks(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_sighting sighting;
    struct lks_counts counts;

    (void)state;
    consume_begin(&consume, 4, 1);
    consume_add(&consume, 1000, 3);
    consume_finish(&consume);
    consumer = consume_open(&consume, 2, 0, 0);
    assert_int_equal(control_requests(&consume), 2);
    for (uint64_t step = 0; step < 1000; step++)
        consume_take(&consume, consumer, step);
    assert_int_equal(consume.store->data_gets, 1000);
    assert_int_equal(consume.store->index_gets, 3);
    assert_int_equal(consume.store->manifest_gets, 1);
    assert_int_equal(consume.store->lists, 1);

    counts = consume_counts(consumer, &sighting);
    assert_int_equal(counts.steps, 1000);
    assert_int_equal(counts.payload_size, 100 * 1000);
    assert_int_equal(counts.needed_size, 100 * 1000);
    assert_int_equal(counts.get_count + sighting.get_count, 1004);
    assert_int_equal(sighting.list_count, 1);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void opening_anywhere_costs_the_same(void **state)
{
    static const uint64_t steps[] = {0, 255, 256, 700, 799};
    struct consume consume;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 800, 100);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        uint64_t before = control_requests(&consume);
        struct lks_consumer *consumer =
            consume_open(&consume, 0, 0, LKS_STEP_FIRST);
        struct lks_error error;

        assert_status(LKS_OK, lks_consumer_seek(consumer, steps[i], &error));
        consume_set(&consume, "prefetch_bytes", "64KiB");
        consume_take(&consume, consumer, steps[i]);
        /* A listing, the newest manifest, and the blocks from there on. */
        assert_true(control_requests(&consume) - before <= 2 + 4);
        lks_consumer_free(consumer);
    }
    consume_end(&consume);
}

static void nobody_polls_while_there_is_enough_to_fetch(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume.builder.shape.size = 8000;
    consume_add(&consume, 100, 100);
    consume_set(&consume, "prefetch_bytes", "64KiB");
    consume_set(&consume, "poll_ms", "1");
    consumer = consume_open(&consume, 0, 0, 0);
    for (uint64_t step = 0; step < 92; step++) {
        consume_take(&consume, consumer, step);
        if (step % 10 == 0)
            nap_ms(5);
    }
    assert_int_equal(control_requests(&consume), 2);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

/* A rank that takes a step for each one that comes, `lead` steps behind. */
static void follow(struct consume *consume, uint64_t lead, uint64_t steps)
{
    struct lks_consumer *consumer;
    uint64_t before;

    consume_add(consume, lead, 1);
    consumer = consume_open(consume, 0, 0, 0);
    before = consume->store->manifest_gets;
    for (uint64_t step = 0; step < steps; step++) {
        consume_add(consume, 1, 1);
        consume_take(consume, consumer, step);
        if (step % 64 == 0)
            nap_ms(3); /* Time to poll more than is due. */
    }
    /* Without a lead it starves each time, and may look too early. */
    assert_true(consume->store->manifest_gets - before <=
                (lead > 1 ? steps : steps + steps / 10));
    assert_int_equal(consume->store->lists, 1);
    lks_consumer_free(consumer);
}

static void following_costs_at_most_a_get_per_step(void **state)
{
    static const uint64_t leads[] = {1, 20, 700};

    (void)state;
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        struct consume consume;

        consume_begin(&consume, 1, 1);
        consume_set(&consume, "poll_ms", "1");
        follow(&consume, leads[i], 400);
        consume_end(&consume);
    }
}

static void a_rank_that_is_far_behind_gallops(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    uint64_t before;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 1, 1);
    consumer = consume_open(&consume, 0, 0, 0);
    consume_add(&consume, 2000, 1);
    before = consume.store->manifest_gets;
    for (uint64_t step = 0; step <= 2000; step++)
        consume_take(&consume, consumer, step);
    assert_true(consume.store->manifest_gets - before <= 60);
    assert_int_equal(consume.store->lists, 1);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void those_who_starve_keep_to_their_pace(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_batch *batch;
    uint64_t before;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_set(&consume, "poll_ms", "10");
    consume_set(&consume, "starve_timeout_ms", "400");
    consumer = consume_open(&consume, 0, 0, 0);
    before = control_requests(&consume);
    assert_int_equal(lks_consumer_take(consumer, &batch, NULL), LKS_TIMEOUT);
    assert_in_range(control_requests(&consume) - before, 2, 60);
    lks_consumer_free(consumer);

    /* Of 50 ranks, each has a tenth of the polls per second. */
    consumer = consume_open(&consume, 0, 50, 0);
    before = control_requests(&consume);
    assert_int_equal(lks_consumer_take(consumer, &batch, NULL), LKS_TIMEOUT);
    assert_in_range(control_requests(&consume) - before, 0, 9);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void the_pause_between_polls_has_three_reasons(void **state)
{
    const uint64_t ms = LKS_NS_PER_MS;

    (void)state;
    assert_int_equal(lks_poll_pause_ns(20, 1, 0), 20 * ms);
    assert_int_equal(lks_poll_pause_ns(20, 100, 0), 200 * ms);
    assert_int_equal(lks_poll_pause_ns(20, 10000, 0), 20000 * ms);
    assert_int_equal(lks_poll_pause_ns(20, 1, 320 * ms), 20 * ms);
    assert_int_equal(lks_poll_pause_ns(20, 1, 16000 * ms), 1000 * ms);
    assert_int_equal(lks_poll_pause_ns(20, 1, 600000 * ms), 2000 * ms);
    assert_int_equal(lks_poll_pause_ns(60000, 1, 600000 * ms), 60000 * ms);
}

static void little_is_fetched_that_is_not_needed(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_sighting sighting;
    struct lks_counts counts;
    uint64_t fetched;

    (void)state;
    consume_begin(&consume, 4, 1);
    consume.builder.shape.size = 1u << 20;
    consume.builder.shape.spread = 1000;
    consumer = consume_open(&consume, 1, 0, 0);
    for (uint64_t step = 0; step < 10; step++) {
        consume_add(&consume, 1, 1);
        consume_take(&consume, consumer, step);
    }
    counts = consume_counts(consumer, &sighting);
    fetched = counts.fetched_size + sighting.fetched_size;
    assert_int_equal(counts.needed_size, counts.payload_size);
    assert_true(fetched > counts.needed_size);
    assert_true(fetched - counts.needed_size < counts.needed_size / 100);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_steps_cost_a_get_each_and_their_blocks),
        cmocka_unit_test(opening_anywhere_costs_the_same),
        cmocka_unit_test(nobody_polls_while_there_is_enough_to_fetch),
        cmocka_unit_test(following_costs_at_most_a_get_per_step),
        cmocka_unit_test(a_rank_that_is_far_behind_gallops),
        cmocka_unit_test(those_who_starve_keep_to_their_pace),
        cmocka_unit_test(the_pause_between_polls_has_three_reasons),
        cmocka_unit_test(little_is_fetched_that_is_not_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
