/* The log sink: areas, lines, and what is called when. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/env.h"
#include "base/trace.h"
#include "support/check.h"

struct heard {
    int count;
    char area[32];
    char line[2048];
};

static void hear(const char *area, const char *line, void *arg)
{
    struct heard *heard = arg;

    heard->count++;
    snprintf(heard->area, sizeof(heard->area), "%s", area);
    snprintf(heard->line, sizeof(heard->line), "%s", line);
}

static int silence(void **state)
{
    (void)state;
    lks_log_set(NULL, NULL, NULL);
    unsetenv("LKS_TRACE");
    return 0;
}

static unsigned int areas_on(void)
{
    unsigned int on = 0;

    for (unsigned int area = 1; area <= LKS_AREA_LIMIT; area *= 2)
        on |= lks_trace_on((enum lks_area)area) ? area : 0;
    return on;
}

#define ALL                                                                    \
    (LKS_AREA_STORE | LKS_AREA_COMMIT | LKS_AREA_PRODUCER |                    \
     LKS_AREA_CONSUMER | LKS_AREA_RECLAIM | LKS_AREA_LIMIT)

static void without_a_sink_nothing_is_on(void **state)
{
    (void)state;
    assert_int_equal(areas_on(), 0);
    lks_log_set(NULL, NULL, "all");
    assert_int_equal(areas_on(), 0);
    lks_trace_write(LKS_AREA_STORE, "nobody hears %d", 1);
}

static void the_areas_named_are_on_and_no_others(void **state)
{
    static const struct {
        const char *names;
        unsigned int areas;
    } cases[] = {
        {"store", LKS_AREA_STORE},
        {"commit", LKS_AREA_COMMIT},
        {"producer", LKS_AREA_PRODUCER},
        {"consumer", LKS_AREA_CONSUMER},
        {"reclaim", LKS_AREA_RECLAIM},
        {"limit", LKS_AREA_LIMIT},
        {"store,commit", LKS_AREA_STORE | LKS_AREA_COMMIT},
        {"reclaim,nothing,store", LKS_AREA_RECLAIM | LKS_AREA_STORE},
        {"all", ALL},
        {"store,all", ALL},
        {"", 0},
        {",,", 0},
        {"stor", 0},
        {"stores", 0},
        {"al", 0},
        {"ALL", 0},
    };
    struct heard heard = {0, "", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lks_log_set(hear, &heard, cases[i].names);
        assert_int_equal(areas_on(), cases[i].areas);
    }
}

static void the_environment_names_the_areas_when_nobody_does(void **state)
{
    struct heard heard = {0, "", ""};

    (void)state;
    lks_log_set(hear, &heard, NULL);
    assert_int_equal(areas_on(), 0);
    setenv("LKS_TRACE", "consumer", 1);
    lks_log_set(hear, &heard, NULL);
    assert_int_equal(areas_on(), LKS_AREA_CONSUMER);
    lks_log_set(hear, &heard, "store");
    assert_int_equal(areas_on(), LKS_AREA_STORE);
    lks_log_set(hear, &heard, "");
    assert_int_equal(areas_on(), 0);
}

static void the_sink_gets_the_area_and_the_line(void **state)
{
    struct heard heard = {0, "", ""};

    (void)state;
    lks_log_set(hear, &heard, "all");
    LKS_TRACE(LKS_AREA_COMMIT, "version %d by %s", 7, "p0");
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.area, "commit");
    assert_string_equal(heard.line, "version 7 by p0");
    LKS_TRACE(LKS_AREA_RECLAIM, "100%%");
    assert_string_equal(heard.area, "reclaim");
    assert_string_equal(heard.line, "100%");
    /* One line, whatever a server put into it. */
    LKS_TRACE(LKS_AREA_STORE, "503 %s", "a\nb\x1b[2J");
    assert_string_equal(heard.line, "503 a?b?[2J");
}

static int evaluate(int *count)
{
    return ++*count;
}

