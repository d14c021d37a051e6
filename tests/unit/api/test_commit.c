/*
 * Commits against a store whose requests and replies get lost: exactly once,
 * in order, by the owner only.
 */
#include "producer/producer.h"

#include <inttypes.h>
#include <stdio.h>

#include "manifest/change.h"
#include "manifest/lookup.h"
#include "support/check.h"
#include "support/store_faulty.h"

#define SLICE_COUNT 2u

/* The next `left` calls of `op` on keys that begin with `prefix` meet
 * `fault`. */
struct plan {
    enum faulty_op op;
    const char *prefix;
    enum fault fault;
    atomic_int left;
};

#define PLANS_MAX 8

struct fixture {
    struct faulty_store *store;
    struct lks_stream *stream;
    struct lks_options *options;
    /* A plan is made while uploads run: it is whole before it is seen, and is
     * not written again. */
    struct plan plans[PLANS_MAX];
    size_t plan_count;
    struct plan *_Atomic plan;
};

static enum fault decide(enum faulty_op op, const char *key, void *arg)
{
    struct fixture *fixture = arg;
    struct plan *plan = atomic_load(&fixture->plan);

    if (plan == NULL || op != plan->op ||
        strncmp(key, plan->prefix, strlen(plan->prefix)) != 0)
        return FAULT_NONE;
    return atomic_fetch_sub(&plan->left, 1) > 0 ? plan->fault : FAULT_NONE;
}

static void plan_fault(struct fixture *fixture,
                       enum faulty_op op,
                       const char *prefix,
                       enum fault fault,
                       int count)
{
    struct plan *plan = &fixture->plans[fixture->plan_count];

    assert_in_range(++fixture->plan_count, 1, PLANS_MAX);
    plan->op = op;
    plan->fault = fault;
    plan->left = count;
    plan->prefix = prefix;
    atomic_store(&fixture->plan, plan);
}

static void set_option(struct fixture *fixture,
                       const char *name,
                       const char *value)
{
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_options_set(fixture->options, name, value, &error));
}

static int set_up_limited(void **state, uint64_t max_live_steps)
{
    static struct fixture fixture;
    struct lks_descriptor descriptor = {
        .dp = SLICE_COUNT,
        .cp = 1,
        .producers_to_end = 1,
        .max_live_steps = max_live_steps,
    };
    struct lks_error error;

    memset(&fixture, 0, sizeof(fixture));
    fixture.store = faulty_store_new_mem(lks_env_real(), decide, &fixture);
    assert_status(LKS_OK, lks_stream_make(&fixture.store->base, &descriptor,
                                          &fixture.stream, &error));
    lks_descriptor_done(&descriptor);
    assert_status(LKS_OK, lks_options_new(&fixture.options, &error));
    set_option(&fixture, "commit_gap_ms", "1");
    set_option(&fixture, "flush_timeout_ms", "60000");
    *state = &fixture;
    return 0;
}

static int set_up(void **state)
{
    return set_up_limited(state, 0);
}

static int set_up_limit_of_3(void **state)
{
    return set_up_limited(state, 3);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    lks_options_free(fixture->options);
    lks_stream_close(fixture->stream);
    return 0;
}

static struct lks_producer *open_producer(struct fixture *fixture,
                                          const char *id)
{
    struct lks_producer *producer = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_producer_open(fixture->stream, id, fixture->options,
                                    &producer, &error));
    return producer;
}

/* The slices' bytes are static; the offset is the text "<id>/<seq>". */
static enum lks_status append(struct lks_producer *producer,
                              struct lks_error *error)
{
    static const struct lks_slice slices[SLICE_COUNT] = {{"one", 3},
                                                         {"three", 5}};
    char offset[100];
    int size = snprintf(offset, sizeof(offset), "%s/%" PRIu64,
                        producer->identity.id, lks_producer_next_seq(producer));

    return lks_producer_append(producer, slices, SLICE_COUNT, offset,
                               (size_t)size, "m", 1, NULL, NULL, error);
}

static void append_ok(struct lks_producer *producer, int count)
{
    struct lks_error error;

    for (int i = 0; i < count; i++)
        assert_status(LKS_OK, append(producer, &error));
}

static void flush_ok(struct lks_producer *producer)
{
    struct lks_error error;

    assert_status(LKS_OK, lks_producer_flush(producer, &error));
}

/* Invariant 3 over the whole stream, for one producer: seqs 0..count-1 in
 * order, and the stored offset that of the last. */
