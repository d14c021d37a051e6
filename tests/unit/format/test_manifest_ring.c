/* The ring in a manifest: what is written is read again, and nothing else. */
#include <stdio.h>

#include "format/manifest.h"
#include "support/check.h"

static const uint8_t stream_id[LKS_ID_SIZE] = {1, 2, 3};

static struct lks_manifest *new_manifest(uint32_t count)
{
    struct lks_descriptor descriptor = {.dp = 1, .cp = 1};
    struct lks_manifest *manifest;
    struct lks_error error;

    memcpy(descriptor.stream, stream_id, LKS_ID_SIZE);
    descriptor.producers_to_end = 1;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    lks_manifest_advance(manifest);
    for (uint32_t i = 0; i < count; i++) {
        char id[16];
        struct lks_producer_record record = {
            .id = id,
            .epoch = 1,
            .host = "host",
            .version = lks_manifest_version(manifest),
        };

        snprintf(id, sizeof(id), "p%u", i);
        assert_status(LKS_OK,
                      lks_manifest_put_producer(manifest, &record, &error));
    }
    return manifest;
}

/* Through its bytes and back. */
static struct lks_manifest *pass_on(struct lks_manifest *manifest)
{
    struct lks_manifest *again;
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_manifest_encode(manifest, &buf, &error));
    assert_status(LKS_OK, lks_manifest_decode(buf.data, buf.size, stream_id,
                                              lks_manifest_version(manifest),
                                              &again, &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
    return again;
}

static void at_first_nobody_is_in_the_ring(void **state)
{
    struct lks_manifest *manifest = new_manifest(3);
    struct lks_ring_place places[LKS_PRODUCERS_MAX];
    struct lks_ring ring = {.places = places};

    (void)state;
    lks_manifest_read_ring(manifest, &ring);
    assert_int_equal(ring.count, 3);
    assert_int_equal(ring.last, UINT32_MAX);
    assert_int_equal(ring.guest_version, 0);
    assert_int_equal(ring.turn_us, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_false(places[i].in_ring);
    lks_manifest_free(manifest);
}

static void what_is_written_is_read_again(void **state)
{
    struct lks_manifest *manifest = new_manifest(3);
    struct lks_ring_place places[LKS_PRODUCERS_MAX];
    struct lks_ring ring = {.places = places};
    struct lks_error error;

    (void)state;
    lks_manifest_read_ring(manifest, &ring);
    places[0] = (struct lks_ring_place){true, 2, 1500};
    places[2] = (struct lks_ring_place){true, 0, 0};
    ring.last = 2;
    ring.guest_version = 77;
    ring.guest_gap = 16;
    ring.turn_us = 65000;
    assert_status(LKS_OK, lks_manifest_write_ring(manifest, &ring, &error));
    manifest = pass_on(manifest);

    memset(places, 0xff, sizeof(places));
    ring = (struct lks_ring){.places = places};
    lks_manifest_read_ring(manifest, &ring);
    assert_int_equal(ring.count, 3);
    assert_int_equal(ring.last, 2);
    assert_int_equal(ring.guest_version, 77);
    assert_int_equal(ring.guest_gap, 16);
    assert_int_equal(ring.turn_us, 65000);
    assert_true(places[0].in_ring);
    assert_int_equal(places[0].misses, 2);
    assert_int_equal(places[0].slowness_permille, 1500);
    assert_false(places[1].in_ring);
    assert_true(places[2].in_ring);
    lks_manifest_free(manifest);
}

static void a_producer_that_comes_later_does_not_move_the_turn(void **state)
{
    struct lks_manifest *manifest = new_manifest(2);
    struct lks_ring_place places[LKS_PRODUCERS_MAX];
    struct lks_ring ring = {.places = places};
    struct lks_producer_record record = {
        .id = "a",
        .epoch = 1,
        .host = "host",
        .version = 1,
    };
    struct lks_error error;
    uint32_t index;

    (void)state;
    lks_manifest_read_ring(manifest, &ring);
    ring.last = 1;
    assert_status(LKS_OK, lks_manifest_write_ring(manifest, &ring, &error));
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    assert_status(LKS_OK, lks_manifest_join_ring(manifest, "a", &error));
    lks_manifest_read_ring(manifest, &ring);
    assert_true(lks_manifest_find_place(manifest, "a", &index));
    assert_int_equal(index, 0);
    assert_true(places[0].in_ring);
    assert_int_equal(ring.last, 2);
    assert_false(lks_manifest_find_place(manifest, "b", &index));
    lks_manifest_free(manifest);
}

static void who_has_finished_takes_no_turns(void **state)
{
    struct lks_manifest *manifest = new_manifest(2);
    struct lks_ring_place places[LKS_PRODUCERS_MAX];
    struct lks_ring ring = {.places = places};
    struct lks_producer_record record = {
        .id = "p1",
        .epoch = 2,
        .host = "host",
        .finished = true,
        .version = 1,
    };
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_manifest_join_ring(manifest, "p1", &error));
    lks_manifest_read_ring(manifest, &ring);
    assert_true(places[1].in_ring);
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    lks_manifest_read_ring(manifest, &ring);
    assert_false(places[1].in_ring);
    lks_manifest_free(manifest);
}

static void active_is_who_committed_of_late(void **state)
{
    struct lks_manifest *manifest = new_manifest(3);
    struct lks_producer_record record = {
        .id = "p0",
        .epoch = 1,
        .host = "host",
    };
    struct lks_error error;

    (void)state;
    for (int i = 0; i < 10; i++)
        lks_manifest_advance(manifest);
    assert_int_equal(lks_manifest_active_count(manifest, 10), 3);
    assert_int_equal(lks_manifest_active_count(manifest, 9), 0);
    record.version = lks_manifest_version(manifest);
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    assert_int_equal(lks_manifest_active_count(manifest, 9), 1);
    record.finished = true;
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    assert_int_equal(lks_manifest_active_count(manifest, 9), 0);
    lks_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_first_nobody_is_in_the_ring),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_producer_that_comes_later_does_not_move_the_turn),
        cmocka_unit_test(who_has_finished_takes_no_turns),
        cmocka_unit_test(active_is_who_committed_of_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
