/*
 * Forks and drops: a fork has the producers where they were, whatever of its
 * parent is left; a dropped stream is told by whoever wakes up in it.
 */
#include "format/state.h"
#include "support/life.h"

#define STEPS 620u
#define AGE_MS (16 * 60 * 1000)

static struct lks_stream *fork_at(struct lks_stream *stream,
                                  uint64_t step,
                                  const char *url)
{
    struct lks_stream *fork = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_stream_fork(stream, step, url, life.options,
                                          &fork, &error));
    return fork;
}

/* Whose step each one is; filled in while the stream is whole. */
static char writers[STEPS];

/* Two producers, with runs of different lengths; one comes late, and goes. */
static void build(void)
{
    static const struct {
        const char *id;
        uint64_t count;
    } runs[] = {{"a", 3},    {"b", 1},   {"a", 250}, {"b", 2},    {"a", 1},
                {"late", 2}, {"a", 241}, {"b", 12},  {"late", 1}, {"a", 107}};
    uint64_t step = 0;

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        life_add(life.stream, runs[i].id, runs[i].count);
        memset(writers + step, runs[i].id[0], runs[i].count);
        step += runs[i].count;
    }
    assert_int_equal(step, STEPS);
}

static uint64_t count_before(uint64_t step, const char *id)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < step; i++)
        count += writers[i] == id[0];
    return count;
}

static void check_fork(uint64_t step)
{
    static const char *const ids[] = {"a", "b", "late"};
    struct lks_stream *fork;
    struct lks_error error;
    struct lks_log log;
    char url[64];

    snprintf(url, sizeof(url), "mem://fork-%d", (int)step);
    fork = fork_at(life.stream, step, url);
    lks_log_init(&log, fork, LKS_LOG_WHOLE, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_int_equal(lks_manifest_version(log.head), 1);
    assert_int_equal(lks_manifest_next_step(log.head), step);
    assert_int_equal(lks_manifest_first_live_step(log.head), step);
    for (size_t i = 0; i < 3; i++) {
        uint64_t count = count_before(step, ids[i]);
        struct lks_producer_record record;
        char offset[64];
        bool found = lks_manifest_find_producer(log.head, ids[i], &record);

        assert_int_equal(found, count > 0);
        if (!found)
            continue;
        assert_int_equal(record.next_seq, count);
        assert_false(record.finished);
        snprintf(offset, sizeof(offset), "%s/%d", ids[i], (int)count - 1);
        assert_int_equal(record.offset_size, strlen(offset));
        assert_memory_equal(record.offset, offset, strlen(offset));
    }
    lks_log_done(&log);
    life_add(fork, "a", 2);
    life_add(fork, "late", 1);
    life_assert_sound(fork);
    lks_stream_close(fork);
}

static void a_fork_has_the_producers_where_they_were(void **state)
{
    static const uint64_t steps[] = {0,   1,   3,   4,   254, 255, 256, 257,
                                     259, 300, 511, 512, 513, 619, 620};

    (void)state;
    build();
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        check_fork(steps[i]);
}

/* Nothing below the step is left then: no data, no footer, no earlier block. */
static void a_fork_needs_nothing_below_its_step(void **state)
{
    static const uint64_t steps[] = {1,   4,   255, 256, 257, 300,
                                     511, 512, 513, 619, 620};

    (void)state;
    build();
    life.store->date_add_ms = AGE_MS;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct lks_stream *fork = NULL;
        struct lks_error error;

        life_mark("train", 1, 0, steps[i]);
        life_reclaim_to(steps[i]);
        assert_int_equal(life_count("data/"), STEPS - steps[i]);
        check_fork(steps[i]);
        assert_status(LKS_RECLAIMED,
                      lks_stream_fork(life.stream, steps[i] - 1, "mem://no",
                                      life.options, &fork, &error));
    }
}