static void assert_exactly_once(struct fixture *fixture,
                                const char *id,
                                uint64_t count)
{
    struct lks_producer_record record;
    struct lks_lookup lookup;
    struct lks_log log;
    struct lks_error error;
    char offset[100];
    uint64_t next_seq = 0;

    lks_log_init(&log, fixture->stream, LKS_LOG_WHOLE, NULL);
    lks_lookup_init(&lookup, fixture->stream, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    for (uint64_t step = 0; step < lks_manifest_next_step(log.head); step++) {
        struct lks_entry entry;

        assert_status(LKS_OK,
                      lks_lookup_entry(&lookup, &log, step, &entry, &error));
        if (strcmp(entry.producer, id) == 0)
            assert_int_equal(entry.seq, next_seq++);
    }
    assert_int_equal(next_seq, count);
    assert_true(lks_manifest_find_producer(log.head, id, &record));
    assert_int_equal(record.next_seq, count);
    snprintf(offset, sizeof(offset), "%s/%" PRIu64, id, count - 1);
    assert_int_equal(record.offset_size, strlen(offset));
    assert_memory_equal(record.offset, offset, strlen(offset));
    lks_lookup_done(&lookup);
    lks_log_done(&log);
}

static void commits_are_in_order_and_survive_reopening(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");
    const void *offset;
    size_t size;

    assert_int_equal(lks_producer_next_seq(producer), 0);
    append_ok(producer, 10);
    flush_ok(producer);
    lks_producer_close(producer);

    producer = open_producer(fixture, "p0");
    assert_int_equal(lks_producer_next_seq(producer), 10);
    lks_producer_offset(producer, &offset, &size);
    assert_int_equal(size, 4);
    assert_memory_equal(offset, "p0/9", 4);
    append_ok(producer, 5);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 15);
}

static void tails_are_sealed_across_blocks(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");

    append_ok(producer, 600);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 600);
}

static void commit_is_not_repeated_after_a_lost_reply(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");

    for (int i = 0; i < 5; i++) {
        plan_fault(fixture, FAULTY_CREATE, "manifest/", FAULT_LOSE_REPLY,
                   i + 1);
        append_ok(producer, 3);
        flush_ok(producer);
    }
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 15);
}

static void commit_is_repeated_after_a_lost_request(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");

    plan_fault(fixture, FAULTY_CREATE, "manifest/", FAULT_LOSE_REQUEST, 3);
    append_ok(producer, 3);
    flush_ok(producer);
    plan_fault(fixture, FAULTY_CREATE, "manifest/", FAULT_THROTTLE, 3);
    append_ok(producer, 3);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 6);
}

static void uploads_are_repeated_until_they_are_stored(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");

    plan_fault(fixture, FAULTY_PUT, "data/", FAULT_LOSE_REPLY, 3);
    append_ok(producer, 3);
    flush_ok(producer);
    plan_fault(fixture, FAULTY_PUT, "data/", FAULT_FAIL, 3);
    append_ok(producer, 3);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 6);
}

static void sealing_survives_lost_replies(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");

    plan_fault(fixture, FAULTY_CREATE, "index/", FAULT_LOSE_REPLY, 1);
    append_ok(producer, 300);
    flush_ok(producer);
    plan_fault(fixture, FAULTY_CREATE, "index/", FAULT_LOSE_REQUEST, 2);
    append_ok(producer, 300);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 600);
}

/* A producer whose store fails each `op` on keys that begin with `prefix`; the
 * message of the outage has `part`. */
static struct lks_producer *meet_outage(struct fixture *fixture,
                                        enum faulty_op op,
                                        const char *prefix,
                                        const char *part)
{
    struct lks_producer *producer;
    struct lks_error error;

    set_option(fixture, "outage_timeout_ms", "100");
    producer = open_producer(fixture, "p0");
    plan_fault(fixture, op, prefix, FAULT_FAIL, 1000000);
    append_ok(producer, 1);
    assert_status(LKS_UNAVAILABLE, lks_producer_flush(producer, &error));
    assert_message_has(part);
    return producer;
}

static void a_store_that_fails_for_long_is_named(void **state)
{
    struct lks_producer *producer =
        meet_outage(*state, FAULTY_PUT, "data/", "data/p0/1-");
    struct lks_error error;

    assert_status(LKS_UNAVAILABLE, append(producer, &error));
    lks_producer_close(producer);
}

/* As when somebody removes a stream's folder: looks are answered, and every
 * create fails. */
static void a_store_that_only_refuses_commits_is_named_too(void **state)
{
    lks_producer_close(
        meet_outage(*state, FAULTY_CREATE, "manifest/", "manifest/"));
}

