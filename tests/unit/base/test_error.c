/* Messages: set, cut, prefixed; the names of the statuses. */
#include "base/error.h"
#include "support/check.h"

static void a_message_is_set_with_its_status(void **state)
{
    struct lks_error error;

    (void)state;
    assert_int_equal(lks_error_set(&error, LKS_CORRUPT, "block %d", 7),
                     LKS_CORRUPT);
    assert_int_equal(error.status, LKS_CORRUPT);
    assert_string_equal(error.message, "block 7");
}

static void nobody_needs_to_want_the_message(void **state)
{
    (void)state;
    assert_int_equal(lks_error_set(NULL, LKS_DENIED, "x"), LKS_DENIED);
    assert_int_equal(lks_error_prefix(NULL, LKS_FENCED, "x"), LKS_FENCED);
    assert_int_equal(lks_error_no_memory(NULL), LKS_NO_MEMORY);
}

static void a_long_message_is_cut_to_fit(void **state)
{
    struct lks_error error;

    (void)state;
    lks_error_set(&error, LKS_INVALID, "%0*d", (int)LKS_ERROR_SIZE - 1, 0);
    assert_int_equal(strlen(error.message), LKS_ERROR_SIZE - 1);
    lks_error_set(&error, LKS_INVALID, "%0*d", (int)LKS_ERROR_SIZE, 0);
    assert_int_equal(strlen(error.message), LKS_ERROR_SIZE - 1);
    lks_error_prefix(&error, LKS_INVALID, "%0*d", 2 * (int)LKS_ERROR_SIZE, 1);
    assert_int_equal(strlen(error.message), LKS_ERROR_SIZE - 1);
    assert_int_equal(error.message[0], '0');
}

static void a_message_is_one_line_of_text(void **state)
{
    struct lks_error error;

    (void)state;
    assert_int_equal(lks_error_set(&error, LKS_DENIED, "%s, \xc3\xa4 %s",
                                   "a\nb\tc", "\x1b[31m\x7f"),
                     LKS_DENIED);
    assert_string_equal(error.message, "a?b?c, \xc3\xa4 ?[31m?");
}

static void a_message_may_be_made_of_the_old_one(void **state)
{
    struct lks_error error;

    (void)state;
    lks_error_set(&error, LKS_TIMEOUT, "late");
    lks_error_set(&error, LKS_UNAVAILABLE, "too %s, %s", error.message,
                  error.message);
    assert_string_equal(error.message, "too late, late");
}

static void a_prefix_stands_before_the_message(void **state)
{
    struct lks_error error;

    (void)state;
    lks_error_set(&error, LKS_CORRUPT, "no footer");
    assert_int_equal(lks_error_prefix(&error, LKS_CORRUPT, "step %d", 3),
                     LKS_CORRUPT);
    assert_string_equal(error.message, "step 3: no footer");
    lks_error_prefix(&error, LKS_UNAVAILABLE, "%s", error.message);
    assert_string_equal(error.message, "step 3: no footer: step 3: no footer");
    assert_int_equal(error.status, LKS_UNAVAILABLE);
}

static void no_memory_says_so(void **state)
{
    struct lks_error error;

    (void)state;
    assert_int_equal(lks_error_no_memory(&error), LKS_NO_MEMORY);
    assert_int_equal(error.status, LKS_NO_MEMORY);
    assert_string_equal(error.message, "out of memory");
}

static void every_status_has_its_pinned_name(void **state)
{
    static const char *const names[] = {
        "ok",     "ended",     "timeout",     "fenced",    "not found",
        "exists", "reclaimed", "unavailable", "corrupt",   "unsupported",
        "denied", "invalid",   "no memory",   "cancelled",
    };

    (void)state;
    for (int i = 0; i < 14; i++)
        assert_string_equal(lks_status_name((enum lks_status)i), names[i]);
    assert_string_equal(lks_status_name(LKS_UNSURE), "unsure");
}

static void any_other_value_has_a_name_too(void **state)
{
    (void)state;
    assert_string_equal(lks_status_name((enum lks_status)14), "unknown status");
    assert_string_equal(lks_status_name((enum lks_status)99), "unknown status");
    assert_string_equal(lks_status_name((enum lks_status)101),
                        "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_set_with_its_status),
        cmocka_unit_test(nobody_needs_to_want_the_message),
        cmocka_unit_test(a_long_message_is_cut_to_fit),
        cmocka_unit_test(a_message_is_one_line_of_text),
        cmocka_unit_test(a_message_may_be_made_of_the_old_one),
        cmocka_unit_test(a_prefix_stands_before_the_message),
        cmocka_unit_test(no_memory_says_so),
        cmocka_unit_test(every_status_has_its_pinned_name),
        cmocka_unit_test(any_other_value_has_a_name_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
