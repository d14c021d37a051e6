/* Options: every row at its limits and past them, who wins, what is shown. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/options.h"
#include "support/check.h"
#include "support/torture.h"

#define VARIABLE_SIZE 64

struct row {
    enum lks_option option;
    const char *name;
    enum lks_option_type type;
    uint64_t min;
    uint64_t max;
    const char *value;
    const char *choices;
    const char *text;
};

#define ROW(id, reader, name, type, min, max, value, choices, text)            \
    {LKS_OPTION_##id, name, LKS_OPTION_##type, min, max, value, choices, text},
static const struct row rows[] = {LKS_OPTION_TABLE(ROW)};
#undef ROW

static void variable_of(const struct row *row, char name[VARIABLE_SIZE])
{
    snprintf(name, VARIABLE_SIZE, "LAKESTREAM_%s", row->name);
    for (; *name != '\0'; name++)
        *name = (char)(*name >= 'a' && *name <= 'z' ? *name - 32 : *name);
}

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        char name[VARIABLE_SIZE];

        variable_of(&rows[i], name);
        unsetenv(name);
    }
    return 0;
}

static bool is_number(const struct row *row)
{
    return row->type == LKS_OPTION_COUNT || row->type == LKS_OPTION_SIZE;
}

static struct lks_options *new_options(void)
{
    struct lks_options *options;
    struct lks_error error;

    assert_status(LKS_OK, lks_options_new(&options, &error));
    return options;
}

/* Both ways in, the call and the environment, take the value as `number`. */
static void check_taken(const struct row *row,
                        const char *value,
                        uint64_t number)
{
    struct lks_options *options = new_options();
    char variable[VARIABLE_SIZE];
    struct lks_error error;

    assert_status(LKS_OK, lks_options_set(options, row->name, value, &error));
    if (lks_options_number(options, row->option) != number)
        fail_msg("%s=%s was taken for another number", row->name, value);
    assert_string_equal(lks_options_text(options, row->option), value);
    lks_options_free(options);

    variable_of(row, variable);
    setenv(variable, value, 1);
    assert_status(LKS_OK, lks_options_check(NULL, &error));
    assert_true(lks_options_number(NULL, row->option) == number);
    assert_string_equal(lks_options_text(NULL, row->option), value);
    unsetenv(variable);
}

/* Both ways in refuse the value, by the name the caller knows. */
static void check_refused(const struct row *row, const char *value)
{
    struct lks_options *options = new_options();
    uint64_t before = lks_options_number(options, row->option);
    char variable[VARIABLE_SIZE];
    struct lks_error error;

    if (lks_options_set(options, row->name, value, &error) != LKS_INVALID)
        fail_msg("%s=%s was not refused", row->name, value);
    assert_int_equal(error.status, LKS_INVALID);
    assert_message_has(row->name);
    assert_true(lks_options_number(options, row->option) == before);

    variable_of(row, variable);
    setenv(variable, value, 1);
    if (*value != '\0') {
        assert_status(LKS_INVALID, lks_options_check(options, &error));
        assert_message_has(variable);
    }
    /* Whoever did not check gets the default. */
    assert_true(lks_options_number(options, row->option) == before);
    unsetenv(variable);
    lks_options_free(options);
}

static void each_number_is_taken_at_its_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        char value[32];

        if (!is_number(&rows[i]))
            continue;
        snprintf(value, sizeof(value), "%" PRIu64, rows[i].min);
        check_taken(&rows[i], value, rows[i].min);
        snprintf(value, sizeof(value), "%" PRIu64, rows[i].max);
        check_taken(&rows[i], value, rows[i].max);
    }
}

static void each_number_is_refused_past_its_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        char value[32];

        if (!is_number(&rows[i]))
            continue;
        if (rows[i].min > 0) {
            snprintf(value, sizeof(value), "%" PRIu64, rows[i].min - 1);
            check_refused(&rows[i], value);
        }
        snprintf(value, sizeof(value), "%" PRIu64, rows[i].max + 1);
        check_refused(&rows[i], value);
        check_refused(&rows[i], "18446744073709551616");
    }
}

