/* Groups, runs, pins and limits: what a manifest holds of them, and bounds. */
#include "format/lifecycle.h"

#include <inttypes.h>

#include "support/check.h"
#include "support/format_fixture.h"
#include "support/torture.h"

static enum lks_status put_run(struct lks_manifest *manifest,
                               const char *group,
                               const char *id,
                               uint64_t attempt,
                               struct lks_error *error)
{
    const struct lks_run run = {
        .id = id,
        .attempt = attempt,
        .ranks = 4,
        .floor = 10,
    };

    return lks_manifest_put_run(manifest, group, &run, error);
}

static void put_run_ok(struct lks_manifest *manifest,
                       const char *group,
                       const char *id,
                       uint64_t attempt)
{
    struct lks_error error;

    assert_status(LKS_OK, put_run(manifest, group, id, attempt, &error));
}

/* The manifest as the next reader has it; the old one is freed. */
static struct lks_manifest *stored(struct lks_manifest *manifest)
{
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_manifest *read = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream,
                                      lks_manifest_version(manifest), &read,
                                      &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
    return read;
}

static void groups_are_kept_in_order_of_their_names(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    struct lks_group_record group;

    (void)state;
    put_run_ok(manifest, "train", "job-1", 0);
    put_run_ok(manifest, "eval", "job-2", 3);
    put_run_ok(manifest, "zeta", "job-3", 0);
    manifest = stored(manifest);

    assert_int_equal(lks_manifest_group_count(manifest), 3);
    lks_manifest_group(manifest, 0, &group);
    assert_string_equal(group.name, "eval");
    assert_string_equal(group.run.id, "job-2");
    assert_int_equal(group.run.attempt, 3);
    assert_int_equal(group.run.ranks, 4);
    assert_int_equal(group.run.floor, 10);
    assert_int_equal(group.evicted_count, 0);
    assert_true(lks_manifest_find_group(manifest, "train", &group));
    assert_string_equal(group.run.id, "job-1");
    assert_false(lks_manifest_find_group(manifest, "trainer", &group));

    lks_manifest_set_floor(manifest, "train", 7);
    lks_manifest_remove_group(manifest, "eval");
    manifest = stored(manifest);
    assert_int_equal(lks_manifest_group_count(manifest), 2);
    assert_true(lks_manifest_find_group(manifest, "train", &group));
    assert_int_equal(group.run.floor, 7);
    lks_manifest_remove_group(manifest, "train");
    lks_manifest_remove_group(manifest, "zeta");
    manifest = stored(manifest);
    assert_int_equal(lks_manifest_group_count(manifest), 0);
    lks_manifest_free(manifest);
}

static void a_new_run_remembers_the_last_64_ids_before(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    struct lks_group_record group;
    char id[16];

    (void)state;
    assert_false(lks_manifest_run_is_former(manifest, "train", "job-0"));
    for (int i = 0; i <= 65; i++) {
        snprintf(id, sizeof(id), "job-%d", i);
        put_run_ok(manifest, "train", id, 0);
        put_run_ok(manifest, "train", id, 1); /* An attempt is no new id. */
    }
    manifest = stored(manifest);
    assert_false(lks_manifest_run_is_former(manifest, "train", "job-0"));
    for (int i = 1; i < 65; i++) {
        snprintf(id, sizeof(id), "job-%d", i);
        assert_true(lks_manifest_run_is_former(manifest, "train", id));
    }
    assert_false(lks_manifest_run_is_former(manifest, "train", "job-65"));
    assert_true(lks_manifest_find_group(manifest, "train", &group));
    assert_string_equal(group.run.id, "job-65");
    assert_int_equal(group.run.attempt, 1);
    lks_manifest_free(manifest);
}

