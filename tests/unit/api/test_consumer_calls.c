/*
 * The public functions of consumers, as a program outside sees them: arguments,
 * state, counters, forks; beside a real producer.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

struct fixture {
    struct lks_stream *stream;
    struct lks_options *options;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    static unsigned int number;
    struct lks_error error;
    char url[64];

    memset(&fixture, 0, sizeof(fixture));
    snprintf(url, sizeof(url), "mem://consumer-calls-%u", number++);
    assert_status(LKS_OK, lks_options_new(&fixture.options, &error));
    assert_status(LKS_OK, lks_options_set(fixture.options, "commit_gap_ms", "1",
                                          &error));
    assert_status(LKS_OK, lks_stream_create(url, 2, 1, fixture.options,
                                            &fixture.stream, &error));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    lks_options_free(fixture->options);
    lks_stream_close(fixture->stream);
    return 0;
}

/* Slice `rank` of step n is the text "<n>/<rank>". */
static void slice_text(char text[32], uint64_t step, uint32_t rank)
{
    snprintf(text, 32, "%" PRIu64 "/%" PRIu32, step, rank);
}

static void append(struct lks_producer *producer, uint64_t from, uint64_t to)
{
    struct lks_error error;

    for (uint64_t step = from; step < to; step++) {
        char texts[2][32];
        struct lks_slice slices[2];

        for (uint32_t rank = 0; rank < 2; rank++) {
            slice_text(texts[rank], step, rank);
            slices[rank].data = texts[rank];
            slices[rank].size = strlen(texts[rank]);
        }
        assert_status(LKS_OK, lks_producer_append(producer, slices, 2, NULL, 0,
                                                  texts[0], slices[0].size,
                                                  NULL, NULL, &error));
        /* The texts are gone after this round. */
        assert_status(LKS_OK, lks_producer_flush(producer, &error));
    }
}

/* Appends steps [from, to), and finishes if `finish`. */
static void produce(struct fixture *fixture,
                    uint64_t from,
                    uint64_t to,
                    int finish)
{
    struct lks_producer *producer = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_producer_open(fixture->stream, "p", fixture->options,
                                    &producer, &error));
    append(producer, from, to);
    if (finish)
        assert_status(LKS_OK, lks_producer_finish(producer, &error));
    lks_producer_close(producer);
}

static struct lks_consumer *open_rank(struct fixture *fixture, uint32_t rank)
{
    struct lks_consumer *consumer = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_consumer_open(fixture->stream, rank, 0, 0, LKS_STEP_FIRST,
                                    fixture->options, &consumer, &error));
    return consumer;
}

static void assert_batch(struct lks_batch *batch, uint64_t step, uint32_t rank)
{
    char text[32];
    const void *meta;
    size_t meta_size;
    struct lks_slice slice;
    struct lks_error error;

    assert_int_equal(lks_batch_step(batch), step);
    assert_int_equal(lks_batch_next_step(batch), step + 1);
    assert_int_equal(lks_batch_slice_count(batch), 1);
    slice = lks_batch_slice(batch, 0);
    slice_text(text, step, rank);
    assert_int_equal(slice.size, strlen(text));
    assert_memory_equal(slice.data, text, slice.size);
    slice = lks_batch_slice(batch, 1);
    assert_null(slice.data);
    assert_int_equal(slice.size, 0);

    slice_text(text, step, 0);
    assert_status(LKS_OK, lks_batch_meta(batch, &meta, &meta_size, &error));
    assert_int_equal(meta_size, strlen(text));
    assert_memory_equal(meta, text, meta_size);
}

static void assert_next(struct lks_consumer *consumer,
                        uint64_t step,
                        uint32_t rank)
{
    struct lks_batch *batch = NULL;
    struct lks_error error;

    assert_int_equal(lks_consumer_step(consumer), step);
    assert_status(LKS_OK, lks_consumer_next(consumer, &batch, &error));
    assert_batch(batch, step, rank);
    lks_batch_release(batch);
    assert_int_equal(lks_consumer_step(consumer), step + 1);
}

