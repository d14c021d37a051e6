/*
 * Batches in memory of the caller's: what its allocator is asked for, when, and
 * that it gets everything back once, however it fails.
 */
#include <pthread.h>
#include <stdlib.h>

#include "support/consume.h"
#include "support/torture.h"

#define BLOCKS_MAX 256u

/* An allocator that keeps a list of what it gave. */
struct lender {
    pthread_mutex_t mutex;
    void *blocks[BLOCKS_MAX];
    size_t sizes[BLOCKS_MAX];
    size_t lent;           /* now */
    unsigned int asked;    /* in all */
    unsigned int fails_at; /* the asking that fails, from 1; 0: none */
    bool always_fails;
    size_t off; /* bytes past the alignment */
    unsigned int released;
};

static void lender_init(struct lender *lender)
{
    memset(lender, 0, sizeof(*lender));
    pthread_mutex_init(&lender->mutex, NULL);
}

static void lender_done(struct lender *lender)
{
    assert_int_equal(lender->lent, 0);
    pthread_mutex_destroy(&lender->mutex);
}

static void *lend(size_t size, size_t alignment, void *arg)
{
    struct lender *lender = arg;
    uint8_t *block = NULL;
    size_t place = 0;

    pthread_mutex_lock(&lender->mutex);
    assert_int_equal(lender->released, 0);
    lender->asked++;
    if (lender->always_fails || lender->asked == lender->fails_at)
        goto done;
    block = aligned_alloc(alignment, (size / alignment + 2) * alignment);
    assert_non_null(block);
    block += lender->off;
    while (lender->blocks[place] != NULL)
        place++;
    assert_true(place < BLOCKS_MAX);
    lender->blocks[place] = block;
    lender->sizes[place] = size;
    lender->lent++;

done:
    pthread_mutex_unlock(&lender->mutex);
    return block;
}

static void take_back(void *memory, size_t size, void *arg)
{
    struct lender *lender = arg;
    size_t place = 0;

    pthread_mutex_lock(&lender->mutex);
    while (place < BLOCKS_MAX && lender->blocks[place] != memory)
        place++;
    assert_true(place < BLOCKS_MAX); /* lent, and not taken back before */
    assert_int_equal(lender->sizes[place], size);
    lender->blocks[place] = NULL;
    lender->lent--;
    free((uint8_t *)memory - lender->off);
    pthread_mutex_unlock(&lender->mutex);
}

static void end_lending(void *arg)
{
    struct lender *lender = arg;

    assert_int_equal(lender->lent, 0);
    lender->released++;
}

static bool has_lent(const struct lender *lender, const void *data, size_t size)
{
    uintptr_t begin = (uintptr_t)data;

    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        uintptr_t block = (uintptr_t)lender->blocks[i];

        if (lender->blocks[i] != NULL && begin >= block &&
            begin + size <= block + lender->sizes[i])
            return true;
    }
    return false;
}

static enum lks_status borrow(struct lks_consumer *consumer,
                              struct lender *lender,
                              struct lks_error *error)
{
    return lks_consumer_set_allocator(consumer, lend, take_back, end_lending,
                                      lender, error);
}

/* A consumer of a stream of `steps` steps, and its allocator. */
struct fixture {
    struct consume consume;
    struct lender lender;
    struct lks_consumer *consumer;
};

static const struct stream_shape raw = {.size = 100};
static const struct stream_shape packed = {.size = 1000,
                                           .codec = LKS_CODEC_LZ4};

static void begin(struct fixture *fixture,
                  const struct stream_shape *shape,
                  uint64_t steps)
{
    struct lks_error error;

    lender_init(&fixture->lender);
    consume_begin(&fixture->consume, 2, 1);
    fixture->consume.builder.shape = *shape;
    consume_add(&fixture->consume, steps, 1);
    consume_finish(&fixture->consume);
    fixture->consumer = consume_open(&fixture->consume, 1, 0, 0);
    assert_status(LKS_OK, borrow(fixture->consumer, &fixture->lender, &error));
}

static void end(struct fixture *fixture)
{
    lks_consumer_close(fixture->consumer);
    assert_int_equal(fixture->lender.released, 1);
    lender_done(&fixture->lender);
    consume_end(&fixture->consume);
}

static void batches_stand_in_the_callers_memory(void **state)
{
    static const struct stream_shape *const shapes[] = {&raw, &packed};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture fixture;
        struct lks_batch *batch = NULL;
        struct lks_error error;

        begin(&fixture, shapes[i], 50);
        for (uint64_t step = 0; step < 50; step++) {
            struct lks_slice slice;

            assert_status(LKS_OK,
                          lks_consumer_next(fixture.consumer, &batch, &error));
            consume_check(&fixture.consume, &fixture.consumer->share, batch,
                          step);
            slice = lks_batch_slice(batch, 0);
            pthread_mutex_lock(&fixture.lender.mutex);
            assert_true(has_lent(&fixture.lender, slice.data, slice.size));
            pthread_mutex_unlock(&fixture.lender.mutex);
            lks_batch_release(batch);
        }
        assert_status(LKS_ENDED,
                      lks_consumer_next(fixture.consumer, &batch, &error));
        end(&fixture);
    }
}

static void everything_is_taken_back_with_the_last_batch(void **state)
{
    struct fixture fixture;
    struct lks_batch *batches[3];
    struct lks_error error;

    (void)state;
    begin(&fixture, &raw, 20);
    for (size_t i = 0; i < 3; i++)
        assert_status(LKS_OK,
                      lks_consumer_next(fixture.consumer, &batches[i], &error));
    lks_consumer_close(fixture.consumer);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(fixture.lender.released, 0);
        assert_true(fixture.lender.lent >= 3 - i);
        lks_batch_release(batches[i]);
    }
    assert_int_equal(fixture.lender.released, 1);
    lender_done(&fixture.lender);
    consume_end(&fixture.consume);
}

