/*
 * The pauses between tries: their ceiling doubles up to the longest, and they
 * are drawn from all that is below it.
 */
#include "base/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct lks_backoff BACKOFF = {.first_ns = 100, .longest_ns = 1000};

static void the_ceiling_doubles_up_to_the_longest(void **state)
{
    const uint64_t halves[] = {50, 100, 200, 400, 500, 500};

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(lks_backoff_ns(&BACKOFF, i + 1, 0.5), halves[i]);
    assert_int_equal(lks_backoff_ns(&BACKOFF, UINT32_MAX, 0.5), 500);
}

static void it_is_drawn_from_zero_to_the_ceiling(void **state)
{
    (void)state;
    assert_int_equal(lks_backoff_ns(&BACKOFF, 2, 0.0), 0);
    assert_int_equal(lks_backoff_ns(&BACKOFF, 2, 0.25), 50);
    assert_int_equal(lks_backoff_ns(&BACKOFF, 2, 0.995), 199);
}

static void a_longest_below_the_first_is_the_ceiling_at_once(void **state)
{
    const struct lks_backoff low = {.first_ns = 100, .longest_ns = 10};

    (void)state;
    assert_int_equal(lks_backoff_ns(&low, 1, 0.5), 5);
    assert_int_equal(lks_backoff_ns(&low, 9, 0.5), 5);
}

static void the_largest_times_do_not_overflow(void **state)
{
    const struct lks_backoff large = {
        .first_ns = 1,
        .longest_ns = UINT64_C(1) << 62,
    };

    (void)state;
    assert_true(lks_backoff_ns(&large, 1000, 0.5) == UINT64_C(1) << 61);
}

static void a_cancelled_sleep_ends(void **state)
{
    const struct lks_backoff hour = {
        .first_ns = 3600 * LKS_NS_PER_S,
        .longest_ns = 3600 * LKS_NS_PER_S,
    };
    struct lks_cancel cancel;

    (void)state;
    lks_cancel_init(&cancel);
    lks_cancel_set(&cancel);
    lks_backoff_sleep(&hour, 1, lks_env_real(), &cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ceiling_doubles_up_to_the_longest),
        cmocka_unit_test(it_is_drawn_from_zero_to_the_ceiling),
        cmocka_unit_test(a_longest_below_the_first_is_the_ceiling_at_once),
        cmocka_unit_test(the_largest_times_do_not_overflow),
        cmocka_unit_test(a_cancelled_sleep_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