static void what_is_no_number_is_refused_for_each_number(void **state)
{
    static const char *const bad[] = {"",    "-1",  "+1",   "1 ",   " 1",
                                      "1.5", "1e3", "0x10", "many", "1,000"};

    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        if (!is_number(&rows[i]))
            continue;
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
            check_refused(&rows[i], bad[k]);
    }
}

/* Taken as `number`, or refused if that is outside the row's range. */
static void check_size(const struct row *row,
                       const char *value,
                       uint64_t number)
{
    if (number < row->min || number > row->max)
        check_refused(row, value);
    else
        check_taken(row, value, number);
}

static void suffixes_are_for_sizes_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        if (rows[i].type == LKS_OPTION_SIZE) {
            check_size(&rows[i], "64KiB", UINT64_C(64) << 10);
            check_size(&rows[i], "3MiB", UINT64_C(3) << 20);
            check_size(&rows[i], "64MiB", UINT64_C(64) << 20);
            check_size(&rows[i], "1024GiB", UINT64_C(1) << 40);
            check_refused(&rows[i], "64KB");
            check_refused(&rows[i], "17179869184GiB");
        } else if (rows[i].type == LKS_OPTION_COUNT) {
            check_refused(&rows[i], "1KiB");
        }
    }
}

static void each_choice_is_taken_and_counted_from_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        uint64_t index = 0;
        char *words;
        char *rest;

        if (rows[i].type != LKS_OPTION_CHOICE)
            continue;
        words = lks_text_dup(rows[i].choices);
        for (char *word = strtok_r(words, "|", &rest); word != NULL;
             word = strtok_r(NULL, "|", &rest))
            check_taken(&rows[i], word, index++);
        assert_true(index >= 2);
        lks_free(words);
    }
}

static void what_is_no_choice_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        if (rows[i].type != LKS_OPTION_CHOICE)
            continue;
        check_refused(&rows[i], "");
        check_refused(&rows[i], "0");
        check_refused(&rows[i], "non");
        check_refused(&rows[i], "nones");
        check_refused(&rows[i], rows[i].choices);
    }
}

static void each_default_is_one_that_may_be_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++)
        check_taken(&rows[i], rows[i].value,
                    lks_options_number(NULL, rows[i].option));
}

static void defaults_are_what_the_table_says(void **state)
{
    (void)state;
    assert_int_equal(lks_options_number(NULL, LKS_OPTION_PRODUCERS), 1);
    assert_int_equal(lks_options_number(NULL, LKS_OPTION_PRODUCER_BYTES),
                     1 << 30);
    assert_int_equal(lks_options_number(NULL, LKS_OPTION_DURABILITY), 0);
    assert_string_equal(lks_options_text(NULL, LKS_OPTION_DURABILITY), "full");
}

static void what_is_set_beats_the_environment_beats_the_default(void **state)
{
    struct lks_options *options = new_options();
    struct lks_error error;

    (void)state;
    assert_int_equal(lks_options_number(options, LKS_OPTION_UPLOADS), 4);
    setenv("LAKESTREAM_UPLOADS", "9", 1);
    assert_int_equal(lks_options_number(options, LKS_OPTION_UPLOADS), 9);
    assert_int_equal(lks_options_number(NULL, LKS_OPTION_UPLOADS), 9);
    assert_status(LKS_OK, lks_options_set(options, "uploads", "7", &error));
    assert_int_equal(lks_options_number(options, LKS_OPTION_UPLOADS), 7);
    assert_status(LKS_OK, lks_options_set(options, "uploads", "8", &error));
    assert_int_equal(lks_options_number(options, LKS_OPTION_UPLOADS), 8);
    lks_options_free(options);
}

static void an_empty_variable_counts_as_not_set(void **state)
{
    struct lks_error error;

    (void)state;
    setenv("LAKESTREAM_UPLOADS", "", 1);
    assert_status(LKS_OK, lks_options_check(NULL, &error));
    assert_int_equal(lks_options_number(NULL, LKS_OPTION_UPLOADS), 4);
}

