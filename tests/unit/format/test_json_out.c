/*
 * JSON text: what is written parses, and says what was meant.
 */
#include "base/json_out.h"

#include <jansson.h>

#include "base/alloc.h"
#include "support/check.h"

static void check_text(const char *given, const char *expected)
{
    struct lks_json_out out;
    json_t *value;

    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '[');
    lks_json_out_text(&out, NULL, given);
    lks_json_out_close(&out, ']');
    value = json_loads(lks_json_out_peek(&out), 0, NULL);
    assert_non_null(value);
    assert_string_equal(json_string_value(json_array_get(value, 0)), expected);
    json_decref(value);
    lks_json_out_done(&out);
}

static void any_text_becomes_json(void **state)
{
    (void)state;
    check_text("", "");
    check_text("a \"b\" \\ /", "a \"b\" \\ /");
    check_text("\x01\t\n\x7f", "\x01\t\n\x7f");
    check_text("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
               "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    /* What is no UTF-8 is shown byte by byte. */
    check_text("\xff", "\xc3\xbf");
    check_text("\xc3", "\xc3\x83");
    check_text("\xe2\x82", "\xc3\xa2\xc2\x82");
    check_text("\xc0\x80", "\xc3\x80\xc2\x80");
    check_text("\xe0\x80\x80", "\xc3\xa0\xc2\x80\xc2\x80");
    check_text("\xed\xa0\x80", "\xc3\xad\xc2\xa0\xc2\x80");
    check_text("\xf0\x80\x80\x80", "\xc3\xb0\xc2\x80\xc2\x80\xc2\x80");
    check_text("\xf5\x80\x80\x80", "\xc3\xb5\xc2\x80\xc2\x80\xc2\x80");
}

static void members_are_parted_by_commas(void **state)
{
    static const uint8_t bytes[] = {0x00, 0xff, 0x10};
    struct lks_json_out out;
    struct lks_error error;
    char *text = NULL;

    (void)state;
    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '{');
    lks_json_out_u64(&out, "n", UINT64_MAX);
    lks_json_out_open(&out, "list", '[');
    lks_json_out_i64(&out, NULL, -1);
    lks_json_out_null(&out, NULL);
    lks_json_out_close(&out, ']');
    lks_json_out_open(&out, "none", '{');
    lks_json_out_close(&out, '}');
    lks_json_out_bool(&out, "yes", true);
    lks_json_out_hex(&out, "hex", bytes, sizeof(bytes));
    lks_json_out_close(&out, '}');
    assert_status(LKS_OK, lks_json_out_take(&out, &text, &error));
    assert_string_equal(text,
                        "{\"n\": 18446744073709551615, \"list\": [-1, null], "
                        "\"none\": {}, \"yes\": true, \"hex\": \"00ff10\"}");
    lks_free(text);
    lks_json_out_done(&out);
}

static void a_failure_is_told_at_the_end(void **state)
{
    struct lks_json_out out;
    struct lks_error error;
    char *text = NULL;

    (void)state;
    lks_json_out_init(&out);
    lks_alloc_fail_at(1);
    lks_json_out_text(&out, NULL, "text");
    lks_alloc_fail_at(0);
    lks_json_out_text(&out, NULL, "more");
    assert_null(lks_json_out_peek(&out));
    assert_status(LKS_NO_MEMORY, lks_json_out_take(&out, &text, &error));
    assert_null(text);
    lks_json_out_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_text_becomes_json),
        cmocka_unit_test(members_are_parted_by_commas),
        cmocka_unit_test(a_failure_is_told_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
