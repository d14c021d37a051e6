/*
 * Reclaiming: what must stay stays, what need not goes, in whatever order and
 * however often it is interrupted.
 */
#include "base/env.h"
#include "reclaim/sweep.h"
#include "support/life.h"

#define AGE_MS (16 * 60 * 1000) /* older than manifests must be */

static void with_no_group_nothing_is_reclaimed(void **state)
{
    json_t *report;

    (void)state;
    life_add(life.stream, "p0", 10);
    report = life_reclaim(false);
    assert_int_equal(life_number(report, "first_live_step"), 0);
    assert_non_null(
        strstr(json_string_value(json_object_get(report, "why")), "no group"));
    json_decref(report);
    assert_int_equal(life_count("data/"), 10);
}

static void the_slowest_rank_decides(void **state)
{
    struct lks_consumer *ranks[2];

    (void)state;
    life_add(life.stream, "p0", 10);
    ranks[0] = life_rank(0, "job-1", 0);
    ranks[1] = life_rank(1, "job-1", 0);
    life_checkpoint(ranks[0], 6);
    life_reclaim_to(0);
    life_checkpoint(ranks[1], 4);
    life_reclaim_to(4);
    assert_int_equal(life_count("data/"), 6);
    life_checkpoint(ranks[1], 10);
    life_reclaim_to(6);
    life_checkpoint(ranks[0], 10);
    life_reclaim_to(10);
    assert_int_equal(life_count("data/"), 0);
    life_add(life.stream, "p0", 3);
    life_assert_sound(life.stream);
    life_assert_no_leak();
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);
}

static void a_dry_run_tells_what_is_then_removed(void **state)
{
    json_t *before, *after;

    (void)state;
    life_add(life.stream, "p0", 300);
    life_mark("train", 1, 0, 290);
    life.store->date_add_ms = AGE_MS;
    before = life_reclaim(true);
    assert_int_equal(life_count("data/"), 300);
    after = life_reclaim(false);
    assert_int_equal(life_number(before, "first_live_step"), 290);
    assert_int_equal(life_number(after, "first_live_step"), 290);
    /* The commit itself makes one manifest more, and one old. */
    json_object_del(json_object_get(before, "removed"), "manifests");
    json_object_del(json_object_get(after, "removed"), "manifests");
    for (int i = 0; i < 2; i++) {
        json_t *removed = json_object_get(i == 0 ? before : after, "removed");

        json_object_del(removed, "count");
        json_object_del(removed, "bytes");
    }
    assert_true(json_equal(json_object_get(before, "removed"),
                           json_object_get(after, "removed")));
    assert_int_equal(life_count("data/"), 10);
    assert_int_equal(life_count("index/"), 0);
    assert_int_equal(life_count("manifest/"), 1);
    life_assert_sound(life.stream);
    json_decref(before);
    json_decref(after);
}

static void manifests_go_by_the_age_of_their_successor(void **state)
{
    (void)state;
    life_add(life.stream, "p0", 10);
    life_mark("train", 1, 0, 10);
    json_decref(life_reclaim(false));
    assert_in_range(life_count("manifest/"), 12, 14);
    life.store->date_add_ms = AGE_MS;
    json_decref(life_reclaim(false));
    assert_int_equal(life_count("manifest/"), 1);
    life_add(life.stream, "p0", 1);
    life_assert_sound(life.stream);
}

