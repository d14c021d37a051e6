/* Pacing by a gap: DAC's formula against numbers worked out by hand, and the
 * baselines. */
#include "base/env.h"
#include "producer/pacing.h"
#include "support/check.h"

#define MS LKS_NS_PER_MS

struct fixture {
    struct lks_pacing pacing;
    struct lks_pacing_view view;
    uint64_t now_ns;
};

static void set_up(struct fixture *fixture, enum lks_pacing_kind kind)
{
    const struct lks_pacing_options options = {
        .kind = kind,
        .gap_ns = 1000 * MS,
        .freshness_ns = 600000 * MS,
        .overhead_budget = 0.1,
        .conflict_budget = 0.04,
    };

    *fixture = (struct fixture){.now_ns = 1000 * MS};
    fixture->view.active = 1;
    lks_pacing_init(&fixture->pacing, &options);
}

/* A look that takes 20 ms. */
static void look(struct fixture *fixture, bool advanced)
{
    struct lks_pacing_look look = {
        .sent_ns = fixture->now_ns,
        .replied_ns = fixture->now_ns + 20 * MS,
        .stride = 1,
        .advanced = advanced,
    };

    fixture->now_ns = look.replied_ns;
    fixture->view.version += advanced;
    lks_pacing_saw(&fixture->pacing, &look, &fixture->view);
}

/* A try that takes 40 ms, and the look after it. */
static void try(struct fixture *fixture, enum lks_outcome outcome)
{
    lks_pacing_tried(&fixture->pacing, fixture->now_ns,
                     fixture->now_ns + 40 * MS);
    fixture->now_ns += 40 * MS;
    look(fixture, true);
    lks_pacing_settled(&fixture->pacing, outcome, fixture->now_ns, 0.5);
}

static struct lks_step next(struct fixture *fixture)
{
    struct lks_step step;

    lks_pacing_next(&fixture->pacing, fixture->now_ns, 0.5, &step);
    return step;
}

static void assert_gap_ms(const struct fixture *fixture, double expected_ms)
{
    double gap_ms = (double)fixture->pacing.gap_ns / (double)MS;

    if (gap_ms < expected_ms - 0.01 || gap_ms > expected_ms + 0.01)
        fail_msg("the gap is %.3f ms, not %.3f", gap_ms, expected_ms);
}

static void an_attempt_is_one_look_and_one_try(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_DAC);
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_WON);
    assert_true(lks_pacing_attempt_ns(&fixture.pacing) == 60.0 * MS);
}

static void alone_the_gap_of_dac_is_the_overhead_budgets(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_DAC);
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_WON);
    assert_gap_ms(&fixture, 540.0); /* 60 * 0.9 / 0.1 */
}

static void among_others_it_is_the_conflict_budgets(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_DAC);
    fixture.view.active = 32;
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_WON);
    /* w = 60 - 20 / 2; 31 * 50 / -ln(0.96) - 60 = 1550 / 0.0408220 - 60 */
    assert_gap_ms(&fixture, 37909.73);
}

static void a_conflict_budget_is_paid_for_with_time(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_DAC);
    fixture.pacing.options.conflict_budget = 0.3;
    fixture.view.active = 32;
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_WON);
    /* 1550 / 0.3566749 - 60 */
    assert_gap_ms(&fixture, 4285.69);
}

static void freshness_bounds_the_gap_but_not_below_a_turn_of_all(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_DAC);
    fixture.view.active = 32;
    fixture.pacing.options.freshness_ns = 5000 * MS;
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_WON);
    assert_gap_ms(&fixture, 5000.0);
    fixture.pacing.options.freshness_ns = 10 * MS;
    try(&fixture, LKS_OUTCOME_WON);
    assert_gap_ms(&fixture, 32.0 * 60.0);
}

