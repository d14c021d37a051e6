/* The real environment: clocks, randomness, threads, monitors, cancelling. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/env.h"
#include "support/check.h"
#include "support/torture.h"

/* Far more than any machine needs; a test that waits so long has failed. */
#define LONG_MS UINT64_C(120000)

static void the_clock_does_not_go_back(void **state)
{
    const struct lks_env *env = lks_env_real();
    uint64_t last_ns = lks_env_now_ns(env);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t now_ns = lks_env_now_ns(env);

        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

static void sleeping_takes_at_least_its_time(void **state)
{
    const struct lks_env *env = lks_env_real();
    uint64_t begin_ns = lks_env_now_ns(env);

    (void)state;
    lks_env_sleep_ns(env, 5 * LKS_NS_PER_MS);
    assert_true(lks_env_now_ns(env) - begin_ns >= 5 * LKS_NS_PER_MS);
    lks_env_sleep_ns(env, 0);
}

static void deadlines_are_in_the_future_and_do_not_overflow(void **state)
{
    const struct lks_env *env = lks_env_real();
    uint64_t before_ns = lks_env_now_ns(env);
    uint64_t deadline_ns = lks_env_deadline_ms(env, 1000);

    (void)state;
    assert_true(deadline_ns >= before_ns + 1000 * LKS_NS_PER_MS);
    assert_true(deadline_ns <= lks_env_now_ns(env) + 1000 * LKS_NS_PER_MS);
    assert_true(lks_env_deadline_ms(env, UINT64_MAX) == LKS_FOREVER);
    assert_true(lks_env_deadline_ms(env, UINT64_MAX / LKS_NS_PER_MS) ==
                LKS_FOREVER);
}

static void wall_time_is_unix_time_in_milliseconds(void **state)
{
    int64_t now_ms = lks_env_wall_ms(lks_env_real());

    (void)state;
    assert_true(now_ms > INT64_C(1600000000000)); /* 2020 */
    assert_true(now_ms < INT64_C(7000000000000)); /* 2191 */
}

static void random_bytes_differ_each_time(void **state)
{
    static uint8_t large[1 << 20];
    const struct lks_env *env = lks_env_real();
    uint8_t one[16];
    uint8_t two[16];
    unsigned int seen = 0;

    (void)state;
    lks_env_random(env, one, sizeof(one));
    lks_env_random(env, two, sizeof(two));
    assert_memory_not_equal(one, two, sizeof(one));
    lks_env_random(env, large, sizeof(large));
    for (size_t i = sizeof(large) - 4096; i < sizeof(large); i++)
        seen |= large[i];
    assert_int_equal(seen, 255);
    lks_env_random(env, NULL, 0);
}

static void random_units_spread_over_zero_to_one(void **state)
{
    const struct lks_env *env = lks_env_real();
    double sum = 0;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        double unit = lks_env_random_unit(env);

        assert_true(unit >= 0);
        assert_true(unit < 1);
        sum += unit;
    }
    assert_true(sum > 4500); /* 17 standard deviations below 5000 */
    assert_true(sum < 5500);
}

/* A world whose randomness is all ones, or all zeroes. */
static void all_ones(const struct lks_env *env, void *data, size_t size)
{
    (void)env;
    memset(data, 0xff, size);
}

static void all_zeroes(const struct lks_env *env, void *data, size_t size)
{
    (void)env;
    memset(data, 0, size);
}

static void the_largest_random_unit_is_below_one(void **state)
{
    const struct lks_env_ops ones = {.random = all_ones};
    const struct lks_env_ops zeroes = {.random = all_zeroes};
    const struct lks_env high = {.ops = &ones};
    const struct lks_env low = {.ops = &zeroes};

    (void)state;
    assert_true(lks_env_random_unit(&high) < 1);
    assert_true(lks_env_random_unit(&high) > 0.999999);
    assert_true(lks_env_random_unit(&low) == 0);
}

