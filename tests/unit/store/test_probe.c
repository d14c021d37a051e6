/* The probe refuses a store that breaks a promise, whichever it is. */
#include <stdio.h>

#include "base/alloc.h"
#include "support/check.h"
#include "support/store_broken.h"
#include "support/torture.h"

/* Which check is the first to see that a promise is broken. */
static const struct {
    enum promise broken;
    const char *check;
    const char *reason; /* in the message */
} expected[] = {
    {PROMISE_CREATE_WORKS, "create-if-absent", "is said to exist"},
    {PROMISE_CONDITION, "create-if-present", "the condition is ignored"},
    {PROMISE_REFUSED_IS_UNTOUCHED, "create-if-present", "'second'"},
    {PROMISE_ONE_WINNER, "create-race", "were told that they did"},
    {PROMISE_SOMEBODY_WINS, "create-race", "none of 8"},
    {PROMISE_WRITES_ARE_SEEN, "create-if-present", "no such object"},
    {PROMISE_TAGS, "overwrite", "same tag"},
    {PROMISE_RANGES_END, "range-read", "a range of an object is refused"},
    {PROMISE_RANGES, "range-read", "4 bytes from 3"},
    {PROMISE_NOT_FOUND, "missing-is-not-found", "the right to list"},
    {PROMISE_MISSING, "missing-is-not-found", "not there is found"},
    {PROMISE_REMOVE, "remove", "not there is found"},
    {PROMISE_LISTED_AT_ONCE, "list-after-write", "right after its write"},
    {PROMISE_LIST_ORDER, "list-order", "instead of 'list/B1'"},
    {PROMISE_LIST_PREFIX, "list-prefix", "0 keys are listed instead of 7"},
    {PROMISE_LIST_AFTER, "list-start-after", "'list/B1' instead of"},
    {PROMISE_LIST_MAX, "list-max", "3 keys are listed instead of 4"},
    {PROMISE_CASE, "case-sensitive", "upper and lower case"},
    {PROMISE_DATES, "clock", "no date"},
    {PROMISE_CLOCK, "clock", "clock moved by -"},
    {PROMISE_AGES, "clock", "off the store's clock"},
};

#define EXPECTED_COUNT (sizeof(expected) / sizeof(expected[0]))

struct report {
    size_t line_count;
    char failed[LKS_ERROR_SIZE * 2]; /* the first line that is not ok */
};

static enum lks_status take_line(const char *line, void *arg)
{
    struct report *report = arg;

    assert_int_equal(strncmp(line, "{\"check\": \"", 11), 0);
    assert_int_equal(line[strlen(line) - 1], '}');
    report->line_count++;
    if (strstr(line, "\"ok\": false") != NULL && report->failed[0] == '\0')
        snprintf(report->failed, sizeof(report->failed), "%s", line);
    return LKS_OK;
}

static size_t key_count(struct lks_store *store)
{
    struct lks_listed listed[100];
    struct lks_error error;
    size_t count;

    assert_status(LKS_OK, lks_store_list(store_broken_inner(store), "", "", 100,
                                         listed, &count, NULL, &error));
    return count;
}

static void a_store_that_keeps_all_promises_passes(void **state)
{
    struct report report = {0};
    struct lks_store *store;
    struct lks_error error;
    char *summary = NULL;

    (void)state;
    assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
    assert_status(LKS_OK,
                  lks_store_check(store, take_line, &report, &summary, &error));
    assert_string_equal(report.failed, "");
    assert_int_equal(strncmp(summary, "{\"checks\": [\"create-if-absent\"", 29),
                     0);
    assert_int_equal(key_count(store), 0);
    lks_free(summary);
    lks_store_close(store);
}

static void each_broken_promise_is_found_and_named(void **state)
{
    (void)state;
    assert_int_equal(EXPECTED_COUNT, PROMISE_COUNT - 1);
    for (size_t i = 0; i < EXPECTED_COUNT; i++) {
        struct report report = {0};
        struct lks_store *store;
        struct lks_error error;
        char *summary = NULL;
        char check[64];

        assert_status(LKS_OK,
                      store_broken_open(expected[i].broken, &store, &error));
        assert_status(LKS_UNSUPPORTED,
                      lks_store_check(store, take_line, &report, &summary,
                                      &error));
        snprintf(check, sizeof(check), "fails %s: ", expected[i].check);
        assert_message_has(check);
        assert_message_has(expected[i].reason);
        assert_message_has("broken://");
        snprintf(check, sizeof(check), "\"check\": \"%s\"", expected[i].check);
        assert_non_null(strstr(report.failed, check));
        assert_non_null(strstr(report.failed, expected[i].reason));
        assert_null(summary);
        /* All are tried, and nothing is left. */
        assert_int_equal(report.line_count, 14);
        if (expected[i].broken != PROMISE_REMOVE)
            assert_int_equal(key_count(store), 0);
        /* Without a reader the first that fails is enough. */
        snprintf(check, sizeof(check), "fails %s: ", expected[i].check);
        assert_status(LKS_UNSUPPORTED,
                      lks_store_check(store, NULL, NULL, &summary, &error));
        assert_message_has(check);
        assert_null(summary);
        lks_store_close(store);
    }
}