static void orphans_go_once_they_are_proved(void **state)
{
    struct lks_producer *producer;
    char old[LKS_NAME_SIZE], flying[LKS_NAME_SIZE], higher[LKS_NAME_SIZE];
    uint32_t tag;
    json_t *report;

    (void)state;
    life_add(life.stream, "p0", 5);
    producer = life_producer(life.stream, "p0");
    tag = lks_owner_tag(producer->identity.owner);
    lks_data_name("p0", 1, 7, 5, old); /* An upload of the one before. */
    lks_data_name("p0", 2, tag, 5, flying);
    lks_data_name("p0", 3, 9, 5, higher);
    life_put(old);
    life_put(flying);
    life_put(higher);
    life_put("data/stranger/1-00000000/0");

    report = life_reclaim(false);
    assert_false(life_exists(old));
    assert_true(life_exists(flying));
    assert_true(life_exists(higher));
    assert_true(life_exists("data/stranger/1-00000000/0"));
    assert_int_equal(life_number(json_object_get(json_object_get(report,
                                                                 "left"),
                                                 "in_flight"),
                                 "count"),
                     2);
    json_decref(report);
    assert_int_equal(life_count("data/"), 8);
    lks_producer_close(producer);
}

/* An upload of a TGB that has begun and not ended. */
static void begin_upload(const char *key)
{
    struct lks_upload *upload = &life.store->uploads[life.store->upload_count];

    assert_true(life.store->upload_count < FAULTY_UPLOADS_MAX);
    snprintf(upload->key, sizeof(upload->key), "%s", key);
    snprintf(upload->id, sizeof(upload->id), "%zu", life.store->upload_count++);
}

static bool is_uploading(const char *key)
{
    for (size_t i = 0; i < life.store->upload_count; i++) {
        if (strcmp(life.store->uploads[i].key, key) == 0)
            return true;
    }
    return false;
}

static uint64_t upload_count_of(const json_t *report, const char *part)
{
    return life_number(json_object_get(json_object_get(report, part),
                                       "uploads"),
                       "count");
}

static void uploads_are_aborted_once_nobody_can_commit_them(void **state)
{
    char old[LKS_NAME_SIZE], live[LKS_NAME_SIZE], flying[LKS_NAME_SIZE];
    struct lks_producer *producer;
    struct lks_error error;
    uint32_t tag;

    (void)state;
    producer = life_producer(life.stream, "p0");
    tag = lks_owner_tag(producer->identity.owner);
    for (int i = 0; i < 4; i++)
        assert_status(LKS_OK, life_append(producer, "p0", &error));
    lks_data_name("p0", 1, tag, 3, live); /* It was sent twice, say. */
    lks_producer_close(producer);
    producer = life_producer(life.stream, "p0");
    lks_data_name("p0", 1, tag, 4, old);
    lks_data_name("p0", 2, lks_owner_tag(producer->identity.owner), 4, flying);
    begin_upload(old);
    begin_upload(live);
    begin_upload(flying);
    begin_upload("data/stranger/1-00000000/0");

    for (int dry_run = 1; dry_run >= 0; dry_run--) {
        json_t *report = life_reclaim(dry_run);

        assert_int_equal(upload_count_of(report, "removed"), 1);
        assert_int_equal(upload_count_of(report, "left"), 3);
        assert_int_equal(is_uploading(old), dry_run);
        json_decref(report);
    }
    assert_true(is_uploading(live));
    assert_true(is_uploading(flying));
    assert_status(LKS_OK, life_append(producer, "p0", &error));
    lks_producer_close(producer);

    /* With its step goes what was left of it. */
    life_mark("train", 1, 0, 4);
    json_decref(life_reclaim(false));
    assert_false(is_uploading(live));
    life_assert_sound(life.stream);
}

static void a_store_that_lists_no_uploads_is_told_and_no_failure(void **state)
{
    enum lks_status statuses[] = {LKS_DENIED, LKS_UNSUPPORTED};

    (void)state;
    life_add(life.stream, "p0", 4);
    life_mark("train", 1, 0, 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *report;

        life.store->uploads_status = statuses[i];
        report = life_reclaim(false);
        assert_non_null(
            strstr(json_string_value(json_object_get(report, "uploads_unseen")),
                   "a fault of the test"));
        json_decref(report);
    }
    assert_int_equal(life_count("data/"), 2);
}