static void the_process_is_known_by_host_and_pid(void **state)
{
    const struct lks_env *env = lks_env_real();
    char host[LKS_HOST_SIZE];

    (void)state;
    memset(host, 'x', sizeof(host));
    lks_env_host(env, host);
    assert_non_null(memchr(host, '\0', sizeof(host)));
    assert_int_equal(lks_env_pid(env), getpid());
}

struct noted {
    char name[64];
    bool blocks_signals;
};

static void note_thread(void *arg)
{
    struct noted *noted = arg;
    sigset_t blocked;

    pthread_getname_np(pthread_self(), noted->name, sizeof(noted->name));
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    noted->blocks_signals = sigismember(&blocked, SIGINT) == 1 &&
                            sigismember(&blocked, SIGTERM) == 1;
}

static void threads_run_named_and_are_left_alone_by_signals(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct noted noted = {"", false};
    struct lks_thread *thread;
    struct lks_error error;
    sigset_t blocked;

    (void)state;
    assert_status(LKS_OK,
                  lks_thread_start(env, "a-name-that-is-too-long", note_thread,
                                   &noted, &thread, &error));
    lks_thread_join(env, thread);
    assert_string_equal(noted.name, "a-name-that-is-");
    assert_true(noted.blocks_signals);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_int_equal(sigismember(&blocked, SIGINT), 0);
    lks_thread_join(env, NULL);
}

struct turns {
    const struct lks_env *env;
    struct lks_monitor *monitor;
    int count; /* under the monitor */
    int limit;
};

static void take_odd_turns(void *arg)
{
    struct turns *turns = arg;

    lks_monitor_enter(turns->env, turns->monitor);
    while (turns->count < turns->limit) {
        if (turns->count % 2 == 0) {
            lks_monitor_wait(turns->env, turns->monitor, LKS_FOREVER);
            continue;
        }
        turns->count++;
        lks_monitor_wake(turns->env, turns->monitor);
    }
    lks_monitor_leave(turns->env, turns->monitor);
}

static void a_monitor_lets_two_threads_take_turns(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct turns turns = {.env = env, .limit = 1000};
    uint64_t deadline_ns = lks_env_deadline_ms(env, LONG_MS);
    struct lks_thread *thread;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &turns.monitor, &error));
    assert_status(LKS_OK, lks_thread_start(env, "turns", take_odd_turns, &turns,
                                           &thread, &error));
    lks_monitor_enter(env, turns.monitor);
    while (turns.count < turns.limit) {
        if (turns.count % 2 == 1) {
            assert_true(lks_monitor_wait(env, turns.monitor, deadline_ns));
            continue;
        }
        turns.count++;
        lks_monitor_wake(env, turns.monitor);
    }
    lks_monitor_leave(env, turns.monitor);
    lks_thread_join(env, thread);
    assert_int_equal(turns.count, 1000);
    lks_monitor_free(env, turns.monitor);
    lks_monitor_free(env, NULL);
}

static void a_monitor_says_when_the_deadline_passed(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct lks_monitor *monitor;
    struct lks_error error;
    uint64_t deadline_ns;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &monitor, &error));
    lks_monitor_enter(env, monitor);
    assert_false(lks_monitor_wait(env, monitor, 0));
    assert_false(lks_monitor_wait(env, monitor, lks_env_now_ns(env)));
    deadline_ns = lks_env_deadline_ms(env, 10);
    while (lks_monitor_wait(env, monitor, deadline_ns))
        continue; /* A spurious wake. */
    assert_true(lks_env_now_ns(env) >= deadline_ns);
    lks_monitor_leave(env, monitor);
    lks_monitor_free(env, monitor);
}

static void wake_when_entered(void *arg)
{
    struct turns *turns = arg;

    lks_monitor_enter(turns->env, turns->monitor);
    turns->count = 1;
    lks_monitor_wake(turns->env, turns->monitor);
    lks_monitor_leave(turns->env, turns->monitor);
}

