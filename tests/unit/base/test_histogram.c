/*
 * The histogram: its quantiles are within an eighth, its ends exact.
 */
#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void quantiles_are_right_within_an_eighth(void **state)
{
    struct lks_histogram histogram = {.count = 0};

    (void)state;
    for (uint64_t i = 1; i <= 100000; i++)
        lks_histogram_add(&histogram, i);
    for (int percent = 1; percent < 100; percent++) {
        uint64_t found =
            lks_histogram_quantile(&histogram, (double)percent / 100.0);

        assert_in_range(found, 1000 * percent, 1000 * percent * 9 / 8 + 1);
    }
    assert_int_equal(lks_histogram_quantile(&histogram, 1.0), 100000);
}

static void an_empty_one_has_quantile_zero(void **state)
{
    struct lks_histogram histogram = {.count = 0};

    (void)state;
    assert_int_equal(lks_histogram_quantile(&histogram, 0.5), 0);
}

static void the_ends_of_the_range_have_buckets(void **state)
{
    struct lks_histogram histogram = {.count = 0};

    (void)state;
    lks_histogram_add(&histogram, 0);
    lks_histogram_add(&histogram, UINT64_MAX);
    assert_int_equal(lks_histogram_quantile(&histogram, 0.0), 0);
    assert_true(lks_histogram_quantile(&histogram, 1.0) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_right_within_an_eighth),
        cmocka_unit_test(an_empty_one_has_quantile_zero),
        cmocka_unit_test(the_ends_of_the_range_have_buckets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