static void a_bad_variable_does_not_matter_when_the_option_is_set(void **state)
{
    struct lks_options *options = new_options();
    struct lks_error error;

    (void)state;
    setenv("LAKESTREAM_UPLOADS", "65", 1);
    assert_status(LKS_INVALID, lks_options_check(options, &error));
    assert_message_has("LAKESTREAM_UPLOADS");
    assert_message_has("'65'");
    assert_message_has("1 to 64");
    assert_status(LKS_OK, lks_options_set(options, "uploads", "64", &error));
    assert_status(LKS_OK, lks_options_check(options, &error));
    assert_int_equal(lks_options_number(options, LKS_OPTION_UPLOADS), 64);
    lks_options_free(options);
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    static const struct {
        const char *name;
        const char *meant; /* "" if there is none */
    } bad[] = {
        {"", ""},
        {"upload", "are uploads,"},
        {"uploadss", "are uploads,"},
        {"UPLOADS", ""},
        {"max-live-stpes", "are max_live_steps, max_live_bytes and"},
        {"no such", ""},
    };
    struct lks_options *options = new_options();
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_status(LKS_INVALID,
                      lks_options_set(options, bad[i].name, "1", &error));
        assert_message_has(bad[i].name);
        assert_message_has(bad[i].meant);
        assert_message_has("lks_options_describe()");
        assert_int_equal(lks_options_set(options, bad[i].name, "1", NULL),
                         LKS_INVALID);
    }
    lks_options_free(options);
}

/* However many options there will be. */
static void the_refusal_of_a_name_stays_short(void **state)
{
    struct lks_options *options = new_options();
    char endless[2000];
    struct lks_error error;

    (void)state;
    memset(endless, 'x', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    assert_status(LKS_INVALID, lks_options_set(options, endless, "1", &error));
    assert_true(strlen(error.message) < 300);
    assert_message_has("tells all");
    lks_options_free(options);
}

static void a_refused_value_is_shown_with_its_bounds(void **state)
{
    struct lks_options *options = new_options();
    char endless[2000];
    struct lks_error error;

    (void)state;
    assert_status(LKS_INVALID,
                  lks_options_set(options, "codec", "gzip", &error));
    assert_string_equal(error.message,
                        "codec: 'gzip' is not one of none|lz4|zstd");
    assert_status(LKS_INVALID,
                  lks_options_set(options, "fetches", "0", &error));
    assert_string_equal(error.message,
                        "fetches: '0' is not a whole number from 1 to 64");
    memset(endless, '9', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    assert_status(LKS_INVALID,
                  lks_options_set(options, "fetches", endless, &error));
    assert_message_has("9' is not a whole number from 1 to 64");
    lks_options_free(options);
}

static void null_arguments_are_refused(void **state)
{
    struct lks_options *options = new_options();
    struct lks_error error;

    (void)state;
    assert_status(LKS_INVALID, lks_options_new(NULL, &error));
    assert_status(LKS_INVALID, lks_options_set(NULL, "uploads", "1", &error));
    assert_status(LKS_INVALID, lks_options_set(options, NULL, "1", &error));
    assert_status(LKS_INVALID,
                  lks_options_set(options, "uploads", NULL, &error));
    assert_status(LKS_INVALID, lks_options_describe(0, NULL, &error));
    lks_options_free(options);
    lks_options_free(NULL);
}

static void sizes_are_parsed_to_the_last_byte(void **state)
{
    static const struct {
        const char *text;
        uint64_t size;
    } cases[] = {
        {"0", 0},
        {"4096", 4096},
        {"18446744073709551615", UINT64_MAX},
        {"0GiB", 0},
        {"1KiB", 1024},
        {"64KiB", 65536},
        {"2MiB", 2097152},
        {"1GiB", 1073741824},
        {"18014398509481983KiB", UINT64_C(18014398509481983) << 10},
        {"17592186044415MiB", UINT64_C(17592186044415) << 20},
        {"17179869183GiB", UINT64_C(17179869183) << 30},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t size = 7;

        assert_true(lks_parse_size(cases[i].text, &size));
        assert_true(size == cases[i].size);
    }
}

static void sizes_that_are_none_or_too_large_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "KiB",
        "1kib",
        "1 KiB",
        "1K",
        "1KB",
        "1TiB",
        "1KiBs",
        "1KiB ",
        "-1KiB",
        "1.5GiB",
        "0x1KiB",
        "1MiB1",
        "1KiBKiB",
        "18446744073709551616",
        "18014398509481984KiB",
        "17592186044416MiB",
        "17179869184GiB",
        "18446744073709551615KiB",
        "1000000000000000000000000000000",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t size = 7;

        if (lks_parse_size(bad[i], &size))
            fail_msg("'%s' was taken for a size", bad[i]);
        assert_int_equal(size, 7);
    }
}