static void dac_waits_longer_while_it_loses_more_than_it_may(void **state)
{
    struct fixture fixture;
    uint64_t gap_ns;

    (void)state;
    set_up(&fixture, LKS_PACING_DAC);
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_WON);
    gap_ns = fixture.pacing.gap_ns;
    for (int i = 0; i < 10; i++)
        try(&fixture, LKS_OUTCOME_LOST);
    assert_true(fixture.pacing.gap_ns > gap_ns);
    for (int i = 0; i < 500; i++)
        try(&fixture, LKS_OUTCOME_WON);
    assert_int_equal(fixture.pacing.gap_ns, gap_ns);
}

static void a_try_comes_a_gap_later_on_the_newest_version(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_FIXED);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    look(&fixture, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
    try(&fixture, LKS_OUTCOME_WON);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    assert_int_equal(next(&fixture).wait_ns, 1000 * MS);
    fixture.now_ns += 1000 * MS;
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    look(&fixture, true);
    assert_int_equal(next(&fixture).act, LKS_ACT_LOOK);
    look(&fixture, false);
    assert_int_equal(next(&fixture).act, LKS_ACT_TRY);
}

static void after_a_try_the_next_version_is_looked_at_at_once(void **state)
{
    struct fixture fixture;
    struct lks_step step;

    (void)state;
    set_up(&fixture, LKS_PACING_FIXED);
    look(&fixture, false);
    lks_pacing_tried(&fixture.pacing, fixture.now_ns, fixture.now_ns + MS);
    step = next(&fixture);
    assert_int_equal(step.act, LKS_ACT_LOOK);
    assert_int_equal(step.stride, 1);
    assert_int_equal(step.wait_ns, 0);
}

static void a_store_that_wants_less_is_left_alone_for_longer(void **state)
{
    struct fixture fixture;
    uint64_t first_ns;

    (void)state;
    set_up(&fixture, LKS_PACING_TURNS);
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_THROTTLED);
    first_ns = fixture.pacing.hold_ns - fixture.now_ns;
    assert_true(first_ns > 0);
    assert_int_equal(next(&fixture).wait_ns, first_ns);
    try(&fixture, LKS_OUTCOME_THROTTLED);
    assert_int_equal(fixture.pacing.hold_ns - fixture.now_ns, 2 * first_ns);
}

static void aimd_doubles_its_gap_and_shortens_it_in_steps(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_AIMD);
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_LOST);
    assert_gap_ms(&fixture, 2000.0);
    try(&fixture, LKS_OUTCOME_LOST);
    assert_gap_ms(&fixture, 4000.0);
    try(&fixture, LKS_OUTCOME_WON);
    assert_gap_ms(&fixture, 2666.67); /* 1 / (1/4000 + 1/8000) */
}

static void the_gap_of_incr_only_grows(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, LKS_PACING_INCR);
    look(&fixture, false);
    try(&fixture, LKS_OUTCOME_LOST);
    assert_gap_ms(&fixture, 2000.0);
    try(&fixture, LKS_OUTCOME_WON);
    assert_gap_ms(&fixture, 2000.0);
    try(&fixture, LKS_OUTCOME_LOST);
    assert_gap_ms(&fixture, 3000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_is_one_look_and_one_try),
        cmocka_unit_test(alone_the_gap_of_dac_is_the_overhead_budgets),
        cmocka_unit_test(among_others_it_is_the_conflict_budgets),
        cmocka_unit_test(a_conflict_budget_is_paid_for_with_time),
        cmocka_unit_test(freshness_bounds_the_gap_but_not_below_a_turn_of_all),
        cmocka_unit_test(dac_waits_longer_while_it_loses_more_than_it_may),
        cmocka_unit_test(a_try_comes_a_gap_later_on_the_newest_version),
        cmocka_unit_test(after_a_try_the_next_version_is_looked_at_at_once),
        cmocka_unit_test(a_store_that_wants_less_is_left_alone_for_longer),
        cmocka_unit_test(aimd_doubles_its_gap_and_shortens_it_in_steps),
        cmocka_unit_test(the_gap_of_incr_only_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