static void evicted_ranks_are_sorted_and_end_with_their_run(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    const uint32_t ranks[] = {3, 0, 2, 3};
    struct lks_group_record group;
    struct lks_error error;

    (void)state;
    put_run_ok(manifest, "train", "job", 0);
    for (size_t i = 0; i < 4; i++)
        assert_status(LKS_OK, lks_manifest_evict_rank(manifest, "train",
                                                      ranks[i], &error));
    manifest = stored(manifest);
    assert_true(lks_manifest_find_group(manifest, "train", &group));
    assert_int_equal(group.evicted_count, 3);
    assert_int_equal(group.evicted[0], 0);
    assert_int_equal(group.evicted[1], 2);
    assert_int_equal(group.evicted[2], 3);
    assert_true(lks_group_rank_is_evicted(&group, 2));
    assert_false(lks_group_rank_is_evicted(&group, 1));

    put_run_ok(manifest, "train", "job", 1);
    assert_true(lks_manifest_find_group(manifest, "train", &group));
    assert_int_equal(group.evicted_count, 0);
    lks_manifest_free(manifest);
}

static void pins_are_set_moved_and_removed(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    struct lks_pin_record pin;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_manifest_put_pin(manifest, "sft", 5, &error));
    assert_status(LKS_OK, lks_manifest_put_pin(manifest, "base", 2, &error));
    assert_status(LKS_OK, lks_manifest_put_pin(manifest, "sft", 9, &error));
    manifest = stored(manifest);
    assert_int_equal(lks_manifest_pin_count(manifest), 2);
    lks_manifest_pin(manifest, 0, &pin);
    assert_string_equal(pin.name, "base");
    assert_true(lks_manifest_find_pin(manifest, "sft", &pin));
    assert_int_equal(pin.step, 9);
    assert_false(lks_manifest_find_pin(manifest, "rl", &pin));
    lks_manifest_remove_pin(manifest, "base");
    lks_manifest_remove_pin(manifest, "sft");
    manifest = stored(manifest);
    assert_int_equal(lks_manifest_pin_count(manifest), 0);
    lks_manifest_free(manifest);
}

static void the_first_one_too_many_is_refused_with_the_way_out(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    struct lks_error error;
    char name[16];

    (void)state;
    for (unsigned i = 0; i < LKS_GROUPS_MAX; i++) {
        snprintf(name, sizeof(name), "g%u", i);
        put_run_ok(manifest, name, "job", 0);
    }
    assert_status(LKS_INVALID, put_run(manifest, "one-more", "job", 0, &error));
    assert_message_has("one-more");
    put_run_ok(manifest, "g7", "job", 1); /* Those that are in go on. */

    for (unsigned i = 0; i < LKS_PINS_MAX; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        assert_status(LKS_OK, lks_manifest_put_pin(manifest, name, 1, &error));
    }
    assert_status(LKS_INVALID,
                  lks_manifest_put_pin(manifest, "one-more", 1, &error));
    assert_message_has("one-more");
    assert_status(LKS_OK, lks_manifest_put_pin(manifest, "p7", 2, &error));
    manifest = stored(manifest);
    lks_manifest_free(manifest);
}

static void a_run_has_a_bound_of_evicted_ranks(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    const struct lks_run run = {.id = "job", .ranks = LKS_RANKS_MAX};
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK,
                  lks_manifest_put_run(manifest, "train", &run, &error));
    for (uint32_t i = 0; i < LKS_EVICTED_MAX; i++)
        assert_status(LKS_OK,
                      lks_manifest_evict_rank(manifest, "train", i, &error));
    assert_status(LKS_INVALID,
                  lks_manifest_evict_rank(manifest, "train", 5000, &error));
    assert_message_has("evict the group");
    lks_manifest_free(manifest);
}