static void what_a_finished_producer_left_in_flight_goes(void **state)
{
    struct lks_producer *producer;
    char name[LKS_NAME_SIZE];
    struct lks_error error;

    (void)state;
    producer = life_producer(life.stream, "p0");
    assert_status(LKS_OK, life_append(producer, "p0", &error));
    lks_data_name("p0", 1, lks_owner_tag(producer->identity.owner), 1, name);
    assert_status(LKS_OK, lks_producer_finish(producer, &error));
    lks_producer_close(producer);
    life_put(name);
    json_decref(life_reclaim(false));
    assert_false(life_exists(name));
    life_assert_no_leak();
}

#define REMOVAL_NS (20 * LKS_NS_PER_MS)

static enum fault removals_take_time(enum faulty_op op,
                                     const char *key,
                                     void *arg)
{
    (void)arg;
    if (op == FAULTY_REMOVE && strncmp(key, "data/", 5) == 0)
        lks_env_sleep_ns(lks_env_real(), REMOVAL_NS);
    return FAULT_NONE;
}

static void removals_are_few_at_a_time_with_rests_between(void **state)
{
    uint64_t before, began_ns;

    (void)state;
    life_add(life.stream, "p0", 250);
    life_mark("train", 1, 0, 250);
    before = life.store->counts[FAULTY_REMOVE];
    life.decide = removals_take_time;
    began_ns = lks_env_now_ns(lks_env_real());
    life_reclaim_to(250);
    life.decide = NULL;
    assert_true(lks_env_now_ns(lks_env_real()) - began_ns >
                (3 + 2 * LKS_SWEEP_RESTS) * REMOVAL_NS);
    assert_int_equal(life.store->counts[FAULTY_REMOVE] - before, 3);
    assert_int_equal(life_count("data/"), 0);
}

/* Opened again, it may be at work, as the head shows it. */
static void what_a_reopened_producer_left_goes_with_its_eviction(void **state)
{
    struct lks_producer *producer;
    char name[LKS_NAME_SIZE];
    struct lks_error error;

    (void)state;
    life_add(life.stream, "other", 1); /* Unfinished: the stream goes on. */
    producer = life_producer(life.stream, "p0");
    assert_status(LKS_OK, life_append(producer, "p0", &error));
    assert_status(LKS_OK, lks_producer_finish(producer, &error));
    lks_producer_close(producer);
    producer = life_producer(life.stream, "p0");
    lks_data_name("p0", producer->identity.epoch,
                  lks_owner_tag(producer->identity.owner), 1, name);
    lks_producer_close(producer);
    life_put(name);
    json_decref(life_reclaim(false));
    assert_true(life_exists(name));
    assert_status(LKS_OK, lks_stream_evict_producer(life.stream, "p0",
                                                    life.options, &error));
    json_decref(life_reclaim(false));
    assert_false(life_exists(name));
    life_assert_no_leak();
}

/* ---------------------------------------------------------------- races -- */

static int raced;

/* Right before a reclaim's commit somebody pins a step below its W. */
static enum fault pin_first(enum faulty_op op, const char *key, void *arg)
{
    struct lks_error error;

    (void)arg;
    if (op != FAULTY_CREATE || strncmp(key, "manifest/", 9) != 0)
        return FAULT_NONE;
    life.decide = NULL;
    raced++;
    assert_status(LKS_OK,
                  lks_stream_pin(life.stream, "keep", 3, life.options, &error));
    return FAULT_NONE;
}

static void a_pin_that_races_a_reclaim_holds(void **state)
{
    (void)state;
    raced = 0;
    life_add(life.stream, "p0", 10);
    life_mark("train", 1, 0, 8);
    life.decide = pin_first;
    life_reclaim_to(3);
    assert_int_equal(raced, 1);
    assert_int_equal(life_count("data/"), 7);
}

static enum fault join_first(enum faulty_op op, const char *key, void *arg)
{
    struct lks_consumer *consumer = NULL;
    struct lks_error error;

