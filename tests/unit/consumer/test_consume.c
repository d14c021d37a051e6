/*
 * Consuming: the right bytes, in order, on every mesh, from wherever a rank
 * begins, to the end.
 */
#include "support/consume.h"

static void assert_ended(struct lks_consumer *consumer, const char *part)
{
    struct lks_batch *batch = NULL;
    struct lks_error error;

    for (int i = 0; i < 2; i++) { /* It stays so. */
        assert_status(LKS_ENDED, lks_consumer_take(consumer, &batch, &error));
        assert_message_has(part);
        assert_null(batch);
    }
}

/* Reads steps [from, to) as `rank` of `dp`, and the end after them. */
static void read_all(struct consume *consume,
                     uint32_t rank,
                     uint32_t dp,
                     uint64_t from,
                     uint64_t to)
{
    struct lks_consumer *consumer = consume_open(consume, rank, dp, from);
    uint64_t step = from;

    while (step < to) {
        consume_take(consume, consumer, step);
        step += consumer->share.group;
        assert_int_equal(consumer->step, step);
    }
    assert_ended(consumer, "ended at step");
    lks_consumer_free(consumer);
}

static void every_rank_reads_its_slices_in_order(void **state)
{
    struct consume consume;

    (void)state;
    consume_begin(&consume, 2, 2);
    consume_add(&consume, 20, 1);
    consume_finish(&consume);
    for (uint32_t rank = 0; rank < 4; rank++)
        read_all(&consume, rank, 0, 0, 20);
    consume_end(&consume);
}

static void steps_are_read_across_index_blocks(void **state)
{
    struct consume consume;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_add(&consume, 600, 7);
    consume_finish(&consume);
    read_all(&consume, 1, 0, 0, 600);
    read_all(&consume, 0, 0, 255, 600);
    read_all(&consume, 0, 0, 256, 600);
    read_all(&consume, 0, 0, 599, 600);
    read_all(&consume, 0, 4, 254, 600); /* groups of 2 across a block's end */
    consume_end(&consume);
}

static void every_remap_reads_the_same_stream(void **state)
{
    static const uint32_t cps[] = {1, 3};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct consume consume;

        consume_begin(&consume, 4, cps[i]);
        consume_add(&consume, 12, 5);
        consume_finish(&consume);
        for (uint32_t dp = 1; dp <= 12; dp++) {
            if (4 % dp != 0 && dp % 4 != 0)
                continue;
            for (uint32_t rank = 0; rank < dp * cps[i]; rank++)
                read_all(&consume, rank, dp, 0, 12);
        }
        consume_end(&consume);
    }
}

static void tables_of_every_kind_are_read(void **state)
{
    static const struct {
        uint32_t dp;
        size_t spread;
    } shapes[] = {{16, 0}, {8, 300}, {16, 300}, {9, 1000}};

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct consume consume;
        uint32_t dp = shapes[i].dp;

        consume_begin(&consume, dp, 1);
        consume.builder.shape.spread = shapes[i].spread;
        consume_add(&consume, 300, 10);
        consume_finish(&consume);
        read_all(&consume, dp - 1, 0, 0, 300);
        read_all(&consume, 0, 1, 0, 300);
        read_all(&consume, dp, 3 * dp, 1, 298);
        consume_end(&consume);
    }
}

static void packed_slices_are_unpacked(void **state)
{
    static const enum lks_codec codecs[] = {LKS_CODEC_LZ4, LKS_CODEC_ZSTD};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct consume consume;

        consume_begin(&consume, 4, 2);
        consume.builder.shape = (struct stream_shape){
            .size = 5000,
            .spread = 777,
            .codec = codecs[i / 2],
            .mixed = i % 2 == 1,
        };
        consume_add(&consume, 40, 3);
        consume_finish(&consume);
        for (uint32_t rank = 0; rank < 4; rank++)
            read_all(&consume, rank, 2, 0, 40);
        consume_end(&consume);
    }
}

static void empty_slices_are_slices(void **state)
{
    struct consume consume;

    (void)state;
    consume_begin(&consume, 3, 1);
    consume.builder.shape.size = 0;
    consume_add(&consume, 5, 1);
    consume_finish(&consume);
    read_all(&consume, 2, 0, 0, 5);
    read_all(&consume, 0, 1, 0, 5);
    consume_end(&consume);
}