static void what_was_appended_is_consumed(void **state)
{
    struct fixture *fixture = *state;
    struct lks_batch *batch = NULL;
    struct lks_error error;

    produce(fixture, 0, 20, 1);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct lks_consumer *consumer = open_rank(fixture, rank);

        for (uint64_t step = 0; step < 20; step++)
            assert_next(consumer, step, rank);
        assert_status(LKS_ENDED, lks_consumer_next(consumer, &batch, &error));
        assert_message_has("ended at step 20");
        lks_consumer_close(consumer);
    }
    assert_status(LKS_OK,
                  lks_stream_get(fixture->stream, 7, 1, &batch, &error));
    assert_batch(batch, 7, 1);
    lks_batch_release(batch);
}

static void *produce_slowly(void *arg)
{
    produce(arg, 0, 100, 1);
    return NULL;
}

static void steps_are_consumed_while_they_are_produced(void **state)
{
    struct fixture *fixture = *state;
    struct lks_consumer *consumers[2];
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, produce_slowly, fixture), 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        consumers[rank] = open_rank(fixture, rank);
    for (uint64_t step = 0; step < 100; step++) {
        assert_next(consumers[0], step, 0);
        assert_next(consumers[1], step, 1);
    }
    pthread_join(thread, NULL);
    for (uint32_t rank = 0; rank < 2; rank++)
        lks_consumer_close(consumers[rank]);
}

static void a_state_continues_elsewhere(void **state)
{
    struct fixture *fixture = *state;
    struct lks_consumer *consumer = open_rank(fixture, 0);
    char text[LKS_STATE_SIZE_MAX];
    struct lks_error error;

    produce(fixture, 0, 10, 0);
    for (uint64_t step = 0; step < 4; step++)
        assert_next(consumer, step, 0);
    assert_status(LKS_OK,
                  lks_consumer_state(consumer, text, sizeof(text), &error));
    assert_next(consumer, 4, 0);
    assert_status(LKS_OK, lks_consumer_restore(consumer, text, &error));
    assert_next(consumer, 4, 0);
    lks_consumer_close(consumer);

    consumer = open_rank(fixture, 1);
    assert_status(LKS_OK, lks_consumer_restore(consumer, text, &error));
    assert_next(consumer, 4, 1);
    lks_consumer_close(consumer);
}

static void a_state_of_another_stream_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct lks_consumer *consumer = open_rank(fixture, 0);
    char text[LKS_STATE_SIZE_MAX];
    struct lks_error error;
    char *id;

    assert_status(LKS_OK,
                  lks_consumer_state(consumer, text, sizeof(text), &error));
    id = strstr(text, lks_stream_id(fixture->stream));
    assert_non_null(id);
    *id = *id == '0' ? '1' : '0';
    assert_status(LKS_INVALID, lks_consumer_restore(consumer, text, &error));
    assert_message_has("the state is of stream ");
    assert_status(LKS_INVALID, lks_consumer_restore(consumer, "{}", &error));
    assert_int_equal(lks_consumer_step(consumer), 0);
    lks_consumer_close(consumer);
}

static void counters_are_json(void **state)
{
    static const char *const keys[] = {
        "\"steps\": 3,", "\"bytes\": 9,",       "\"bytes_needed\": ",
        "\"polls\": ",   "\"bytes_fetched\": ", "\"gets\": ",
        "\"lists\": ",   "\"wait_ms\": ",       "\"longest_wait_ms\": ",
    };
    struct fixture *fixture = *state;
    struct lks_consumer *consumer = open_rank(fixture, 0);
    char *json = NULL;
    struct lks_error error;

    produce(fixture, 0, 3, 0);
    for (uint64_t step = 0; step < 3; step++)
        assert_next(consumer, step, 0);
    assert_status(LKS_OK, lks_consumer_stats(consumer, &json, &error));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strstr(json, keys[i]) == NULL)
            fail_msg("%s is not in %s", keys[i], json);
    }
    lks_text_free(json);
    lks_consumer_close(consumer);
}

