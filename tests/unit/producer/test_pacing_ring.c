/* The ring: whose turn it is, who joins, who leaves. */
#include "producer/pacing_ring.h"

#include "support/check.h"

#define COUNT 5u
#define US_NS 1000.0

struct fixture {
    struct lks_ring_place places[COUNT];
    struct lks_ring ring;
};

/* Members 0, 1, 3 and 4; 2 is a guest. Member 1 had the last turn. */
static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){
        .ring = {.guest_version = 100, .guest_gap = 16, .last = 1},
    };
    fixture->ring.count = COUNT;
    fixture->ring.places = fixture->places;
    for (uint32_t i = 0; i < COUNT; i++)
        fixture->places[i].in_ring = i != 2;
}

static struct lks_turn turn_of(const struct fixture *fixture, uint32_t me)
{
    struct lks_turn turn;

    lks_ring_turn(&fixture->ring, 50, me, &turn);
    return turn;
}

static void turns_go_by_place_from_the_last_one(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    assert_int_equal(turn_of(&fixture, 3).ahead, 0);
    assert_int_equal(turn_of(&fixture, 4).ahead, 1);
    assert_int_equal(turn_of(&fixture, 0).ahead, 2);
    assert_int_equal(turn_of(&fixture, 1).ahead, 3);
    assert_int_equal(turn_of(&fixture, 1).members, 4);
    assert_true(turn_of(&fixture, 1).in_ring);
    assert_false(turn_of(&fixture, 2).in_ring);
}

static void before_any_turn_the_first_place_is_next(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    fixture.ring.last = UINT32_MAX;
    assert_int_equal(turn_of(&fixture, 0).ahead, 0);
    assert_int_equal(turn_of(&fixture, 4).ahead, 3);
}

static void a_slow_member_has_a_longer_turn(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    fixture.places[3].slowness_permille = 2500;
    assert_int_equal(turn_of(&fixture, 0).ahead_permille, 3500);
    assert_int_equal(turn_of(&fixture, 0).lap_permille, 5500);
    assert_int_equal(turn_of(&fixture, 3).permille, 2500);
}

static void a_turn_moves_the_ring_on(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    lks_ring_commit(&fixture.ring, 50, 3, 0.0);
    assert_int_equal(fixture.ring.last, 3);
    assert_int_equal(turn_of(&fixture, 4).ahead, 0);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(fixture.places[i].misses, 0);
}

static void who_is_passed_over_gets_a_miss(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    fixture.places[0].misses = 2;
    lks_ring_commit(&fixture.ring, 50, 0, 0.0);
    assert_int_equal(fixture.places[3].misses, 1);
    assert_int_equal(fixture.places[4].misses, 1);
    assert_int_equal(fixture.places[0].misses, 0);
    assert_int_equal(fixture.places[1].misses, 0);
    assert_int_equal(turn_of(&fixture, 1).ahead_ready, 0);
}

static void too_many_misses_in_a_row_and_it_is_out(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    for (uint32_t i = 1; i <= LKS_RING_MISSES_MAX; i++) {
        assert_true(fixture.places[3].in_ring);
        lks_ring_commit(&fixture.ring, 50, 4, 0.0);
        lks_ring_commit(&fixture.ring, 51, 0, 0.0);
        lks_ring_commit(&fixture.ring, 52, 1, 0.0);
    }
    assert_false(fixture.places[3].in_ring);
    assert_int_equal(turn_of(&fixture, 4).members, 3);
}

static void a_guest_joins_and_does_not_move_the_turn(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    fixture.ring.guest_version = 50;
    lks_ring_commit(&fixture.ring, 50, 2, 0.0);
    assert_true(fixture.places[2].in_ring);
    assert_int_equal(fixture.ring.last, 1);
    assert_int_equal(turn_of(&fixture, 2).ahead, 0);
}

static void the_way_to_the_next_guest_version_adapts(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    fixture.ring.guest_version = 50;
    fixture.ring.guest_gap = 8;
    lks_ring_commit(&fixture.ring, 50, 2, 0.0);
    assert_int_equal(fixture.ring.guest_gap, 2);
    assert_int_equal(fixture.ring.guest_version, 52);
    lks_ring_commit(&fixture.ring, 51, 2, 0.0);
    assert_int_equal(fixture.ring.guest_version, 52);
    lks_ring_commit(&fixture.ring, 52, 3, 0.0);
    assert_int_equal(fixture.ring.guest_gap, 4);
    assert_int_equal(fixture.ring.guest_version, 56);
}

static void guests_are_left_time_and_the_slow_ones_more_at_times(void **state)
{
    struct fixture fixture;
    uint32_t long_count = 0;

    (void)state;
    set_up(&fixture);
    assert_int_equal(turn_of(&fixture, 3).hold_permille, 0);
    assert_int_equal(turn_of(&fixture, 3).until_guest, 50);
    for (uint64_t i = 0; i < 320; i++) {
        struct lks_turn turn;

        fixture.ring.guest_version = 16 * i;
        lks_ring_turn(&fixture.ring, 16 * i, 3, &turn);
        assert_true(turn.guest_version);
        assert_true(turn.hold_permille >= 2500);
        long_count += turn.hold_permille >= 20000;
    }
    assert_int_equal(long_count, 10);
}

static void the_unit_of_turns_is_the_median_not_the_slow_ones(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    lks_ring_commit(&fixture.ring, 0, 3, 60000 * US_NS);
    assert_int_equal(fixture.ring.turn_us, 60000);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t me = (uint32_t[]){4, 0, 1, 3}[i % 4];
        double attempt_us = me == 4 ? 300000.0 : 64000.0;

        lks_ring_commit(&fixture.ring, i, me, attempt_us * US_NS);
    }
    assert_in_range(fixture.ring.turn_us, 56000, 76000);
    assert_in_range(fixture.places[4].slowness_permille, 4000, 5500);
    assert_int_equal(fixture.places[0].slowness_permille, 0);
}

static void who_leaves_is_not_waited_for(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    lks_ring_leave(&fixture.ring, 3);
    assert_int_equal(turn_of(&fixture, 4).ahead, 0);
    lks_ring_join(&fixture.ring, 3);
    assert_int_equal(turn_of(&fixture, 4).ahead, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_go_by_place_from_the_last_one),
        cmocka_unit_test(before_any_turn_the_first_place_is_next),
        cmocka_unit_test(a_slow_member_has_a_longer_turn),
        cmocka_unit_test(a_turn_moves_the_ring_on),
        cmocka_unit_test(who_is_passed_over_gets_a_miss),
        cmocka_unit_test(too_many_misses_in_a_row_and_it_is_out),
        cmocka_unit_test(a_guest_joins_and_does_not_move_the_turn),
        cmocka_unit_test(the_way_to_the_next_guest_version_adapts),
        cmocka_unit_test(guests_are_left_time_and_the_slow_ones_more_at_times),
        cmocka_unit_test(the_unit_of_turns_is_the_median_not_the_slow_ones),
        cmocka_unit_test(who_leaves_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
