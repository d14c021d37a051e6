/*
 * Which manifest is the newest: by name within the trust, by listing past it,
 * and never a stray.
 */
#include "manifest/log.h"

#include <inttypes.h>
#include <stdio.h>

#include "manifest/change.h"
#include "support/check.h"
#include "support/store_faulty.h"

struct fixture {
    struct faulty_store *store;
    struct lks_stream *stream;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct lks_descriptor descriptor = {
        .dp = 2,
        .cp = 1,
        .producers_to_end = 1,
    };
    struct lks_error error;

    fixture.store = faulty_store_new_mem(lks_env_real(), NULL, NULL);
    assert_status(LKS_OK, lks_stream_make(&fixture.store->base, &descriptor,
                                          &fixture.stream, &error));
    lks_descriptor_done(&descriptor);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    lks_stream_close(fixture->stream);
    return 0;
}

/* Adds a version that opens a producer of its own name. */
static void commit_version(struct fixture *fixture)
{
    static const uint8_t owner[LKS_ID_SIZE] = {1};
    struct lks_producer_record record = {
        .id = "p",
        .epoch = 1,
        .host = "h",
    };
    struct lks_manifest *next = NULL;
    struct lks_attempt attempt;
    struct lks_log log;
    struct lks_error error;
    bool throttled;

    memcpy(record.owner, owner, LKS_ID_SIZE);
    lks_log_init(&log, fixture->stream, LKS_LOG_WHOLE, NULL);
    lks_attempt_init(&attempt);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_status(LKS_OK, lks_log_next(&log, &next, &error));
    assert_status(LKS_OK, lks_manifest_put_producer(next, &record, &error));
    assert_status(LKS_OK, lks_attempt_set(&attempt, next, &error));
    assert_status(LKS_OK, lks_log_create(&log, &attempt, &throttled, &error));
    lks_manifest_free(next);
    lks_attempt_done(&attempt);
    lks_log_done(&log);
}

static void remove_version(struct fixture *fixture, uint64_t version)
{
    char name[LKS_NAME_SIZE];
    const char *key = name;
    struct lks_error error;

    lks_manifest_name(fixture->stream->descriptor.stream, version, name);
    assert_status(LKS_OK, lks_store_remove(fixture->store->inner, &key, 1, NULL,
                                           &error));
}

static void a_stream_without_manifests_is_at_version_0(void **state)
{
    struct fixture *fixture = *state;
    struct lks_log log;
    struct lks_error error;

    lks_log_init(&log, fixture->stream, LKS_LOG_WHOLE, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_int_equal(lks_manifest_version(log.head), 0);
    assert_int_equal(lks_manifest_next_step(log.head), 0);
    lks_log_done(&log);
}

static void a_look_finds_the_newest_however_far_it_is(void **state)
{
    static const int distances[] = {0, 1, 2, 3, 4, 7, 8, 9, 31, 100};
    struct fixture *fixture = *state;
    uint64_t version = 0;
    struct lks_log log;
    struct lks_error error;

    lks_log_init(&log, fixture->stream, LKS_LOG_HEAD, NULL);
    for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++) {
        for (int k = 0; k < distances[i]; k++)
            commit_version(fixture);
        version += (uint64_t)distances[i];
        assert_status(LKS_OK, lks_log_look(&log, &error));
        assert_int_equal(lks_manifest_version(log.head), version);
    }
    /* One listing at the start; by name ever after. */
    assert_int_equal(log.list_count, 1);
    assert_in_range(log.get_count, 1, 65);
    lks_log_done(&log);
}

static void a_probe_of_the_head_costs_one_request(void **state)
{
    struct fixture *fixture = *state;
    struct lks_log log;
    struct lks_error error;
    bool advanced = true;

    commit_version(fixture);
    lks_log_init(&log, fixture->stream, LKS_LOG_HEAD, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    log.get_count = 0;
    assert_status(LKS_OK, lks_log_probe(&log, 1, &advanced, &error));
    assert_false(advanced);
    assert_int_equal(log.get_count, 1);
    lks_log_done(&log);
}

static void past_the_trust_a_name_is_not_believed(void **state)
{
    struct fixture *fixture = *state;
    struct lks_log log;
    struct lks_error error;
    uint64_t lists;

    commit_version(fixture);
    lks_log_init(&log, fixture->stream, LKS_LOG_HEAD, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    lists = log.list_count;

    fixture->store->date_add_ms += LKS_TRUST_MS + 5000;
    commit_version(fixture);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_true(log.list_count > lists);
    assert_int_equal(lks_manifest_version(log.head), 2);
    lks_log_done(&log);
}

/* The sleeper knows version 1. Meanwhile 2 to 5 are made, 1 to 4 reclaimed, and
 * somebody who slept as well makes a stray 2. */
static void a_sleeping_reader_is_not_fooled_by_a_stray(void **state)
{
    struct fixture *fixture = *state;
    struct lks_part part = {"stray", 5};
    char name[LKS_NAME_SIZE];
    struct lks_log log;
    struct lks_error error;

    commit_version(fixture);
    lks_log_init(&log, fixture->stream, LKS_LOG_HEAD, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    for (int i = 0; i < 4; i++)
        commit_version(fixture);
    for (uint64_t version = 1; version < 5; version++)
        remove_version(fixture, version);
    fixture->store->date_add_ms += 20 * 60 * 1000;
    lks_manifest_name(fixture->stream->descriptor.stream, 2, name);
    assert_status(LKS_OK, lks_store_create(fixture->store->inner, name, &part,
                                           1, NULL, &error));

    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_int_equal(lks_manifest_version(log.head), 5);
    lks_log_done(&log);
}

static void silence_past_the_trust_is_not_taken_for_the_head(void **state)
{
    struct fixture *fixture = *state;
    struct lks_log log;
    struct lks_error error;
    bool advanced = false;

    commit_version(fixture);
    lks_log_init(&log, fixture->stream, LKS_LOG_HEAD, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    for (int i = 0; i < 3; i++)
        commit_version(fixture);
    for (uint64_t version = 1; version < 4; version++)
        remove_version(fixture, version);
    fixture->store->date_add_ms += 20 * 60 * 1000;
    assert_status(LKS_OK, lks_log_probe(&log, 1, &advanced, &error));
    assert_true(advanced);
    assert_int_equal(lks_manifest_version(log.head), 4);
    lks_log_done(&log);
}

static void a_name_that_is_no_manifests_is_reported(void **state)
{
    struct fixture *fixture = *state;
    char prefix[LKS_NAME_SIZE];
    char name[LKS_NAME_SIZE + 16];
    struct lks_part part = {"x", 1};
    struct lks_log log;
    struct lks_error error;

    lks_manifest_prefix(fixture->stream->descriptor.stream, prefix);
    snprintf(name, sizeof(name), "%s00note", prefix);
    assert_status(LKS_OK, lks_store_create(fixture->store->inner, name, &part,
                                           1, NULL, &error));
    lks_log_init(&log, fixture->stream, LKS_LOG_HEAD, NULL);
    assert_status(LKS_CORRUPT, lks_log_look(&log, &error));
    assert_message_has("00note");
    lks_log_done(&log);
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stream_without_manifests_is_at_version_0),
        TEST(a_look_finds_the_newest_however_far_it_is),
        TEST(a_probe_of_the_head_costs_one_request),
        TEST(past_the_trust_a_name_is_not_believed),
        TEST(a_sleeping_reader_is_not_fooled_by_a_stray),
        TEST(silence_past_the_trust_is_not_taken_for_the_head),
        TEST(a_name_that_is_no_manifests_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