static void wrong_arguments_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct lks_stream *stream = fixture->stream;
    struct lks_consumer *consumer = NULL;
    struct lks_batch *batch = NULL;
    struct lks_error error;
    char text[LKS_STATE_SIZE_MAX];
    const void *data;
    size_t size;

    assert_status(LKS_INVALID,
                  lks_consumer_open(NULL, 0, 0, 0, 0, NULL, &consumer, &error));
    assert_status(LKS_INVALID,
                  lks_consumer_open(stream, 0, 0, 0, 0, NULL, NULL, &error));
    assert_status(LKS_INVALID, lks_consumer_open(stream, 2, 0, 0, 0, NULL,
                                                 &consumer, &error));
    assert_status(LKS_INVALID, lks_consumer_open(stream, 0, 3, 0, 0, NULL,
                                                 &consumer, &error));
    assert_status(LKS_INVALID, lks_consumer_open(stream, 0, 0, 2, 0, NULL,
                                                 &consumer, &error));
    assert_null(consumer);
    consumer = open_rank(fixture, 0);
    assert_status(LKS_INVALID, lks_consumer_next(NULL, &batch, &error));
    assert_status(LKS_INVALID, lks_consumer_next(consumer, NULL, &error));
    assert_status(LKS_INVALID, lks_consumer_state(consumer, NULL, 256, &error));
    assert_status(LKS_INVALID, lks_consumer_state(consumer, text, 255, &error));
    assert_status(LKS_INVALID, lks_consumer_restore(consumer, NULL, &error));
    assert_status(LKS_INVALID, lks_consumer_stats(consumer, NULL, &error));
    assert_status(LKS_INVALID, lks_batch_meta(NULL, &data, &size, &error));
    assert_status(LKS_INVALID, lks_stream_get(NULL, 0, 0, &batch, &error));
    assert_status(LKS_INVALID, lks_stream_get(stream, 0, 2, &batch, &error));
    assert_status(LKS_NOT_FOUND, lks_stream_get(stream, 0, 0, &batch, &error));
    assert_int_equal(lks_consumer_next(NULL, &batch, NULL), LKS_INVALID);
    lks_consumer_close(consumer);
    lks_consumer_close(NULL);
    lks_consumer_cancel(NULL);
    lks_batch_release(NULL);
}

static void a_cancelled_consumer_stays_so(void **state)
{
    struct fixture *fixture = *state;
    struct lks_consumer *consumer = open_rank(fixture, 0);
    struct lks_batch *batch = NULL;
    struct lks_error error;

    produce(fixture, 0, 2, 0);
    assert_next(consumer, 0, 0);
    lks_consumer_cancel(consumer);
    for (int i = 0; i < 2; i++)
        assert_status(LKS_CANCELLED,
                      lks_consumer_next(consumer, &batch, &error));
    assert_int_equal(lks_consumer_step(consumer), 1);
    lks_consumer_close(consumer);
}

/* What the child finds wrong is its exit code. */
static int use_in_child(struct fixture *fixture, struct lks_consumer *consumer)
{
    struct lks_batch *batch = NULL;
    struct lks_error error;
    char text[LKS_STATE_SIZE_MAX];

    if (lks_consumer_next(consumer, &batch, &error) != LKS_INVALID)
        return 1;
    if (strstr(error.message, "fork") == NULL)
        return 2;
    if (lks_consumer_restore(consumer, "{}", &error) != LKS_INVALID)
        return 3;
    if (lks_consumer_state(consumer, text, sizeof(text), &error) != LKS_INVALID)
        return 4;
    if (lks_stream_get(fixture->stream, 0, 0, &batch, &error) != LKS_INVALID)
        return 5;
    lks_consumer_cancel(consumer);
    lks_consumer_close(consumer); /* Waits for no thread: it has none. */
    return 0;
}

static void a_fork_may_not_use_it(void **state)
{
    struct fixture *fixture = *state;
    struct lks_consumer *consumer = open_rank(fixture, 0);
    int code = -1;
    pid_t child;

    produce(fixture, 0, 2, 0);
    assert_next(consumer, 0, 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(use_in_child(fixture, consumer));
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
    assert_next(consumer, 1, 0);
    lks_consumer_close(consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_appended_is_consumed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            steps_are_consumed_while_they_are_produced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_continues_elsewhere, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_state_of_another_stream_is_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(counters_are_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_arguments_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_consumer_stays_so, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_fork_may_not_use_it, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
