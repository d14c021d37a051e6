/*
 * Verifying a forged stream, and what tests say of the report.
 */
#ifndef LKS_TESTS_SUPPORT_VERIFY_CHECK_H
#define LKS_TESTS_SUPPORT_VERIFY_CHECK_H

#include <jansson.h>

#include "base/alloc.h"
#include "inspect/inspect.h"
#include "support/stream_forge.h"

/* The stream of the test that runs. */
static struct forge forge;

static inline int forge_tear_down(void **state)
{
    (void)state;
    forge_done(&forge);
    return 0;
}

#define VERIFY_TEST(name) cmocka_unit_test_teardown(name, forge_tear_down)

static inline json_t *verify(bool data)
{
    struct lks_error error;
    char *text = NULL;
    json_t *report;

    assert_status(LKS_OK,
                  lks_inspect_verify(forge.stream, data, &text, &error));
    report = json_loads(text, 0, NULL);
    assert_non_null(report);
    lks_free(text);
    return report;
}

static inline uint64_t number(const json_t *report, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(report, key));
}

static inline bool has_text(const json_t *report,
                            const char *list,
                            const char *part)
{
    const json_t *texts = json_object_get(report, list);

    for (size_t i = 0; i < json_array_size(texts); i++) {
        if (strstr(json_string_value(json_array_get(texts, i)), part) != NULL)
            return true;
    }
    return false;
}

static inline void fail_with(const json_t *report, const char *what)
{
    char *text = json_dumps(report, JSON_INDENT(2));

    print_error("%s\n", text);
    free(text);
    fail_msg("%s", what);
}

static inline void assert_sound(bool data)
{
    json_t *report = verify(data);

    if (!json_is_true(json_object_get(report, "ok")) ||
        number(report, "problem_count") != 0)
        fail_with(report, "a sound stream has problems");
    json_decref(report);
}

/* `count` problems (0: any number), one of which has both texts in it. */
static inline void assert_found(bool data,
                                uint64_t count,
                                const char *object,
                                const char *what)
{
    json_t *report = verify(data);
    const json_t *texts = json_object_get(report, "problems");
    bool found = false;

    for (size_t i = 0; i < json_array_size(texts); i++) {
        const char *text = json_string_value(json_array_get(texts, i));

        found = found ||
                (strstr(text, object) != NULL && strstr(text, what) != NULL);
    }
    if (!found)
        fail_with(report, what);
    if (count > 0 && number(report, "problem_count") != count)
        fail_with(report, "another number of problems");
    assert_true(json_is_false(json_object_get(report, "ok")));
    json_decref(report);
}

static inline void assert_noted(const char *what)
{
    json_t *report = verify(true);

    if (!json_is_true(json_object_get(report, "ok")) ||
        !has_text(report, "notes", what))
        fail_with(report, what);
    json_decref(report);
}

#endif