static void a_second_opening_fences_the_first(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *old = open_producer(fixture, "p0");
    struct lks_producer *new;
    struct lks_error error;

    append_ok(old, 2);
    flush_ok(old);
    new = open_producer(fixture, "p0");
    append_ok(old, 1);
    assert_status(LKS_FENCED, lks_producer_flush(old, &error));
    assert_message_has("epoch 2 belongs to host");
    append_ok(new, 2);
    flush_ok(new);
    lks_producer_close(old);
    lks_producer_close(new);
    assert_exactly_once(fixture, "p0", 4);
}

/* While an open's create is on its way, another open takes the same epoch. */
struct rival {
    struct fixture *fixture;
    atomic_bool done;
};

static enum fault open_in_between(enum faulty_op op, const char *key, void *arg)
{
    struct rival *rival = arg;

    if (op == FAULTY_CREATE && strncmp(key, "manifest/", 9) == 0 &&
        !atomic_exchange(&rival->done, true)) {
        lks_producer_close(open_producer(rival->fixture, "p0"));
        return FAULT_LOSE_REPLY;
    }
    return FAULT_NONE;
}

static void two_openers_never_own_one_epoch(void **state)
{
    struct fixture *fixture = *state;
    struct rival rival = {.fixture = fixture};
    struct lks_producer *producer;

    fixture->store->decide = open_in_between;
    fixture->store->arg = &rival;
    producer = open_producer(fixture, "p0");
    assert_int_equal(producer->identity.epoch, 2);
    append_ok(producer, 2);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 2);
}

static void many_producers_commit_exactly_once(void **state)
{
    enum { PRODUCERS = 6, TGBS = 60 };
    struct fixture *fixture = *state;
    struct lks_producer *producers[PRODUCERS];
    char id[16];

    for (int i = 0; i < PRODUCERS; i++) {
        snprintf(id, sizeof(id), "p%d", i);
        producers[i] = open_producer(fixture, id);
    }
    plan_fault(fixture, FAULTY_CREATE, "manifest/", FAULT_LOSE_REPLY, 5);
    for (int k = 0; k < TGBS; k++)
        for (int i = 0; i < PRODUCERS; i++)
            append_ok(producers[i], 1);
    for (int i = 0; i < PRODUCERS; i++)
        flush_ok(producers[i]);
    for (int i = 0; i < PRODUCERS; i++)
        lks_producer_close(producers[i]);
    for (int i = 0; i < PRODUCERS; i++) {
        snprintf(id, sizeof(id), "p%d", i);
        assert_exactly_once(fixture, id, TGBS);
    }
}

static void the_stream_ends_when_its_producers_are_finished(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");
    struct lks_error error;

    append_ok(producer, 2);
    plan_fault(fixture, FAULTY_CREATE, "manifest/", FAULT_LOSE_REPLY, 2);
    assert_status(LKS_OK, lks_producer_finish(producer, &error));
    assert_status(LKS_INVALID, append(producer, &error));
    assert_message_has("is finished");
    lks_producer_close(producer);

    /* A worker that is started again finds that there is nothing to do. */
    producer = open_producer(fixture, "p0");
    assert_int_equal(lks_producer_next_seq(producer), 2);
    append_ok(producer, 1);
    assert_status(LKS_ENDED, lks_producer_flush(producer, &error));
    assert_message_has("ended at step 2");
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 2);
}

static void an_unfinished_producer_keeps_the_stream_open(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *first = open_producer(fixture, "p0");
    struct lks_producer *second = open_producer(fixture, "p1");
    struct lks_error error;

    append_ok(first, 1);
    assert_status(LKS_OK, lks_producer_finish(first, &error));
    append_ok(second, 1);
    flush_ok(second);
    assert_status(LKS_OK, lks_producer_finish(second, &error));
    lks_producer_close(first);
    lks_producer_close(second);
    assert_exactly_once(fixture, "p1", 1);
}

static void a_stream_at_its_limit_holds_appends_back(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer;
    struct lks_error error;
    int tries_left = 1000;

    producer = open_producer(fixture, "p0");
    append_ok(producer, 3);
    flush_ok(producer);
    lks_producer_close(producer);

    /* A busy machine may not get as far as the limit in one such time. */
    set_option(fixture, "flush_timeout_ms", "20");
    producer = open_producer(fixture, "p0");
    append_ok(producer, 1);
    do {
        assert_status(LKS_TIMEOUT, lks_producer_flush(producer, &error));
        assert_message_has("1 TGBs from seq 3 on");
    } while (strstr(error.message, "limit") == NULL && --tries_left > 0);
    assert_message_has("limit");
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 3);
}

