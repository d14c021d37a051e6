/*
 * Who fetches and who waits when processors are short: the pause of the former,
 * and the help of the latter. The rest of the window is tested through
 * consumers.
 */
#include "consumer/prefetch.h"
#include "support/check.h"

/* The real world, but its time stands still until somebody waits. */
struct world {
    struct lks_env env;
    struct lks_env_ops ops;
    uint64_t now_ns;
    uint64_t wait_count;
};

static uint64_t now(const struct lks_env *env)
{
    return ((const struct world *)env)->now_ns;
}

static bool wait_to_the_end(const struct lks_env *env,
                            struct lks_monitor *monitor,
                            uint64_t deadline_ns)
{
    struct world *world = (struct world *)env;

    (void)monitor;
    world->wait_count++;
    world->now_ns = deadline_ns;
    return false;
}

struct window {
    struct world world;
    struct lks_cancel cancel;
    struct lks_prefetch prefetch;
    struct lks_batch batches[3];
    struct lks_fetch fetches[3];
    int helped_count; /* by the caller */
    int help_max;
    uint64_t last_ns; /* what the last fetch took before */
    uint64_t next_ns; /* what each of the caller's takes */
};

static void window_init(struct window *window, uint64_t fetch_size)
{
    struct world *world = &window->world;
    struct lks_error error;

    *window = (struct window){.world = {.ops = *lks_env_real()->ops}};
    world->ops.now_ns = now;
    world->ops.monitor_wait = wait_to_the_end;
    world->env.ops = &world->ops;
    lks_cancel_init(&window->cancel);
    assert_status(LKS_OK, lks_prefetch_init(&window->prefetch, &world->env,
                                            &window->cancel, &error));
    window->prefetch.size_max = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        window->batches[i].fetch_count = 1;
        window->batches[i].fetches = &window->fetches[i];
        window->fetches[i].batch = &window->batches[i];
        window->fetches[i].size = fetch_size;
        assert_status(LKS_OK, lks_prefetch_admit(&window->prefetch,
                                                 &window->batches[i], &error));
    }
}

/* The batches are the test's own. */
static void window_done(struct window *window)
{
    window->prefetch.locked.count = 0;
    window->prefetch.locked.reserved = 0;
    lks_prefetch_done(&window->prefetch);
}

static void fetched(struct window *window, int i)
{
    struct lks_fetch_cost cost = {0};

    lks_prefetch_fetched(&window->prefetch, &window->fetches[i], &cost, LKS_OK,
                         NULL);
}

/* By a thread that does nothing else. */
static void fetched_by_another(struct window *window, int i)
{
    fetched(window, i);
    lks_prefetch_let_caller_come(&window->prefetch);
}

static void who_fetches_lets_a_caller_come_that_has_much(void **state)
{
    struct window window;

    (void)state;
    window_init(&window, LKS_READY_SIZE / 2);
    window.prefetch.locked.waiting_since_ns = 0;

    /* The first is still under way. */
    fetched_by_another(&window, 1);
    assert_int_equal(window.world.wait_count, 0);
    fetched_by_another(&window, 2);
    assert_int_equal(window.world.wait_count, 1);
    assert_int_equal(window.world.now_ns, LKS_POLITE_NS);
    fetched_by_another(&window, 0);
    assert_int_equal(window.world.now_ns, 2 * LKS_POLITE_NS);
    window_done(&window);
}

static void who_fetches_goes_on_when_no_caller_waits(void **state)
{
    struct window window;

    (void)state;
    window_init(&window, LKS_READY_SIZE);
    for (int i = 0; i < 3; i++)
        fetched_by_another(&window, i);
    assert_int_equal(window.world.wait_count, 0);
    window_done(&window);
}

static void who_fetches_goes_on_when_cancelled(void **state)
{
    struct window window;

    (void)state;
    window_init(&window, LKS_READY_SIZE);
    window.prefetch.locked.waiting_since_ns = 0;
    lks_cancel_set(&window.cancel);
    for (int i = 0; i < 3; i++)
        fetched_by_another(&window, i);
    assert_int_equal(window.world.wait_count, 0);
    window_done(&window);
}

static void one_large_batch_is_not_much(void **state)
{
    struct window window;

    (void)state;
    window_init(&window, LKS_READY_SIZE);
    window.prefetch.locked.waiting_since_ns = 0;
    fetched_by_another(&window, 1);
    assert_int_equal(window.world.wait_count, 0);
    fetched_by_another(&window, 2);
    assert_int_equal(window.world.wait_count, 1);
    window_done(&window);
}