static void a_store_that_cannot_be_reached_is_not_called_broken(void **state)
{
    static const enum lks_status statuses[] = {LKS_UNAVAILABLE, LKS_DENIED};
    struct lks_store *store;
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct report report = {0};

        assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
        store_broken_fail(store, statuses[i], "told to fail");
        assert_status(statuses[i],
                      lks_store_check(store, take_line, &report, NULL, &error));
        assert_message_has("told to fail");
        assert_int_equal(report.line_count, 1);
        lks_store_close(store);
    }
}

static void a_store_without_conditional_writes_is_unsupported(void **state)
{
    struct report report = {0};
    struct lks_store *store;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
    store_broken_fail(store, LKS_UNSUPPORTED, "501 Not Implemented");
    assert_status(LKS_UNSUPPORTED,
                  lks_store_check(store, take_line, &report, NULL, &error));
    assert_message_has("fails create-if-absent: ");
    lks_store_close(store);
}

static void lost_replies_are_not_taken_for_broken_promises(void **state)
{
    /* In a race, as many as there are creators, or fewer. */
    static const struct {
        const char *part;
        uint32_t count;
    } cases[] = {
        {"", 1},          {"created", 2}, {"/present", 3}, {"overwritten", 2},
        {"race/0", 1},    {"race/1", 7},  {"race/2", 8},   {"race/3", 9},
        {"case/name", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct report report = {0};
        struct lks_store *store;
        struct lks_error error;

        assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
        store_broken_be_unsure(store, cases[i].part, cases[i].count);
        assert_status(LKS_OK,
                      lks_store_check(store, take_line, &report, NULL, &error));
        assert_int_equal(key_count(store), 0);
        lks_store_close(store);
    }
}

static void a_store_that_is_never_sure_is_unavailable(void **state)
{
    static const char *const parts[] = {"created", "/present"};
    struct lks_store *store;
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct report report = {0};

        assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
        store_broken_be_unsure(store, parts[i], UINT32_MAX / 2);
        assert_status(LKS_UNAVAILABLE,
                      lks_store_check(store, take_line, &report, NULL, &error));
        assert_message_has("after 6 tries");
        lks_store_close(store);
    }
}

static void lines_are_json_whatever_the_message_is(void **state)
{
    struct report report = {0};
    struct lks_store *store;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
    store_broken_fail(store, LKS_UNAVAILABLE,
                      "a \"quote\", a \\, a\nline, \xc3\xa4 \xe2\x82\xac "
                      "\xf0\x9f\x98\x80, cut \xe2\x82 and wrong \xff\xc0\x80");
    assert_status(LKS_UNAVAILABLE,
                  lks_store_check(store, take_line, &report, NULL, &error));
    assert_non_null(strstr(report.failed,
                           "a \\\"quote\\\", a \\\\, a?line, \xc3\xa4 "
                           "\xe2\x82\xac \xf0\x9f\x98\x80, cut ?? and "
                           "wrong ???\"}"));
    lks_store_close(store);
}

static enum lks_status stop_at_third(const char *line, void *arg)
{
    size_t *count = arg;

    (void)line;
    return ++*count == 3 ? LKS_CANCELLED : LKS_OK;
}

static void the_reader_of_the_lines_may_stop_it(void **state)
{
    struct lks_store *store;
    struct lks_error error;
    size_t count = 0;

    (void)state;
    assert_status(LKS_OK, store_broken_open(PROMISE_NONE, &store, &error));
    assert_status(LKS_CANCELLED,
                  lks_store_check(store, stop_at_third, &count, NULL, &error));
    assert_int_equal(count, 3);
    assert_int_equal(key_count(store), 0);
    lks_store_close(store);
}

static enum lks_status probe(void *arg)
{
    struct lks_store *store = NULL;
    char *summary = NULL;
    enum lks_status status;

    (void)arg;
    status = lks_store_mem_open("tortured", lks_env_real(), &store, NULL);
    if (status == LKS_OK)
        status = lks_store_check(store, NULL, NULL, &summary, NULL);
    lks_free(summary);
    lks_store_close(store);
    return status;
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    torture(probe, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_that_keeps_all_promises_passes),
        cmocka_unit_test(each_broken_promise_is_found_and_named),
        cmocka_unit_test(a_store_that_cannot_be_reached_is_not_called_broken),
        cmocka_unit_test(a_store_without_conditional_writes_is_unsupported),
        cmocka_unit_test(lost_replies_are_not_taken_for_broken_promises),
        cmocka_unit_test(a_store_that_is_never_sure_is_unavailable),
        cmocka_unit_test(lines_are_json_whatever_the_message_is),
        cmocka_unit_test(the_reader_of_the_lines_may_stop_it),
        cmocka_unit_test(it_survives_any_allocation_that_fails),
    };

    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