static void a_deadline_of_centuries_still_hears_a_wake(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct turns turns = {.env = env};
    struct lks_thread *thread;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_monitor_new(env, &turns.monitor, &error));
    lks_monitor_enter(env, turns.monitor);
    assert_status(LKS_OK, lks_thread_start(env, "waker", wake_when_entered,
                                           &turns, &thread, &error));
    while (turns.count == 0)
        assert_true(lks_monitor_wait(env, turns.monitor, LKS_FOREVER - 1));
    lks_monitor_leave(env, turns.monitor);
    lks_thread_join(env, thread);
    lks_monitor_free(env, turns.monitor);
}

static void a_sleep_ends_early_when_it_is_cancelled(void **state)
{
    const struct lks_env *env = lks_env_real();
    uint64_t begin_ns = lks_env_now_ns(env);
    struct lks_cancel cancel;

    (void)state;
    lks_cancel_init(&cancel);
    assert_false(lks_cancelled(&cancel));
    assert_false(lks_cancelled(NULL));
    lks_env_sleep_unless(env, 30 * LKS_NS_PER_MS, &cancel);
    assert_true(lks_env_now_ns(env) - begin_ns >= 30 * LKS_NS_PER_MS);
    lks_env_sleep_unless(env, LKS_NS_PER_MS, NULL);

    lks_cancel_set(&cancel);
    assert_true(lks_cancelled(&cancel));
    lks_env_sleep_unless(env, LKS_FOREVER, &cancel);
}

static void cancel_it(void *arg)
{
    struct lks_cancel *cancel = arg;

    lks_cancel_set(cancel);
}

static void a_sleep_is_cancelled_by_another_thread(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct lks_thread *thread;
    struct lks_cancel cancel;
    struct lks_error error;

    (void)state;
    lks_cancel_init(&cancel);
    assert_status(LKS_OK, lks_thread_start(env, "cancel", cancel_it, &cancel,
                                           &thread, &error));
    lks_env_sleep_unless(env, LKS_FOREVER, &cancel);
    lks_thread_join(env, thread);
}

static enum lks_status make_all(void *arg)
{
    const struct lks_env *env = lks_env_real();
    struct lks_monitor *monitor;
    struct lks_thread *thread;
    struct noted noted;
    enum lks_status status;

    (void)arg;
    status = lks_monitor_new(env, &monitor, NULL);
    if (status != LKS_OK)
        return status;
    status = lks_thread_start(env, "all", note_thread, &noted, &thread, NULL);
    if (status == LKS_OK)
        lks_thread_join(env, thread);
    lks_monitor_free(env, monitor);
    return status;
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    torture(make_all, NULL);
}

static void a_process_held_to_one_processor_knows_it(void **state)
{
    cpu_set_t all, one;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    assert_int_equal(lks_env_processors(lks_env_real()), CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(lks_env_processors(lks_env_real()), 1);
    assert_true(CPU_ISSET(lks_env_this_processor(lks_env_real()), &one));
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_does_not_go_back),
        cmocka_unit_test(sleeping_takes_at_least_its_time),
        cmocka_unit_test(deadlines_are_in_the_future_and_do_not_overflow),
        cmocka_unit_test(wall_time_is_unix_time_in_milliseconds),
        cmocka_unit_test(random_bytes_differ_each_time),
        cmocka_unit_test(random_units_spread_over_zero_to_one),
        cmocka_unit_test(the_largest_random_unit_is_below_one),
        cmocka_unit_test(the_process_is_known_by_host_and_pid),
        cmocka_unit_test(a_process_held_to_one_processor_knows_it),
        cmocka_unit_test(threads_run_named_and_are_left_alone_by_signals),
        cmocka_unit_test(a_monitor_lets_two_threads_take_turns),
        cmocka_unit_test(a_monitor_says_when_the_deadline_passed),
        cmocka_unit_test(a_deadline_of_centuries_still_hears_a_wake),
        cmocka_unit_test(a_sleep_ends_early_when_it_is_cancelled),
        cmocka_unit_test(a_sleep_is_cancelled_by_another_thread),
        cmocka_unit_test(it_survives_any_allocation_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