    (void)arg;
    if (op != FAULTY_CREATE || strncmp(key, "manifest/", 9) != 0)
        return FAULT_NONE;
    life.decide = NULL;
    raced++;
    assert_status(LKS_OK,
                  life_open(life.stream, 0, "job-2", 2, &consumer, &error));
    lks_consumer_close(consumer);
    return FAULT_NONE;
}

static void a_run_that_races_a_reclaim_keeps_its_steps(void **state)
{
    (void)state;
    raced = 0;
    life_add(life.stream, "p0", 10);
    life_mark("train", 1, 0, 8);
    life.decide = join_first;
    life_reclaim_to(2);
    assert_int_equal(raced, 1);
    assert_int_equal(life_count("data/"), 8);
}

static void a_pin_below_the_first_live_step_is_refused(void **state)
{
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    life_mark("train", 1, 0, 8);
    life_reclaim_to(8);
    assert_status(LKS_RECLAIMED,
                  lks_stream_pin(life.stream, "keep", 7, life.options, &error));
    assert_message_has("first live step is 8");
    assert_status(LKS_INVALID, lks_stream_pin(life.stream, "keep", 11,
                                              life.options, &error));
    assert_status(LKS_NOT_FOUND,
                  lks_stream_unpin(life.stream, "keep", life.options, &error));
    assert_status(LKS_OK,
                  lks_stream_pin(life.stream, "keep", 8, life.options, &error));
    life_mark("train", 1, 0, 10);
    life_reclaim_to(8);
    assert_status(LKS_OK,
                  lks_stream_unpin(life.stream, "keep", life.options, &error));
    life_reclaim_to(10);
}

/* -------------------------------------------------------------- killing -- */

static enum faulty_op killed_op;
static int killed_after;

/* From the given call on, the store does nothing any more: as for a process
 * that is killed. */
static enum fault kill_at(enum faulty_op op, const char *key, void *arg)
{
    (void)key;
    (void)arg;
    if (op != killed_op || killed_after-- > 0)
        return FAULT_NONE;
    killed_after = 0;
    return FAULT_FAIL;
}

static void killed_at_any_call_it_is_done_by_the_next(void **state)
{
    static const enum faulty_op ops[] = {FAULTY_GET, FAULTY_CREATE, FAULTY_LIST,
                                         FAULTY_REMOVE};
    uint64_t step = 0;

    (void)state;
    life_add(life.stream, "p0", 300);
    for (size_t i = 0; i < 4; i++) {
        for (int after = 0; after < 4; after++) {
            struct lks_error error;
            char *text = NULL;

            step += 10;
            life_mark("train", 1, 0, step);
            killed_op = ops[i];
            killed_after = after;
            life.decide = kill_at;
            if (lks_stream_reclaim(life.stream, 0, life.options, &text,
                                   &error) == LKS_OK)
                lks_text_free(text);
            life.decide = NULL;
            life_assert_sound(life.stream);
            life_reclaim_to(step);
            life_assert_no_leak();
        }
    }
    life_assert_sound(life.stream);
}

static enum fault lose_replies(enum faulty_op op, const char *key, void *arg)
{
    static unsigned count;

    (void)arg;
    if (op == FAULTY_CREATE || op == FAULTY_REMOVE ||
        (op == FAULTY_PUT && strncmp(key, "watermark/", 10) == 0))
        return count++ % 2 == 0 ? FAULT_LOSE_REPLY : FAULT_NONE;
    return FAULT_NONE;
}

static void lost_replies_change_nothing(void **state)
{
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 20);
    life.decide = lose_replies;
    life_mark("train", 1, 0, 5);
    life_reclaim_to(5);
    assert_status(LKS_OK,
                  lks_stream_pin(life.stream, "keep", 7, life.options, &error));
    life_mark("train", 1, 0, 9);
    life_reclaim_to(7);
    assert_status(LKS_OK,
                  lks_stream_unpin(life.stream, "keep", life.options, &error));
    life_reclaim_to(9);
    life.decide = NULL;
    life_assert_no_leak();
    life_assert_sound(life.stream);
}