static void a_fork_can_be_forked_and_knows_where_it_is_from(void **state)
{
    struct lks_stream *fork, *second, *third = NULL;
    struct lks_consumer *consumer = NULL;
    char text[LKS_STATE_SIZE_MAX];
    struct lks_error error;
    json_t *info, *lineage;
    char *json = NULL;

    (void)state;
    life_add(life.stream, "a", 10);
    fork = fork_at(life.stream, 6, "mem://sft");
    life_add(fork, "a", 4);
    second = fork_at(fork, 8, "mem://rl");
    assert_status(LKS_OK, lks_stream_info(second, &json, &error));
    info = json_loads(json, 0, NULL);
    lks_text_free(json);
    lineage = json_object_get(info, "lineage");
    assert_int_equal(json_array_size(lineage), 2);
    assert_int_equal(life_number(json_array_get(lineage, 0), "step"), 8);
    assert_int_equal(life_number(json_array_get(lineage, 1), "step"), 6);
    assert_string_equal(json_string_value(
                            json_object_get(json_array_get(lineage, 1),
                                            "stream")),
                        lks_stream_id(life.stream));
    json_decref(info);

    /* A state of the parent is one of the fork, at the fork's step only. */
    assert_status(LKS_OK, lks_consumer_open(fork, 0, 0, 0, LKS_STEP_FIRST, NULL,
                                            &consumer, &error));
    lks_state_encode(life.stream->descriptor.stream, 6, text);
    assert_status(LKS_OK, lks_consumer_restore(consumer, text, &error));
    life_read_to(consumer, 8);
    lks_state_encode(life.stream->descriptor.stream, 5, text);
    assert_status(LKS_RECLAIMED, lks_consumer_restore(consumer, text, &error));
    assert_message_has(life.store->base.url);
    lks_state_encode(life.stream->descriptor.stream, 7, text);
    assert_status(LKS_INVALID, lks_consumer_restore(consumer, text, &error));
    lks_consumer_close(consumer);

    assert_status(LKS_EXISTS, lks_stream_fork(second, 8, "mem://sft",
                                              life.options, &third, &error));
    assert_status(LKS_INVALID, lks_stream_fork(second, 9, "mem://other",
                                               life.options, &third, &error));
    life_assert_sound(second);
    lks_stream_close(second);
    lks_stream_close(fork);
}

static void a_dropped_stream_is_empty_and_says_so(void **state)
{
    struct lks_producer *producer;
    struct lks_consumer *consumer = NULL;
    struct lks_error error;
    char *report = NULL;

    (void)state;
    life_add(life.stream, "a", 300);
    life_mark("train", 1, 0, 10);
    producer = life_producer(life.stream, "b");
    assert_status(LKS_OK, lks_consumer_open(life.stream, 0, 0, 0, 0, NULL,
                                            &consumer, &error));
    assert_status(LKS_OK,
                  lks_stream_pin(life.stream, "keep", 3, life.options, &error));
    assert_status(LKS_INVALID, lks_stream_drop(life.stream, 0, life.options,
                                               &report, &error));
    assert_message_has("keep at step 3");
    life.store->date_add_ms = AGE_MS;
    assert_status(LKS_OK, lks_stream_drop(life.stream, 1, life.options, &report,
                                          &error));
    lks_text_free(report);
    assert_int_equal(life_count("data/"), 0);
    assert_int_equal(life_count("index/"), 0);
    assert_int_equal(life_count("watermark/"), 0);
    assert_int_equal(life_count("manifest/"), 1);
    assert_true(life_exists("stream.json"));
    life_assert_sound(life.stream);

    assert_int_not_equal(life_append(producer, "b", &error), LKS_OK);
    lks_producer_close(producer);
    lks_consumer_close(consumer);
    assert_status(LKS_NOT_FOUND, lks_consumer_open(life.stream, 0, 0, 0, 0,
                                                   NULL, &consumer, &error));
    assert_message_has("dropped");
    assert_status(LKS_NOT_FOUND,
                  lks_stream_pin(life.stream, "keep", 3, life.options, &error));
    /* What a writer that slept may still have put goes by a reclaim. */
    life_put("data/stranger/1-00000000/0");
    json_decref(life_reclaim(false));
    assert_int_equal(life_count("data/"), 0);
}

/* The one who forked to the same place before died just before its end. */
static void a_fork_goes_where_a_forker_died(void **state)
{
    static const char leftover[] = "manifest/01020304/fffffffffffff/ffe";
    const struct lks_part part = {"x", 1};
    struct lks_call call = LKS_CALL_INIT;
    struct lks_store *place = NULL;
    struct lks_stream *fork;
    struct lks_error error;

    (void)state;
    life_add(life.stream, "a", 3);
    assert_status(LKS_OK,
                  lks_store_open("mem://again", life.options, &place, &error));
    assert_status(LKS_OK,
                  lks_store_create(place, leftover, &part, 1, &call, &error));
    fork = fork_at(life.stream, 2, "mem://again");
    life_add(fork, "a", 1);
    life_assert_sound(fork);
    lks_stream_close(fork);
    lks_store_close(place);
}

