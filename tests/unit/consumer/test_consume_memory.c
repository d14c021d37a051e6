/*
 * Memory: what happens when it runs out, and which of it is used again.
 */
#include "support/consume.h"
#include "support/torture.h"

/* Reads the stream's only step, and its metadata. */
static enum lks_status read_step(void *arg)
{
    struct consume *consume = arg;
    struct lks_consumer *consumer = NULL;
    struct lks_batch *batch = NULL;
    const void *data;
    size_t size;
    enum lks_status status;

    status = lks_consumer_new(consume->stream, 2, 0, 0, 0, consume->options,
                              &consumer, NULL);
    if (status == LKS_OK)
        status = lks_consumer_take(consumer, &batch, NULL);
    if (status == LKS_OK)
        status = lks_batch_read_meta(batch, &data, &size, NULL);
    lks_batch_free(batch);
    lks_consumer_free(consumer);
    return status;
}

static enum lks_status read_one(void *arg)
{
    struct consume *consume = arg;
    struct lks_batch *batch = NULL;
    enum lks_status status =
        lks_consumer_read_one(consume->stream, 0, 2, &batch, NULL);

    lks_batch_free(batch);
    return status;
}

static enum lks_status report(void *arg)
{
    char *json = NULL;
    enum lks_status status = lks_consumer_report(arg, &json, NULL);

    lks_free(json);
    return status;
}