/* An index block that cannot be read makes live data look like garbage. */
static void an_unreadable_block_aborts_the_sweep(void **state)
{
    struct lks_error error;
    char *text = NULL;
    char name[LKS_NAME_SIZE];
    const char *const key = name;

    (void)state;
    life_add(life.stream, "p0", 300);
    life_mark("train", 1, 0, 10);
    lks_index_name(0, name);
    assert_status(LKS_OK,
                  lks_store_remove(life.store->inner, &key, 1, NULL, &error));
    assert_status(LKS_CORRUPT, lks_stream_reclaim(life.stream, 0, life.options,
                                                  &text, &error));
    assert_int_equal(life_count("data/"), 300);
}

/* ------------------------------------------------------ many at a time -- */

struct racer {
    struct lks_thread *thread;
    atomic_bool *stop;
    uint64_t done;
};

static void race(void *arg)
{
    struct racer *racer = arg;

    while (!atomic_load(racer->stop)) {
        struct lks_error error;
        char *text = NULL;
        enum lks_status status =
            lks_stream_reclaim(life.stream, 0, life.options, &text, &error);

        if (status != LKS_OK) {
            print_error("%s\n", error.message);
            return;
        }
        lks_text_free(text);
        racer->done++;
    }
}

static void any_number_may_reclaim_at_once(void **state)
{
    struct racer racers[3] = {0};
    struct lks_consumer *ranks[2];
    atomic_bool stop = false;
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 250);
    ranks[0] = life_rank(0, "job-1", 0);
    ranks[1] = life_rank(1, "job-1", 0);
    for (size_t i = 0; i < 3; i++) {
        racers[i].stop = &stop;
        assert_status(LKS_OK,
                      lks_thread_start(lks_env_real(), "race", race, &racers[i],
                                       &racers[i].thread, &error));
    }
    for (uint64_t step = 20; step <= 240; step += 20) {
        life_checkpoint(ranks[0], step);
        life_checkpoint(ranks[1], step);
        life_add(life.stream, "p1", 3);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 3; i++) {
        lks_thread_join(lks_env_real(), racers[i].thread);
        assert_true(racers[i].done > 0);
    }
    /* Only now are manifests old: one that is deleted while it is young can be
     * made again by whoever still thinks that its name is free. */
    life.store->date_add_ms = AGE_MS;
    life_reclaim_to(240);
    life_assert_no_leak();
    life_assert_sound(life.stream);
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(with_no_group_nothing_is_reclaimed),
        LIFE_TEST(the_slowest_rank_decides),
        LIFE_TEST(a_dry_run_tells_what_is_then_removed),
        LIFE_TEST(manifests_go_by_the_age_of_their_successor),
        LIFE_TEST(orphans_go_once_they_are_proved),
        LIFE_TEST(uploads_are_aborted_once_nobody_can_commit_them),
        LIFE_TEST(a_store_that_lists_no_uploads_is_told_and_no_failure),
        LIFE_TEST(what_a_finished_producer_left_in_flight_goes),
        LIFE_TEST(removals_are_few_at_a_time_with_rests_between),
        LIFE_TEST(what_a_reopened_producer_left_goes_with_its_eviction),
        LIFE_TEST(a_pin_that_races_a_reclaim_holds),
        LIFE_TEST(a_run_that_races_a_reclaim_keeps_its_steps),
        LIFE_TEST(a_pin_below_the_first_live_step_is_refused),
        LIFE_TEST(killed_at_any_call_it_is_done_by_the_next),
        LIFE_TEST(lost_replies_change_nothing),
        LIFE_TEST(an_unreadable_block_aborts_the_sweep),
        LIFE_TEST(any_number_may_reclaim_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
