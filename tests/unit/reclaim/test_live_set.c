/* The set of live TGBs: never forgets one, and holds no more than runs. */
#include "reclaim/live_set.h"

#include <stdio.h>

#include "support/check.h"
#include "support/torture.h"

static enum lks_status add(struct lks_live_set *set,
                           const char *producer,
                           uint64_t epoch,
                           uint32_t tag,
                           uint64_t seq)
{
    const struct lks_entry entry = {
        .producer = producer,
        .epoch = epoch,
        .owner_tag = tag,
        .seq = seq,
    };
    struct lks_error error;

    return lks_live_set_add(set, &entry, &error);
}

static bool has(const struct lks_live_set *set,
                const char *producer,
                uint64_t epoch,
                uint32_t tag,
                uint64_t seq)
{
    struct lks_data_parts name = {
        .epoch = epoch,
        .owner_tag = tag,
        .seq = seq,
    };

    snprintf(name.producer, sizeof(name.producer), "%s", producer);
    return lks_live_set_has(set, &name);
}

static void an_empty_set_has_nothing(void **state)
{
    struct lks_live_set set;

    (void)state;
    lks_live_set_init(&set);
    assert_false(has(&set, "p", 1, 1, 0));
    lks_live_set_done(&set);
}

static void incarnations_are_kept_apart(void **state)
{
    struct lks_live_set set;

    (void)state;
    lks_live_set_init(&set);
    for (uint64_t seq = 5; seq < 9; seq++)
        assert_int_equal(add(&set, "p", 1, 7, seq), LKS_OK);
    assert_int_equal(add(&set, "p", 2, 8, 9), LKS_OK);
    assert_false(has(&set, "p", 1, 7, 4));
    assert_true(has(&set, "p", 1, 7, 5));
    assert_true(has(&set, "p", 1, 7, 8));
    assert_false(has(&set, "p", 1, 7, 9)); /* Uploaded, not committed. */
    assert_true(has(&set, "p", 2, 8, 9));
    assert_false(has(&set, "p", 2, 7, 9));
    assert_false(has(&set, "q", 2, 8, 9));
    assert_int_equal(set.count, 2);
    lks_live_set_done(&set);
}

/* Many more than it has places for at first, in turns. */
static enum lks_status fill(void *arg)
{
    struct lks_live_set *set = arg;
    char id[16];

    for (uint64_t seq = 0; seq < 3; seq++) {
        for (uint32_t i = 0; i < 1000; i++) {
            enum lks_status status;

            snprintf(id, sizeof(id), "p%u", (unsigned)i % 100);
            status = add(set, id, 1 + i / 100, i, 10 * i + seq);
            if (status != LKS_OK)
                return status;
        }
    }
    return LKS_OK;
}

static void it_grows_with_the_incarnations(void **state)
{
    struct lks_live_set set;
    char id[16];

    (void)state;
    lks_live_set_init(&set);
    assert_int_equal(fill(&set), LKS_OK);
    assert_int_equal(set.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(id, sizeof(id), "p%u", (unsigned)i % 100);
        for (uint64_t seq = 0; seq < 4; seq++)
            assert_int_equal(has(&set, id, 1 + i / 100, i, 10 * i + seq),
                             seq < 3);
    }
    lks_live_set_done(&set);
}

static enum lks_status fill_and_free(void *arg)
{
    struct lks_live_set set;
    enum lks_status status;

    (void)arg;
    lks_live_set_init(&set);
    status = fill(&set);
    lks_live_set_done(&set);
    return status;
}

static void nothing_is_held_when_memory_is_out(void **state)
{
    (void)state;
    torture(fill_and_free, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_has_nothing),
        cmocka_unit_test(incarnations_are_kept_apart),
        cmocka_unit_test(it_grows_with_the_incarnations),
        cmocka_unit_test(nothing_is_held_when_memory_is_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