static void too_few_tgbs_for_a_step_are_left_over(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_add(&consume, 11, 1);
    consume_finish(&consume);
    for (uint32_t rank = 0; rank < 8; rank++) {
        consumer = consume_open(&consume, rank, 8, 0);
        consume_take(&consume, consumer, 0);
        consume_take(&consume, consumer, 4);
        assert_ended(consumer, "steps 8 to 10 are left over");
        assert_int_equal(consumer->step, 8);
        lks_consumer_free(consumer);
    }
    consumer = consume_open(&consume, 1, 4, 8);
    consume_take(&consume, consumer, 8);
    assert_ended(consumer, "step 10 is left over");
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void a_stream_that_ended_empty_ends_at_once(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_finish(&consume);
    consumer = consume_open(&consume, 0, 0, LKS_STEP_FIRST);
    assert_ended(consumer, "ended at step 0");
    lks_consumer_free(consumer);
    consumer = consume_open(&consume, 0, 0, 17);
    assert_ended(consumer, "ended at step 0");
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void steps_that_come_later_are_followed(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    uint64_t step = 0;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_set(&consume, "poll_ms", "1");
    consumer = consume_open(&consume, 1, 0, LKS_STEP_FIRST);
    for (uint64_t burst = 1; burst <= 40; burst++) {
        consume_add(&consume, burst, 1);
        for (uint64_t i = 0; i < burst; i++)
            consume_take(&consume, consumer, step++);
    }
    consume_finish(&consume);
    assert_ended(consumer, "ended at step 820");
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void a_position_is_restored(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_add(&consume, 300, 10);
    consume_finish(&consume);
    consumer = consume_open(&consume, 0, 0, 0);
    assert_status(LKS_OK, lks_consumer_seek(consumer, 290, &error));
    assert_int_equal(consumer->step, 290);
    consume_take(&consume, consumer, 290);
    assert_status(LKS_OK, lks_consumer_seek(consumer, 3, &error));
    for (uint64_t step = 3; step < 300; step++)
        consume_take(&consume, consumer, step);
    assert_ended(consumer, "ended");
    assert_status(LKS_OK, lks_consumer_seek(consumer, 299, &error));
    consume_take(&consume, consumer, 299);
    lks_consumer_free(consumer);

    /* Groups are counted from where the position is. */
    consumer = consume_open(&consume, 3, 4, 0);
    consume_take(&consume, consumer, 0);
    assert_status(LKS_OK, lks_consumer_seek(consumer, 5, &error));
    consume_take(&consume, consumer, 5);
    consume_take(&consume, consumer, 7);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

static void steps_below_the_first_live_one_are_refused(void **state)
{
    const struct lks_descriptor descriptor = {
        .dp = 1,
        .cp = 1,
        .producers_to_end = 1,
        .first_step = 300,
    };
    struct consume consume;
    struct lks_consumer *consumer = NULL;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    (void)state;
    consume_begin_with(&consume, &descriptor);
    consume_add(&consume, 10, 1);
    assert_status(LKS_RECLAIMED,
                  lks_consumer_new(consume.stream, 0, 0, 0, 299,
                                   consume.options, &consumer, &error));
    assert_message_has("first live step is 300");
    assert_null(consumer);

    consumer = consume_open(&consume, 0, 0, LKS_STEP_FIRST);
    consume_take(&consume, consumer, 300);
    assert_status(LKS_RECLAIMED, lks_consumer_seek(consumer, 4, &error));
    assert_message_has("first live step is 300");
    consume_take(&consume, consumer, 301); /* It is where it was. */
    lks_consumer_free(consumer);

    assert_status(LKS_RECLAIMED, lks_consumer_read_one(consume.stream, 299, 0,
                                                       &batch, &error));
    consume_end(&consume);
}

static void assert_meta(struct lks_batch *batch, const char *meta)
{
    const void *data;
    size_t size;
    struct lks_error error;

    for (int i = 0; i < 2; i++) {
        assert_status(LKS_OK, lks_batch_read_meta(batch, &data, &size, &error));
        assert_int_equal(size, strlen(meta));
        assert_memory_equal(data, meta, size);
    }
}

static void metadata_is_that_of_the_first_tgb(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 2, 1);
    consume_add(&consume, 8, 8);
    consumer = consume_open(&consume, 5, 6, 1); /* reads the third of three */
    assert_status(LKS_OK, lks_consumer_take(consumer, &batch, &error));
    consume_check(&consume, &consumer->share, batch, 1);
    lks_consumer_free(consumer);
    /* The batch outlives its consumer. */
    assert_meta(batch, "meta of 1");
    lks_batch_free(batch);
    consume_end(&consume);
}

static void one_slice_is_read_without_a_consumer(void **state)
{
    struct lks_share share = {.group = 1, .slice_count = 1, .slice_stride = 2};
    struct consume consume;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 8, 2);
    consume.builder.shape.spread = 500;
    consume_add(&consume, 260, 20);
    for (uint64_t step = 250; step < 260; step++) {
        share.slice_first = (uint32_t)step % 16;
        assert_status(LKS_OK,
                      lks_consumer_read_one(consume.stream, step,
                                            share.slice_first, &batch, &error));
        consume_check(&consume, &share, batch, step);
        lks_batch_free(batch);
    }
    batch = NULL;
    assert_status(LKS_NOT_FOUND, lks_consumer_read_one(consume.stream, 260, 0,
                                                       &batch, &error));
    assert_message_has("has no step 260: the next one will be step 260");
    assert_status(LKS_INVALID,
                  lks_consumer_read_one(consume.stream, 0, 16, &batch, &error));
    assert_null(batch);
    consume_end(&consume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_reads_its_slices_in_order),
        cmocka_unit_test(steps_are_read_across_index_blocks),
        cmocka_unit_test(every_remap_reads_the_same_stream),
        cmocka_unit_test(tables_of_every_kind_are_read),
        cmocka_unit_test(packed_slices_are_unpacked),
        cmocka_unit_test(empty_slices_are_slices),
        cmocka_unit_test(too_few_tgbs_for_a_step_are_left_over),
        cmocka_unit_test(a_stream_that_ended_empty_ends_at_once),
        cmocka_unit_test(steps_that_come_later_are_followed),
        cmocka_unit_test(a_position_is_restored),
        cmocka_unit_test(steps_below_the_first_live_one_are_refused),
        cmocka_unit_test(metadata_is_that_of_the_first_tgb),
        cmocka_unit_test(one_slice_is_read_without_a_consumer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
