/* How much a producer may have in hand near the stream's limits. */
#include "producer/limit.h"

#include "format/lifecycle.h"
#include "support/check.h"
#include "support/format_fixture.h"

#define MOST 4096u

static void set_limits(struct lks_manifest *manifest,
                       uint64_t steps,
                       uint64_t bytes)
{
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_manifest_set_limits(manifest, steps, bytes, &error));
}

static void without_a_limit_there_is_all_room(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 20);

    (void)state;
    assert_int_equal(lks_limit_room(manifest, MOST), MOST);
    lks_manifest_free(manifest);
}

static void producers_share_the_steps_that_are_left(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 20);

    (void)state;
    set_limits(manifest, 1000000, 0);
    assert_int_equal(lks_limit_room(manifest, MOST), MOST);
    set_limits(manifest, 50, 0);
    assert_int_equal(lks_limit_room(manifest, MOST), 10);
    lks_manifest_set_claimed(manifest, 12, 0);
    assert_int_equal(lks_limit_room(manifest, MOST), 14);
    set_limits(manifest, 8, 0);
    assert_int_equal(lks_limit_room(manifest, MOST), 1); /* The least. */
    set_limits(manifest, 1, 0);
    assert_int_equal(lks_limit_room(manifest, MOST), 1);
    lks_manifest_free(manifest);
}

static void bytes_count_as_steps_of_the_usual_size(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    uint64_t size = lks_manifest_live_bytes(manifest) / 20;

    (void)state;
    set_limits(manifest, 0, 35 * size);
    assert_int_equal(lks_limit_room(manifest, MOST), 15);
    set_limits(manifest, 30, 35 * size);
    assert_int_equal(lks_limit_room(manifest, MOST), 10);
    set_limits(manifest, 0, 20 * size);
    assert_int_equal(lks_limit_room(manifest, MOST), 1);
    lks_manifest_free(manifest);
    manifest = fixture_genesis(0); /* Nothing to tell a size by. */
    set_limits(manifest, 0, 10);
    assert_int_equal(lks_limit_room(manifest, MOST), MOST);
    lks_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_there_is_all_room),
        cmocka_unit_test(producers_share_the_steps_that_are_left),
        cmocka_unit_test(bytes_count_as_steps_of_the_usual_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
