/* Pacing by turns: when a member tries, whom it looks for, when it takes over,
 * what guests do. */
#include "base/env.h"
#include "producer/pacing.h"
#include "support/check.h"

#define MS LKS_NS_PER_MS
#define T_MS 60u
#define START_MS 100000u

struct fixture {
    struct lks_pacing pacing;
    struct lks_pacing_view view;
    uint64_t now_ns;
};

/* A member of a ring of four at version 100, which came long ago. */
static void set_up(struct fixture *fixture, uint32_t ahead)
{
    const struct lks_pacing_options options = {
        .kind = LKS_PACING_TURNS,
        .overhead_budget = 0.05,
        .conflict_budget = 0.04,
    };

    *fixture = (struct fixture){.now_ns = START_MS * MS};
    fixture->view = (struct lks_pacing_view){
        .version = 100,
        .active = 4,
        .turn =
            {
                .in_ring = true,
                .members = 4,
                .ahead = ahead,
                .ahead_ready = ahead,
                .ahead_permille = 1000 * (uint64_t)ahead,
                .lap_permille = 4000,
                .permille = 1000,
                .until_guest = 50,
                .guest_gap = 16,
                .turn_us = T_MS * 1000,
            },
    };
    lks_pacing_init(&fixture->pacing, &options);
}

/* A look that takes 20 ms, finding so many turns gone by, or nothing. */
static void look(struct fixture *fixture, uint64_t stride, bool found)
{
    struct lks_pacing_look look = {
        .sent_ns = fixture->now_ns,
        .replied_ns = fixture->now_ns + 20 * MS,
        .stride = stride,
        .advanced = found,
    };

    fixture->now_ns = look.replied_ns;
    if (found) {
        fixture->view.version += stride;
        fixture->view.turn.ahead -= (uint32_t)stride;
        fixture->view.turn.ahead_ready -= (uint32_t)stride;
        fixture->view.turn.ahead_permille -= 1000 * stride;
    }
    lks_pacing_saw(&fixture->pacing, &look, &fixture->view);
}

static struct lks_step next(struct fixture *fixture)
{
    struct lks_step step;

    lks_pacing_next(&fixture->pacing, fixture->now_ns, 0.5, &step);
    return step;
}

static void in_its_turn_a_member_tries_on_the_newest(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 0);
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void a_turn_that_has_just_begun_needs_no_second_look(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1);
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    look(&fixture, 1, true);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void a_turn_that_began_nobody_knows_when_does(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, 1);
    look(&fixture, 1, false);
    fixture.now_ns += 150 * MS;
    look(&fixture, 1, true);
    step = next(&fixture);
    assert_int_equal(step.act, LKS_ACT_LOOK);
    assert_int_equal(step.wait_ns, 0);
    assert_int_equal(step.stride, 1);
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void a_member_looks_for_the_start_of_its_own_turn(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, 4);
    look(&fixture, 1, true);
    step = next(&fixture);
    assert_int_equal(step.act, LKS_ACT_LOOK);
    assert_int_equal(step.stride, 3);
    /* 3 turns of 1.2 T, half a spread of sqrt(3) T / 2 early, from the look's
     * middle on: 216 - 26 - 10 ms. */
    assert_in_range(step.wait_ns, 160 * MS, 200 * MS);
}