static void a_tgb_larger_than_the_budget_is_refused(void **state)
{
    struct fixture *fixture = *state;
    static char big[70000];
    struct lks_slice slices[SLICE_COUNT] = {{big, sizeof(big)}, {big, 1}};
    struct lks_producer *producer;
    struct lks_error error;

    set_option(fixture, "producer_bytes", "64KiB");
    producer = open_producer(fixture, "p0");
    assert_status(LKS_INVALID,
                  lks_producer_append(producer, slices, SLICE_COUNT, NULL, 0,
                                      NULL, 0, NULL, NULL, &error));
    assert_message_has("65536");
    append_ok(producer, 1);
    flush_ok(producer);
    lks_producer_close(producer);
    assert_exactly_once(fixture, "p0", 1);
}

static void bad_arguments_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");
    struct lks_slice slices[3] = {{"a", 1}, {"b", 1}, {"c", 1}};
    static char bytes[LKS_META_SIZE_MAX + 1];
    struct lks_producer *other = NULL;
    struct lks_error error;

#define APPEND(count, offset_size, meta_size)                                  \
    lks_producer_append(producer, slices, count, bytes, offset_size, bytes,    \
                        meta_size, NULL, NULL, &error)
    assert_status(LKS_INVALID, APPEND(3, 0, 0));
    assert_message_has("has 2 slices (dp 2 x cp 1), not 3");
    assert_status(LKS_INVALID, APPEND(2, LKS_OFFSET_SIZE_MAX + 1, 0));
    assert_message_has("the offset has 257 bytes");
    assert_status(LKS_INVALID, APPEND(2, 0, LKS_META_SIZE_MAX + 1));
    assert_message_has("the metadata has 65537 bytes");
    assert_status(LKS_OK, APPEND(2, LKS_OFFSET_SIZE_MAX, LKS_META_SIZE_MAX));
#undef APPEND
    assert_status(LKS_INVALID, lks_producer_open(fixture->stream, "../p", NULL,
                                                 &other, &error));
    assert_message_has("producer id");
    flush_ok(producer);
    lks_producer_close(producer);
}

static void count_release(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void slices_are_released_once_also_when_closed_early(void **state)
{
    struct fixture *fixture = *state;
    struct lks_slice slices[SLICE_COUNT] = {{"a", 1}, {"b", 1}};
    struct lks_producer *producer;
    struct lks_error error;
    atomic_int released = 0;

    set_option(fixture, "outage_timeout_ms", "60000");
    producer = open_producer(fixture, "p0");
    plan_fault(fixture, FAULTY_PUT, "data/", FAULT_FAIL, 1000000);
    for (int i = 0; i < 20; i++)
        assert_status(LKS_OK,
                      lks_producer_append(producer, slices, SLICE_COUNT, NULL,
                                          0, NULL, 0, count_release, &released,
                                          &error));
    lks_producer_close(producer);
    assert_int_equal(released, 20);
}

static void a_cancelled_producer_says_so(void **state)
{
    struct fixture *fixture = *state;
    struct lks_producer *producer = open_producer(fixture, "p0");
    struct lks_error error;

    append_ok(producer, 1);
    flush_ok(producer);
    lks_producer_cancel(producer);
    assert_status(LKS_CANCELLED, append(producer, &error));
    lks_producer_close(producer);
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commits_are_in_order_and_survive_reopening),
        TEST(tails_are_sealed_across_blocks),
        TEST(commit_is_not_repeated_after_a_lost_reply),
        TEST(commit_is_repeated_after_a_lost_request),
        TEST(uploads_are_repeated_until_they_are_stored),
        TEST(sealing_survives_lost_replies),
        TEST(a_store_that_fails_for_long_is_named),
        TEST(a_store_that_only_refuses_commits_is_named_too),
        TEST(a_second_opening_fences_the_first),
        TEST(two_openers_never_own_one_epoch),
        TEST(many_producers_commit_exactly_once),
        TEST(the_stream_ends_when_its_producers_are_finished),
        TEST(an_unfinished_producer_keeps_the_stream_open),
        cmocka_unit_test_setup_teardown(
            a_stream_at_its_limit_holds_appends_back, set_up_limit_of_3,
            tear_down),
        TEST(a_tgb_larger_than_the_budget_is_refused),
        TEST(bad_arguments_are_refused),
        TEST(slices_are_released_once_also_when_closed_early),
        TEST(a_cancelled_producer_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
