/* Retries: jitter over the full range, the budget, the deadline. In a world
 * whose time passes only by sleeping. */
#include "store/retry.h"
#include "support/check.h"

struct world {
    struct lks_env env;
    uint64_t now_ns;
    double draw; /* what every random number comes out as */
};

static uint64_t world_now_ns(const struct lks_env *env)
{
    return ((const struct world *)env)->now_ns;
}

static void world_sleep_ns(const struct lks_env *env, uint64_t duration_ns)
{
    ((struct world *)env)->now_ns += duration_ns;
}

static void world_random(const struct lks_env *env, void *data, size_t size)
{
    const struct world *world = (const struct world *)env;
    uint64_t bits = (uint64_t)(world->draw * 0x1p53) << 11;

    assert_int_equal(size, sizeof(bits));
    memcpy(data, &bits, sizeof(bits));
}

static struct lks_env_ops world_ops;

static int set_up(void **state)
{
    static struct world world;

    world_ops = *lks_env_real()->ops;
    world_ops.now_ns = world_now_ns;
    world_ops.sleep_ns = world_sleep_ns;
    world_ops.random = world_random;
    world = (struct world){.env.ops = &world_ops, .now_ns = 1, .draw = 0.5};
    *state = &world;
    return 0;
}

/* How long the next wait takes, in milliseconds; -1: it gave up. */
static int64_t wait_ms(struct world *world,
                       struct lks_retry *retry,
                       bool throttled,
                       uint64_t asked_ms)
{
    uint64_t before_ns = world->now_ns;

    if (!lks_retry_wait(retry, throttled, asked_ms, NULL))
        return -1;
    return (int64_t)((world->now_ns - before_ns) / LKS_NS_PER_MS);
}

static void waits_double_up_to_the_longest(void **state)
{
    struct world *world = *state;
    struct lks_retry_budget *budget;
    struct lks_retry retry;
    struct lks_error error;

    assert_status(LKS_OK, lks_retry_budget_new(&world->env, &budget, &error));
    lks_retry_begin(&retry, budget, 600000);
    for (uint64_t most = LKS_RETRY_FIRST_MS; most < LKS_RETRY_LONGEST_MS;
         most *= 2)
        assert_int_equal(wait_ms(world, &retry, false, 0), most / 2);
    assert_int_equal(wait_ms(world, &retry, false, 0),
                     LKS_RETRY_LONGEST_MS / 2);
    assert_int_equal(wait_ms(world, &retry, false, 0),
                     LKS_RETRY_LONGEST_MS / 2);
    lks_retry_begin(&retry, budget, 600000);
    assert_int_equal(wait_ms(world, &retry, true, 0),
                     LKS_RETRY_FIRST_THROTTLED_MS / 2);
    assert_int_equal(wait_ms(world, &retry, false, 1000),
                     1000 + LKS_RETRY_FIRST_MS);
    lks_retry_budget_free(budget);
}

static void jitter_is_over_the_full_range(void **state)
{
    struct world *world = *state;
    struct lks_retry_budget *budget;
    struct lks_retry retry;
    struct lks_error error;

    assert_status(LKS_OK, lks_retry_budget_new(&world->env, &budget, &error));
    lks_retry_begin(&retry, budget, 600000);
    world->draw = 0;
    assert_int_equal(wait_ms(world, &retry, false, 0), 0);
    lks_retry_begin(&retry, budget, 600000);
    world->draw = 0.9999;
    assert_int_equal(wait_ms(world, &retry, false, 0), LKS_RETRY_FIRST_MS - 1);
    lks_retry_budget_free(budget);
}

static void without_tokens_retries_wait_their_turn(void **state)
{
    struct world *world = *state;
    struct lks_retry_budget *budget;
    struct lks_error error;
    uint64_t began_ns;
    int count = 1000;

    assert_status(LKS_OK, lks_retry_budget_new(&world->env, &budget, &error));
    world->draw = 0; /* Only the budget makes anybody wait. */
    began_ns = world->now_ns;
    for (int i = 0; i < count; i++) {
        struct lks_retry retry;

        lks_retry_begin(&retry, budget, 600000);
        assert_true(wait_ms(world, &retry, false, 0) >= 0);
    }
    assert_true((double)(world->now_ns - began_ns) / (double)LKS_NS_PER_S >=
                (count - LKS_RETRY_TOKENS_MAX) / LKS_RETRY_TOKENS_PER_S - 0.2);
    for (int i = 0; i < 1000; i++)
        lks_retry_succeeded(budget);
    for (int i = 0; i < (int)LKS_RETRY_TOKENS_MAX; i++) {
        struct lks_retry retry;

        lks_retry_begin(&retry, budget, 600000);
        assert_int_equal(wait_ms(world, &retry, false, 0), 0);
    }
    lks_retry_budget_free(budget);
}

static void a_wait_past_the_deadline_is_not_begun(void **state)
{
    struct world *world = *state;
    struct lks_retry_budget *budget;
    struct lks_cancel cancel;
    struct lks_retry retry;
    struct lks_error error;

    assert_status(LKS_OK, lks_retry_budget_new(&world->env, &budget, &error));
    lks_retry_begin(&retry, budget, 1000);
    assert_int_equal(wait_ms(world, &retry, false, 2000), -1);
    assert_int_equal(retry.try_count, 1);
    lks_retry_begin(&retry, budget, 0);
    assert_int_equal(wait_ms(world, &retry, false, 0), -1);
    lks_cancel_init(&cancel);
    lks_cancel_set(&cancel);
    lks_retry_begin(&retry, budget, 1000);
    assert_false(lks_retry_wait(&retry, false, 0, &cancel));
    lks_retry_budget_free(budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waits_double_up_to_the_longest, set_up),
        cmocka_unit_test_setup(jitter_is_over_the_full_range, set_up),
        cmocka_unit_test_setup(without_tokens_retries_wait_their_turn, set_up),
        cmocka_unit_test_setup(a_wait_past_the_deadline_is_not_begun, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