/* What was taken is not ready any more. */
static void what_was_taken_does_not_count(void **state)
{
    struct window window;
    struct lks_wait_report report;
    struct lks_batch *batch;
    struct lks_error error;

    (void)state;
    window_init(&window, LKS_READY_SIZE / 2);
    fetched_by_another(&window, 0);
    assert_status(LKS_OK, lks_prefetch_take(&window.prefetch, 0, &batch,
                                            &report, &error));
    assert_ptr_equal(batch, &window.batches[0]);
    window.prefetch.locked.waiting_since_ns = 0;
    fetched_by_another(&window, 1);
    assert_int_equal(window.world.wait_count, 0);
    window_done(&window);
}

static bool fetch_next(void *arg)
{
    struct window *window = arg;

    if (window->helped_count == window->help_max)
        return false;
    window->world.now_ns += window->next_ns;
    /* The oldest comes last. */
    fetched(window, 2 - window->helped_count++);
    return true;
}

static enum lks_status take(struct window *window, struct lks_error *error)
{
    struct lks_wait_report report;
    struct lks_batch *batch;

    window->prefetch.locked.fetch_ns = window->last_ns;
    window->prefetch.help = fetch_next;
    window->prefetch.help_arg = window;
    return lks_prefetch_take(&window->prefetch, 1000, &batch, &report, error);
}

static void a_caller_that_waits_fetches_until_its_batch_is_there(void **state)
{
    struct window window;
    struct lks_error error;

    (void)state;
    window_init(&window, LKS_READY_SIZE / 4);
    window.help_max = 3;
    assert_status(LKS_OK, take(&window, &error));
    assert_int_equal(window.helped_count, 3);
    assert_int_equal(window.world.wait_count, 0);
    window_done(&window);
}

static void a_caller_that_can_do_nothing_sleeps(void **state)
{
    struct window window;
    struct lks_error error;

    (void)state;
    window_init(&window, LKS_READY_SIZE / 4);
    window.help_max = 2;
    assert_status(LKS_TIMEOUT, take(&window, &error));
    assert_int_equal(window.helped_count, 2);
    assert_int_equal(window.world.wait_count, 1);
    window_done(&window);
}

static void a_caller_leaves_its_processor_to_who_fetches_its_batch(void **state)
{
    struct window window;
    struct lks_error error;

    (void)state;
    window_init(&window, LKS_READY_SIZE / 2);
    window.help_max = 3;
    assert_status(LKS_TIMEOUT, take(&window, &error));
    assert_int_equal(window.helped_count, 2);
    assert_int_equal(window.world.wait_count, 1);
    window_done(&window);
}

static void a_caller_does_not_begin_what_may_take_long(void **state)
{
    static const uint64_t last_ns[] = {LKS_QUICK_NS + 1, LKS_FOREVER};
    struct window window;
    struct lks_error error;

    (void)state;
    for (int i = 0; i < 2; i++) {
        window_init(&window, LKS_READY_SIZE / 4);
        window.help_max = 3;
        window.last_ns = last_ns[i];
        assert_status(LKS_TIMEOUT, take(&window, &error));
        assert_int_equal(window.helped_count, 0);
        assert_int_equal(window.world.wait_count, 1);
        window_done(&window);
    }
}

static void a_caller_fetches_until_its_deadline_at_most(void **state)
{
    struct window window;
    struct lks_error error;

    (void)state;
    window_init(&window, LKS_READY_SIZE / 4);
    window.help_max = 3;
    window.next_ns = 600 * LKS_NS_PER_MS; /* of the 1000 that it waits */
    assert_status(LKS_TIMEOUT, take(&window, &error));
    assert_int_equal(window.helped_count, 2);
    assert_int_equal(window.world.wait_count, 0);
    window_done(&window);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_fetches_lets_a_caller_come_that_has_much),
        cmocka_unit_test(who_fetches_goes_on_when_no_caller_waits),
        cmocka_unit_test(who_fetches_goes_on_when_cancelled),
        cmocka_unit_test(one_large_batch_is_not_much),
        cmocka_unit_test(what_was_taken_does_not_count),
        cmocka_unit_test(a_caller_that_waits_fetches_until_its_batch_is_there),
        cmocka_unit_test(a_caller_that_can_do_nothing_sleeps),
        cmocka_unit_test(
            a_caller_leaves_its_processor_to_who_fetches_its_batch),
        cmocka_unit_test(a_caller_does_not_begin_what_may_take_long),
        cmocka_unit_test(a_caller_fetches_until_its_deadline_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