/* Also what a stream would have put there that lies inside of this one. */
static void a_drop_takes_only_what_is_a_streams(void **state)
{
    static const char *const names[] = {
        "data/raw/a.txt",
        "data/a/1-0000000g/0",
        "data/stream.json",
        "data/data/a/1-00000000/0",
        "data/index/0000000000000000",
        "data/manifest/01020304/fffffffffffff/ffe",
        "data/watermark/train/job-0/0",
        "index/c.faiss",
        "index/index/0000000000000000",
        "watermark/notes.txt",
        "watermark/watermark/train/job-0/0",
        "watermark/data/a/1-00000000/0",
        "watermark/data/a-1/1-00000000/0",
    };
    size_t count = sizeof(names) / sizeof(names[0]);
    struct lks_error error;
    char *report = NULL;
    json_t *root;

    (void)state;
    life_add(life.stream, "a", 300);
    life_mark("train", 1, 0, 10);
    for (size_t i = 0; i < count; i++)
        life_put(names[i]);
    assert_status(LKS_OK, lks_stream_drop(life.stream, 0, life.options, &report,
                                          &error));
    root = json_loads(report, 0, NULL);
    lks_text_free(report);
    for (size_t i = 0; i < count; i++)
        assert_true(life_exists(names[i]));
    assert_int_equal(life_count("data/"), 7);
    assert_int_equal(life_count("index/"), 2);
    assert_int_equal(life_count("watermark/"), 4);
    assert_int_equal(life_number(json_object_get(json_object_get(root, "left"),
                                                 "unknown"),
                                 "count"),
                     count);
    json_decref(root);
}

static void limits_change_and_a_stream_at_its_limit_goes_on(void **state)
{
    const uint64_t three = 3, none = 0;
    struct lks_producer *producer;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_stream_limit(life.stream, &three, NULL,
                                           life.options, &error));
    life_set(life.options, "flush_timeout_ms", "300");
    producer = life_producer(life.stream, "a");
    for (int i = 0; i < 3; i++)
        assert_status(LKS_OK, life_append(producer, "a", &error));
    assert_status(LKS_TIMEOUT, life_append(producer, "a", &error));
    assert_status(LKS_OK, lks_stream_limit(life.stream, &none, NULL,
                                           life.options, &error));
    life_set(life.options, "flush_timeout_ms", "30000");
    lks_producer_close(producer);
    life_add(life.stream, "a", 3);
}

/* Nobody reclaims: the producer that waits finds out by itself. */
static void a_checkpoint_lets_a_producer_at_the_limit_go_on(void **state)
{
    const uint64_t three = 3;
    struct lks_producer *producer;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_stream_limit(life.stream, &three, NULL,
                                           life.options, &error));
    producer = life_producer(life.stream, "a");
    for (int i = 0; i < 3; i++)
        assert_status(LKS_OK, life_append(producer, "a", &error));
    life_mark("train", 1, 0, 2);
    assert_status(LKS_OK,
                  lks_stream_pin(life.stream, "keep", 0, life.options, &error));
    assert_status(LKS_OK, life_append(producer, "a", &error));
    assert_status(LKS_OK, life_append(producer, "a", &error));
    lks_producer_close(producer);
    assert_int_equal(life_count("data/"), 5); /* A pin holds no producer. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(a_fork_has_the_producers_where_they_were),
        LIFE_TEST(a_fork_needs_nothing_below_its_step),
        LIFE_TEST(a_fork_can_be_forked_and_knows_where_it_is_from),
        LIFE_TEST(a_dropped_stream_is_empty_and_says_so),
        LIFE_TEST(a_fork_goes_where_a_forker_died),
        LIFE_TEST(a_drop_takes_only_what_is_a_streams),
        LIFE_TEST(limits_change_and_a_stream_at_its_limit_goes_on),
        LIFE_TEST(a_checkpoint_lets_a_producer_at_the_limit_go_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