static void too_many_groups_in_an_object_are_corrupt(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    struct lks_manifest *read = NULL;
    struct lks_error error;
    struct lks_buf buf;
    uint8_t extra[] = {0x22, 0x0a, 0x0a, 0x01, 'z',  0x12,
                       0x05, 0x0a, 0x01, 'j',  0x18, 0x01};
    char name[16];

    (void)state;
    for (unsigned i = 0; i < LKS_GROUPS_MAX; i++) {
        snprintf(name, sizeof(name), "g%u", i);
        put_run_ok(manifest, name, "job", 0);
    }
    buf = fixture_encoded(manifest);
    assert_status(LKS_OK, lks_buf_append(&buf, extra, sizeof(extra), &error));
    lks_put_u32(buf.data + 20,
                lks_get_u32(buf.data + 20) + (uint32_t)sizeof(extra));
    fixture_repair_sections(buf.data);
    assert_status(LKS_CORRUPT,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream,
                                      lks_manifest_version(manifest), &read,
                                      &error));
    assert_message_has("too many groups");
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void limits_and_live_steps_change(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    uint64_t step_size = lks_manifest_total_bytes(manifest) / 20;
    struct lks_error error;

    (void)state;
    assert_false(lks_manifest_is_full(manifest));
    assert_status(LKS_OK, lks_manifest_set_limits(manifest, 20, 0, &error));
    manifest = stored(manifest);
    assert_true(lks_manifest_is_full(manifest));
    lks_manifest_set_claimed(manifest, 8, 8 * step_size);
    assert_false(lks_manifest_is_full(manifest));
    assert_status(LKS_OK,
                  lks_manifest_set_limits(manifest, 0, 12 * step_size, &error));
    assert_true(lks_manifest_is_full(manifest));
    lks_manifest_set_first_live(manifest, 5, 5 * step_size);
    lks_manifest_set_claimed(manifest, 7, 7 * step_size); /* Back is fine. */
    manifest = stored(manifest);
    assert_int_equal(lks_manifest_first_live_step(manifest), 5);
    assert_int_equal(lks_manifest_claimed(manifest), 7);
    assert_int_equal(lks_manifest_live_bytes(manifest), 15 * step_size);
    lks_manifest_drop(manifest);
    manifest = stored(manifest);
    assert_true(lks_manifest_dropped(manifest));
    assert_true(lks_manifest_ended(manifest));
    lks_manifest_free(manifest);
}

/* All changes on a copy, so that each round begins with the same. */
static enum lks_status change_all(void *arg)
{
    struct lks_manifest *manifest = NULL;
    struct lks_error error;
    enum lks_status status;

    status = lks_manifest_copy(arg, &manifest, &error);
    if (status == LKS_OK)
        status = put_run(manifest, "train", "job-new", 0, &error);
    if (status == LKS_OK)
        status = put_run(manifest, "eval", "job", 0, &error);
    if (status == LKS_OK)
        status = lks_manifest_evict_rank(manifest, "eval", 2, &error);
    if (status == LKS_OK)
        status = lks_manifest_put_pin(manifest, "sft", 3, &error);
    if (status == LKS_OK)
        status = lks_manifest_set_limits(manifest, 7, 7, &error);
    lks_manifest_free(manifest);
    return status;
}

static void nothing_is_held_when_memory_is_out(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 20);
    char id[16];

    (void)state;
    for (int i = 0; i < 66; i++) {
        snprintf(id, sizeof(id), "job-%d", i);
        put_run_ok(manifest, "train", id, 0);
    }
    torture(change_all, manifest);
    lks_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_kept_in_order_of_their_names),
        cmocka_unit_test(a_new_run_remembers_the_last_64_ids_before),
        cmocka_unit_test(evicted_ranks_are_sorted_and_end_with_their_run),
        cmocka_unit_test(pins_are_set_moved_and_removed),
        cmocka_unit_test(the_first_one_too_many_is_refused_with_the_way_out),
        cmocka_unit_test(a_run_has_a_bound_of_evicted_ranks),
        cmocka_unit_test(too_many_groups_in_an_object_are_corrupt),
        cmocka_unit_test(limits_and_live_steps_change),
        cmocka_unit_test(nothing_is_held_when_memory_is_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