static void nothing_is_requested_without_memory(void **state)
{
    struct fixture fixture;
    struct lks_sighting sighting;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    (void)state;
    begin(&fixture, &packed, 3);
    fixture.lender.always_fails = true;
    assert_status(LKS_NO_MEMORY,
                  lks_consumer_next(fixture.consumer, &batch, &error));
    assert_non_null(strstr(error.message, "allocator"));
    assert_int_equal(consume_counts(fixture.consumer, &sighting).fetched_size,
                     0);
    fixture.lender.always_fails = false;
    consume_take(&fixture.consume, fixture.consumer, 0);
    end(&fixture);
}

/* Reads all steps, however often memory is short. Returns how often. */
static unsigned int read_through(struct fixture *fixture, uint64_t steps)
{
    unsigned int failures = 0;

    while (lks_consumer_step(fixture->consumer) < steps) {
        struct lks_batch *batch = NULL;
        struct lks_error error;
        enum lks_status status =
            lks_consumer_next(fixture->consumer, &batch, &error);

        if (status == LKS_NO_MEMORY) {
            failures++;
            continue;
        }
        assert_status(LKS_OK, status);
        consume_check(&fixture->consume, &fixture->consumer->share, batch,
                      lks_batch_step(batch));
        lks_batch_release(batch);
    }
    return failures;
}

static void each_asking_may_fail_once(void **state)
{
    static const struct stream_shape *const shapes[] = {&raw, &packed};
    bool failed = true;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (unsigned int n = 1; failed && n < BLOCKS_MAX; n++) {
            struct fixture fixture;
            unsigned int failures;

            begin(&fixture, shapes[i], 5);
            fixture.lender.fails_at = n;
            failures = read_through(&fixture, 5);
            failed = fixture.lender.asked >= n;
            assert_int_equal(failures, failed ? 1 : 0);
            end(&fixture);
        }
        assert_false(failed); /* so the last round went without */
        failed = true;
    }
}

/* The allocator is kept on success only, whatever else then fails. */
static enum lks_status read_borrowing(void *arg)
{
    struct fixture *fixture = arg;
    struct lks_consumer *consumer = NULL;
    struct lks_batch *batch = NULL;
    bool kept = false;
    enum lks_status status;

    fixture->lender.released = 0;
    status = lks_consumer_open(fixture->consume.stream, 1, 0, 0, 0,
                               fixture->consume.options, &consumer, NULL);
    if (status == LKS_OK) {
        status = borrow(consumer, &fixture->lender, NULL);
        kept = status == LKS_OK;
    }
    if (status == LKS_OK)
        status = lks_consumer_next(consumer, &batch, NULL);
    lks_consumer_close(consumer);
    lks_batch_release(batch);
    assert_int_equal(fixture->lender.released, kept ? 1 : 0);
    return status;
}

static void running_out_of_other_memory_is_survived(void **state)
{
    static const struct stream_shape *const shapes[] = {&raw, &packed};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture fixture;

        begin(&fixture, shapes[i], 1);
        torture(read_borrowing, &fixture);
        fixture.lender.released = 0;
        end(&fixture);
    }
}

static void memory_that_is_not_aligned_is_refused(void **state)
{
    struct fixture fixture;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    (void)state;
    begin(&fixture, &raw, 3);
    fixture.lender.off = 8;
    assert_status(LKS_INVALID,
                  lks_consumer_next(fixture.consumer, &batch, &error));
    assert_non_null(strstr(error.message, "multiple of 64"));
    end(&fixture);
}

static void an_allocator_is_set_before_the_first_batch(void **state)
{
    struct fixture fixture;
    struct lender late, unused;
    struct lks_error error;

    (void)state;
    lender_init(&late);
    lender_init(&unused);
    begin(&fixture, &raw, 3);
    assert_status(LKS_INVALID,
                  lks_consumer_set_allocator(fixture.consumer, NULL, take_back,
                                             NULL, NULL, &error));
    assert_status(LKS_INVALID,
                  lks_consumer_set_allocator(fixture.consumer, lend, NULL, NULL,
                                             NULL, &error));
    assert_status(LKS_INVALID, borrow(NULL, &unused, &error));
    /* The second one takes the place of the first. */
    assert_status(LKS_OK, borrow(fixture.consumer, &late, &error));
    assert_int_equal(fixture.lender.released, 1);
    consume_take(&fixture.consume, fixture.consumer, 0);
    assert_int_equal(fixture.lender.asked, 0);
    assert_status(LKS_INVALID, borrow(fixture.consumer, &unused, &error));
    consume_take(&fixture.consume, fixture.consumer, 1);
    assert_int_equal(unused.released, 0);
    assert_int_equal(unused.asked, 0);
    end(&fixture);
    assert_int_equal(late.released, 1);
    lender_done(&late);
    lender_done(&unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_stand_in_the_callers_memory),
        cmocka_unit_test(everything_is_taken_back_with_the_last_batch),
        cmocka_unit_test(nothing_is_requested_without_memory),
        cmocka_unit_test(each_asking_may_fail_once),
        cmocka_unit_test(running_out_of_other_memory_is_survived),
        cmocka_unit_test(memory_that_is_not_aligned_is_refused),
        cmocka_unit_test(an_allocator_is_set_before_the_first_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