static void others_are_passed_over_a_slot_after_the_other(void **state)
{
    struct fixture fixture;
    uint64_t landed_ns;

    (void)state;
    set_up(&fixture, 3);
    look(&fixture, 1, true);
    landed_ns = fixture.now_ns - 10 * MS;
    fixture.now_ns = landed_ns + 250 * MS;
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    /* 2 members, 3 T each */
    fixture.now_ns = landed_ns + 345 * MS;
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void who_is_too_late_for_its_slot_waits_for_the_next_lap(void **state)
{
    struct fixture fixture;
    uint64_t landed_ns;

    (void)state;
    set_up(&fixture, 2);
    look(&fixture, 1, true);
    landed_ns = fixture.now_ns - 10 * MS;
    /* Its slot is [180, 360) ms; it may begin until 264. */
    fixture.now_ns = landed_ns + 300 * MS;
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    /* A lap is 4 slots of 180 ms. */
    fixture.now_ns = landed_ns + (180 + 720) * MS;
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void a_member_leaves_the_guests_version_to_guests(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, 1);
    look(&fixture, 1, false);
    fixture.view.turn.guest_version = true;
    fixture.view.turn.hold_permille = 2500;
    look(&fixture, 1, true);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    look(&fixture, 1, false);
    step = next(&fixture);
    assert_int_equal(step.act, LKS_ACT_LOOK);
    fixture.now_ns += 150 * MS;
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void a_guest_goes_on_a_guests_version_only(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, 0);
    fixture.view.turn.in_ring = false;
    look(&fixture, 1, false);
    step = next(&fixture);
    assert_int_equal(step.act, LKS_ACT_LOOK);
    assert_true(step.stride > 1);

    set_up(&fixture, 1);
    fixture.view.turn.in_ring = false;
    fixture.view.turn.until_guest = 0;
    fixture.view.turn.guest_version = true;
    fixture.view.turn.hold_permille = 2500;
    look(&fixture, 1, true);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    look(&fixture, 1, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void guests_go_less_often_when_they_meet(void **state)
{
    struct fixture fixture;
    double chance;

    (void)state;
    set_up(&fixture, 1);
    fixture.view.turn.in_ring = false;
    fixture.view.turn.until_guest = 0;
    fixture.view.turn.guest_version = true;
    fixture.view.turn.hold_permille = 2500;
    look(&fixture, 1, false);
    next(&fixture);
    chance = fixture.pacing.chance;
    lks_pacing_tried(&fixture.pacing, fixture.now_ns, fixture.now_ns + MS);
    look(&fixture, 1, true);
    lks_pacing_settled(&fixture.pacing, LKS_OUTCOME_LOST, fixture.now_ns, 0.5);
    assert_true(fixture.pacing.chance < chance);
}

/* A try that is seen 20 ms later as the next version. */
static void win(struct fixture *fixture)
{
    lks_pacing_tried(&fixture->pacing, fixture->now_ns,
                     fixture->now_ns + 40 * MS);
    fixture->now_ns += 40 * MS;
    fixture->view.turn.ahead++;
    fixture->view.turn.ahead_ready++;
    fixture->view.turn.ahead_permille += 1000;
    look(fixture, 1, true);
    lks_pacing_settled(&fixture->pacing, LKS_OUTCOME_WON, fixture->now_ns, 0.5);
}

static void commits_are_saved_up_unless_somebody_waits(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, 0);
    fixture.view.turn.members = 1;
    fixture.view.turn.lap_permille = 1000;
    look(&fixture, 1, false);
    win(&fixture);
    step = next(&fixture);
    /* T * 0.95 / 0.05, from when it landed */
    assert_in_range(step.wait_ns, 1050 * MS, 1140 * MS);
    lks_pacing_hurry(&fixture.pacing, true);
    assert_true(next(&fixture).wait_ns < 100 * MS);
}

static void who_made_the_last_versions_alone_tries_without_a_look(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, 0);
    fixture.view.turn.members = 1;
    look(&fixture, 1, false);
    win(&fixture);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    win(&fixture);
    step = next(&fixture);
    assert_int_equal(step.act, LKS_ACT_TRY);
    assert_in_range(step.wait_ns, 1050 * MS, 1140 * MS);

    /* Not after long, nor when there are two of them. */
    fixture.now_ns += 60 * T_MS * MS;
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    win(&fixture);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
    fixture.view.turn.members = 2;
    win(&fixture);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
}

static void before_the_first_try_a_look_tells_how_fast_the_store_is(
    void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 0);
    look(&fixture, 1, false);
    assert_true(lks_pacing_attempt_ns(&fixture.pacing) == 60.0 * MS);
    lks_pacing_tried(&fixture.pacing, fixture.now_ns, fixture.now_ns + 50 * MS);
    assert_true(lks_pacing_attempt_ns(&fixture.pacing) == 70.0 * MS);
}

/* Everybody else has gone: no look finds anything, however long it sleeps. */
static void a_member_that_nobody_comes_before_takes_over(void **state)
{
    struct fixture fixture;
    uint64_t start_ns;
    struct lks_step step;

    (void)state;
    for (uint32_t ahead = 1; ahead < 64; ahead++) {
        set_up(&fixture, ahead);
        fixture.view.turn.members = 64;
        fixture.view.turn.lap_permille = 64000;
        look(&fixture, 1, true);
        start_ns = fixture.now_ns;
        step = next(&fixture);
        while (step.act == LKS_ACT_LOOK) {
            fixture.now_ns += step.wait_ns;
            look(&fixture, step.stride, false);
            /* Three laps of 3 T for each. */
            assert_true(fixture.now_ns - start_ns < 9 * 64 * T_MS * MS);
            step = next(&fixture);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_its_turn_a_member_tries_on_the_newest),
        cmocka_unit_test(a_turn_that_has_just_begun_needs_no_second_look),
        cmocka_unit_test(a_turn_that_began_nobody_knows_when_does),
        cmocka_unit_test(a_member_looks_for_the_start_of_its_own_turn),
        cmocka_unit_test(others_are_passed_over_a_slot_after_the_other),
        cmocka_unit_test(who_is_too_late_for_its_slot_waits_for_the_next_lap),
        cmocka_unit_test(a_member_leaves_the_guests_version_to_guests),
        cmocka_unit_test(a_guest_goes_on_a_guests_version_only),
        cmocka_unit_test(guests_go_less_often_when_they_meet),
        cmocka_unit_test(commits_are_saved_up_unless_somebody_waits),
        cmocka_unit_test(who_made_the_last_versions_alone_tries_without_a_look),
        cmocka_unit_test(
            before_the_first_try_a_look_tells_how_fast_the_store_is),
        cmocka_unit_test(a_member_that_nobody_comes_before_takes_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