static void a_row_is_described_as_json(void **state)
{
    struct lks_error error;
    char *json;

    (void)state;
    assert_status(LKS_OK,
                  lks_options_describe(LKS_OPTION_FETCHES, &json, &error));
    assert_string_equal(json, "{\"name\": \"fetches\", \"type\": \"count\", "
                              "\"min\": 1, \"max\": 64, \"default\": \"4\", "
                              "\"choices\": null, \"reader\": \"consumer\", "
                              "\"text\": \"reads of a consumer at a time; of "
                              "files no more than processors\"}");
    lks_free(json);
    assert_status(LKS_OK,
                  lks_options_describe(LKS_OPTION_CODEC, &json, &error));
    assert_string_equal(json, "{\"name\": \"codec\", \"type\": \"choice\", "
                              "\"min\": 0, \"max\": 0, \"default\": \"none\", "
                              "\"choices\": \"none|lz4|zstd\", "
                              "\"reader\": \"producer\", "
                              "\"text\": \"compression of slices\"}");
    lks_free(json);
}

static void every_row_is_described_and_no_more(void **state)
{
    struct lks_error error;
    char *json = NULL;

    (void)state;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        char expected[VARIABLE_SIZE];

        assert_status(LKS_OK, lks_options_describe(i, &json, &error));
        snprintf(expected, sizeof(expected), "{\"name\": \"%s\", ",
                 rows[i].name);
        assert_memory_equal(json, expected, strlen(expected));
        assert_non_null(strstr(json, rows[i].text));
        lks_free(json);
    }
    json = NULL;
    assert_status(LKS_NOT_FOUND,
                  lks_options_describe(LKS_OPTION_NUMBER, &json, &error));
    assert_status(LKS_NOT_FOUND, lks_options_describe(SIZE_MAX, &json, &error));
    assert_null(json);
}

static enum lks_status use_options(void *arg)
{
    struct lks_options *options;
    enum lks_status status = lks_options_new(&options, NULL);
    char *json;

    (void)arg;
    if (status != LKS_OK)
        return status;
    status = lks_options_set(options, "uploads", "5", NULL);
    if (status == LKS_OK)
        status = lks_options_set(options, "uploads", "6", NULL);
    if (status == LKS_OK)
        status = lks_options_describe(0, &json, NULL);
    if (status == LKS_OK)
        lks_free(json);
    lks_options_free(options);
    return status;
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    torture(use_options, NULL);
}

#define clean_test(test)                                                       \
    cmocka_unit_test_setup_teardown(test, clear_environment, clear_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(each_number_is_taken_at_its_limits),
        clean_test(each_number_is_refused_past_its_limits),
        clean_test(what_is_no_number_is_refused_for_each_number),
        clean_test(suffixes_are_for_sizes_only),
        clean_test(each_choice_is_taken_and_counted_from_zero),
        clean_test(what_is_no_choice_is_refused),
        clean_test(each_default_is_one_that_may_be_set),
        clean_test(defaults_are_what_the_table_says),
        clean_test(what_is_set_beats_the_environment_beats_the_default),
        clean_test(an_empty_variable_counts_as_not_set),
        clean_test(a_bad_variable_does_not_matter_when_the_option_is_set),
        clean_test(an_unknown_name_is_refused_with_the_nearest),
        clean_test(the_refusal_of_a_name_stays_short),
        clean_test(a_refused_value_is_shown_with_its_bounds),
        clean_test(null_arguments_are_refused),
        clean_test(sizes_are_parsed_to_the_last_byte),
        clean_test(sizes_that_are_none_or_too_large_are_refused),
        clean_test(a_row_is_described_as_json),
        clean_test(every_row_is_described_and_no_more),
        clean_test(it_survives_any_allocation_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