static void arguments_are_evaluated_only_when_somebody_listens(void **state)
{
    struct heard heard = {0, "", ""};
    int count = 0;

    (void)state;
    lks_log_set(hear, &heard, "store");
    LKS_TRACE(LKS_AREA_COMMIT, "%d", evaluate(&count));
    assert_int_equal(count, 0);
    assert_int_equal(heard.count, 0);
    LKS_TRACE(LKS_AREA_STORE, "%d", evaluate(&count));
    assert_int_equal(count, 1);
    assert_int_equal(heard.count, 1);
}

static void a_line_for_an_area_that_is_off_is_dropped(void **state)
{
    struct heard heard = {0, "", ""};

    (void)state;
    lks_log_set(hear, &heard, "store");
    lks_trace_write(LKS_AREA_COMMIT, "x");
    assert_int_equal(heard.count, 0);
}

static void a_long_line_is_cut(void **state)
{
    struct heard heard = {0, "", ""};

    (void)state;
    lks_log_set(hear, &heard, "all");
    LKS_TRACE(LKS_AREA_STORE, "%05000d", 0);
    assert_int_equal(strlen(heard.line), 1023);
}

static void a_new_sink_replaces_the_old_one(void **state)
{
    struct heard first = {0, "", ""};
    struct heard second = {0, "", ""};

    (void)state;
    lks_log_set(hear, &first, "all");
    lks_log_set(hear, &second, "all");
    LKS_TRACE(LKS_AREA_STORE, "x");
    assert_int_equal(first.count, 0);
    assert_int_equal(second.count, 1);
}

struct speaker {
    struct lks_thread *thread;
    struct lks_cancel *cancel;
};

static void speak(void *arg)
{
    struct speaker *speaker = arg;

    while (!lks_cancelled(speaker->cancel))
        LKS_TRACE(LKS_AREA_STORE, "%s", "spoken");
}

/* A sink that only counts while it is open. */
struct gate {
    atomic_bool open;
    atomic_int heard_count;
    atomic_int late_count;
};

static void pass_gate(const char *area, const char *line, void *arg)
{
    struct gate *gate = arg;

    (void)area;
    (void)line;
    if (atomic_load(&gate->open))
        atomic_fetch_add(&gate->heard_count, 1);
    else
        atomic_fetch_add(&gate->late_count, 1);
}

static void a_sink_is_not_called_once_it_was_taken_away(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct speaker speakers[3];
    struct gate gate;
    struct lks_cancel cancel;
    struct lks_error error;

    (void)state;
    lks_cancel_init(&cancel);
    atomic_init(&gate.open, false);
    atomic_init(&gate.heard_count, 0);
    atomic_init(&gate.late_count, 0);
    for (size_t i = 0; i < 3; i++) {
        speakers[i].cancel = &cancel;
        assert_status(LKS_OK,
                      lks_thread_start(env, "speaker", speak, &speakers[i],
                                       &speakers[i].thread, &error));
    }
    for (int round = 1; round <= 20; round++) {
        atomic_store(&gate.open, true);
        lks_log_set(pass_gate, &gate, "all");
        while (atomic_load(&gate.heard_count) < 10 * round)
            lks_env_sleep_ns(env, 1000);
        lks_log_set(NULL, NULL, NULL);
        atomic_store(&gate.open, false);
    }
    lks_cancel_set(&cancel);
    for (size_t i = 0; i < 3; i++)
        lks_thread_join(env, speakers[i].thread);
    assert_int_equal(atomic_load(&gate.late_count), 0);
}

#define quiet_test(test) cmocka_unit_test_setup_teardown(test, silence, silence)

int main(void)
{
    const struct CMUnitTest tests[] = {
        quiet_test(without_a_sink_nothing_is_on),
        quiet_test(the_areas_named_are_on_and_no_others),
        quiet_test(the_environment_names_the_areas_when_nobody_does),
        quiet_test(the_sink_gets_the_area_and_the_line),
        quiet_test(arguments_are_evaluated_only_when_somebody_listens),
        quiet_test(a_line_for_an_area_that_is_off_is_dropped),
        quiet_test(a_long_line_is_cut),
        quiet_test(a_new_sink_replaces_the_old_one),
        quiet_test(a_sink_is_not_called_once_it_was_taken_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
