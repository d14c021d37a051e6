/*
 * A stream's state as JSON: the keys that lakestream.h promises, and what they
 * say.
 */
#include "support/torture.h"
#include "support/verify_check.h"

static json_t *info(void)
{
    struct lks_error error;
    char *text = NULL;
    json_t *report;

    assert_status(LKS_OK, lks_inspect_info(forge.stream, &text, &error));
    report = json_loads(text, 0, NULL);
    assert_non_null(report);
    lks_free(text);
    return report;
}

static void every_promised_key_is_there(void **state)
{
    static const char *const keys[] = {
        "url",        "stream",     "format",          "dp",     "cp",
        "version",    "next_step",  "first_live_step", "ended",  "ended_at",
        "live_steps", "live_bytes", "total_bytes",     "limits", "producers",
        "groups",     "pins",       "manifest_bytes",
    };
    json_t *report;

    (void)state;
    forge_init(&forge, 2, 1, 0);
    report = info();
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (json_object_get(report, keys[i]) == NULL)
            fail_msg("no key %s", keys[i]);
    }
    assert_true(json_is_null(json_object_get(report, "ended_at")));
    assert_int_equal(number(report, "version"), 0);
    assert_int_equal(number(report, "manifest_bytes"), 0);
    json_decref(report);
}

static void it_says_what_the_newest_manifest_says(void **state)
{
    const json_t *producer;
    json_t *report;

    (void)state;
    forge_init(&forge, 2, 3, 2);
    forge_append(&forge, 1, 5);
    forge_finish(&forge, 0);
    forge_finish(&forge, 1);
    report = info();
    assert_int_equal(number(report, "dp"), 2);
    assert_int_equal(number(report, "cp"), 3);
    assert_int_equal(number(report, "version"), 5);
    assert_int_equal(number(report, "next_step"), 5);
    assert_int_equal(number(report, "live_steps"), 5);
    assert_int_equal(number(report, "live_bytes"),
                     lks_manifest_total_bytes(forge.head));
    assert_true(json_is_true(json_object_get(report, "ended")));
    assert_int_equal(number(report, "ended_at"), 5);
    assert_true(number(report, "manifest_bytes") > 100);

    producer = json_array_get(json_object_get(report, "producers"), 1);
    assert_string_equal(json_string_value(json_object_get(producer, "id")),
                        "p1");
    assert_string_equal(json_string_value(json_object_get(producer, "host")),
                        "test");
    assert_int_equal(number(producer, "epoch"), 2);
    assert_int_equal(number(producer, "next_seq"), 5);
    assert_true(json_is_true(json_object_get(producer, "finished")));
    /* "1@4" */
    assert_string_equal(json_string_value(json_object_get(producer, "offset")),
                        "314034");
    json_decref(report);
}

static enum lks_status info_once(void *arg)
{
    char *text = NULL;
    enum lks_status status = lks_inspect_info(forge.stream, &text, NULL);

    (void)arg;
    lks_free(text);
    return status;
}

static void it_survives_every_failing_allocation(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 2);
    torture(info_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VERIFY_TEST(every_promised_key_is_there),
        VERIFY_TEST(it_says_what_the_newest_manifest_says),
        VERIFY_TEST(it_survives_every_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