static void running_out_of_memory_is_survived(void **state)
{
    static const struct stream_shape shapes[] = {
        {.size = 100},
        {.size = 100, .spread = 100},
        {.size = 1000, .codec = LKS_CODEC_LZ4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct consume consume;
        struct lks_consumer *consumer;

        consume_begin(&consume, 9, 1);
        consume.builder.shape = shapes[i];
        consume_add(&consume, 1, 1);
        consume_finish(&consume);
        torture(read_step, &consume);
        torture(read_one, &consume);
        consumer = consume_open(&consume, 0, 0, 0);
        torture(report, consumer);
        lks_consumer_free(consumer);
        consume_end(&consume);
    }
}

static void what_failed_for_memory_may_be_asked_again(void **state)
{
    struct consume consume;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume_add(&consume, 3, 3);
    consume_finish(&consume);
    for (uint64_t n = 1; n < 20; n++) {
        struct lks_consumer *consumer = consume_open(&consume, 0, 0, 0);
        struct lks_batch *batch = NULL;
        enum lks_status status;

        lks_alloc_fail_at(n);
        status = lks_consumer_take(consumer, &batch, NULL);
        lks_alloc_fail_at(0);
        if (status == LKS_OK)
            lks_batch_free(batch);
        else
            assert_int_equal(status, LKS_NO_MEMORY);
        /* The failure may have been the next step's. */
        while (consumer->step < 3) {
            status = lks_consumer_take(consumer, &batch, NULL);
            if (status == LKS_OK)
                lks_batch_free(batch);
            else
                assert_int_equal(status, LKS_NO_MEMORY);
        }
        lks_consumer_free(consumer);
    }
    consume_end(&consume);
}

/* ---------------------------------------------------------------- shelf -- */

#define BLOCK ((size_t)LKS_SHELF_BLOCK_MIN)

static struct lks_block take(struct lks_shelf *shelf, size_t size)
{
    struct lks_block block;
    struct lks_error error;

    assert_status(LKS_OK, lks_shelf_take(shelf, size, &block, &error));
    assert_true(block.size >= size);
    assert_int_equal((uintptr_t)block.data % 64, 0);
    return block;
}

static uint32_t processor; /* that the test says it is on */

static uint32_t that_processor(const struct lks_env *env)
{
    (void)env;
    return processor;
}

static struct lks_shelf *new_shelf(uint64_t size_max)
{
    static const struct lks_block_source heap;
    static struct lks_env_ops ops;
    static struct lks_env env = {.ops = &ops};
    struct lks_shelf *shelf = NULL;
    struct lks_error error;

    ops = *lks_env_real()->ops;
    ops.this_processor = that_processor;
    processor = 0;
    assert_status(LKS_OK, lks_shelf_new(&env, size_max, &heap, &shelf, &error));
    return shelf;
}

static void a_block_that_was_given_is_taken_again(void **state)
{
    struct lks_shelf *shelf = new_shelf(100 * BLOCK);
    struct lks_block first = take(shelf, BLOCK);
    struct lks_block second = take(shelf, BLOCK);
    uint8_t *data = second.data;

    (void)state;
    lks_shelf_give(shelf, &first);
    lks_shelf_give(shelf, &second);
    assert_null(second.data);
    second = take(shelf, BLOCK); /* the last one first */
    assert_ptr_equal(second.data, data);
    lks_shelf_give(shelf, &second);
    /* Neither too small nor much too large. */
    first = take(shelf, BLOCK + 1);
    assert_ptr_not_equal(first.data, data);
    lks_shelf_give(shelf, &first);
    first = take(shelf, BLOCK + BLOCK / 2);
    second = take(shelf, BLOCK - 1); /* fresh: too small for a shelf */
    assert_int_equal(second.size, BLOCK - 1);
    lks_shelf_give(shelf, &second);
    lks_shelf_give(shelf, &first);
    lks_shelf_release(shelf);
}

static void a_processor_takes_what_it_has_in_its_cache(void **state)
{
    struct lks_shelf *shelf = new_shelf(100 * BLOCK);
    struct lks_block first = take(shelf, BLOCK);
    uint8_t *firsts = first.data;
    struct lks_block second;
    uint8_t *seconds;

    (void)state;
    processor = 1;
    second = take(shelf, BLOCK);
    seconds = second.data;
    processor = 2; /* Who gives it does not matter. */
    lks_shelf_give(shelf, &first);
    lks_shelf_give(shelf, &second);

    processor = 0;
    first = take(shelf, BLOCK);
    assert_ptr_equal(first.data, firsts);
    lks_shelf_give(shelf, &first);
    processor = 1;
    second = take(shelf, BLOCK);
    assert_ptr_equal(second.data, seconds);
    /* Another's is better than fresh memory, and is its own from then on. */
    first = take(shelf, BLOCK);
    assert_ptr_equal(first.data, firsts);
    lks_shelf_give(shelf, &first);
    lks_shelf_give(shelf, &second);
    processor = 0;
    first = take(shelf, BLOCK);
    assert_ptr_equal(first.data, seconds);
    lks_shelf_give(shelf, &first);
    lks_shelf_release(shelf);
}

static void a_shelf_keeps_to_its_bound(void **state)
{
    struct lks_shelf *shelf = new_shelf(4 * BLOCK);
    struct lks_block blocks[8];
    int64_t live = lks_alloc_live();

    (void)state;
    for (size_t i = 0; i < 8; i++)
        blocks[i] = take(shelf, BLOCK);
    for (size_t i = 0; i < 8; i++) {
        lks_shelf_give(shelf, &blocks[i]);
        assert_true(lks_alloc_live() - live <= (i < 4 ? 7 - (int64_t)i : 4));
    }
    assert_int_equal(lks_alloc_live() - live, 4);
    /* What is taken of another size takes the place of the others. */
    blocks[0] = take(shelf, 3 * BLOCK);
    assert_int_equal(lks_alloc_live() - live, 2);
    lks_shelf_give(shelf, &blocks[0]);
    lks_shelf_release(shelf);
}

static void a_shelf_lives_as_long_as_its_last_holder(void **state)
{
    int64_t live = lks_alloc_live();
    struct lks_shelf *shelf = new_shelf(4 * BLOCK);
    struct lks_block block = take(shelf, BLOCK);

    (void)state;
    lks_shelf_acquire(shelf);
    lks_shelf_release(shelf);
    lks_shelf_give(shelf, &block);
    lks_shelf_release(shelf);
    assert_int_equal(lks_alloc_live(), live);
}

static void batches_use_the_memory_of_released_ones(void **state)
{
    struct consume consume;
    struct lks_consumer *consumer;
    struct lks_batch *batch = NULL;
    const void *seen[32];
    size_t count = 0;
    struct lks_error error;

    (void)state;
    consume_begin(&consume, 1, 1);
    consume.builder.shape.size = 200000;
    consume_add(&consume, 200, 20);
    consume_set(&consume, "prefetch_bytes", "1MiB"); /* five batches */
    consumer = consume_open(&consume, 0, 0, 0);
    for (uint64_t step = 0; step < 200; step++) {
        size_t i = 0;

        assert_status(LKS_OK, lks_consumer_take(consumer, &batch, &error));
        consume_check(&consume, &consumer->share, batch, step);
        while (i < count && seen[i] != batch->slices[0].data)
            i++;
        if (i == count && count < 32)
            seen[count++] = batch->slices[0].data;
        lks_batch_free(batch);
    }
    assert_true(count <= 12);
    lks_consumer_free(consumer);
    consume_end(&consume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_out_of_memory_is_survived),
        cmocka_unit_test(what_failed_for_memory_may_be_asked_again),
        cmocka_unit_test(a_block_that_was_given_is_taken_again),
        cmocka_unit_test(a_processor_takes_what_it_has_in_its_cache),
        cmocka_unit_test(a_shelf_keeps_to_its_bound),
        cmocka_unit_test(a_shelf_lives_as_long_as_its_last_holder),
        cmocka_unit_test(batches_use_the_memory_of_released_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
