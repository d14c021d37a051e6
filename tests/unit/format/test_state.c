/* States: one line out; any JSON of the same meaning in. */
#include "format/state.h"
#include "support/check.h"
#include "support/format_fixture.h"

#define ID "000102030405060708090a0b0c0d0e0f"

static void a_state_is_the_line_of_the_document(void **state)
{
    char text[LKS_STATE_SIZE_MAX];

    (void)state;
    lks_state_encode(fixture_stream, 1, text);
    assert_string_equal(text, "{\"version\": 1, \"stream\": \"" ID "\", "
                              "\"step\": 1}");
}

static void the_first_and_the_last_step_come_back(void **state)
{
    static const uint64_t steps[] = {0, 1, LKS_STEP_MAX};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[LKS_STATE_SIZE_MAX];
        uint8_t stream[LKS_ID_SIZE];
        struct lks_error error;
        uint64_t step;

        lks_state_encode(fixture_stream, steps[i], text);
        assert_status(LKS_OK, lks_state_decode(text, stream, &step, &error));
        assert_true(step == steps[i]);
        assert_memory_equal(stream, fixture_stream, LKS_ID_SIZE);
    }
}

static void order_and_whitespace_do_not_matter(void **state)
{
    static const char *const texts[] = {
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":42}",
        "{\"step\":42,\"stream\":\"" ID "\",\"version\":1}",
        "  {\n\t\"version\" : 1 ,\r\n\"stream\" : \"" ID
        "\",\n  \"step\" : 42\n}\n\n",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":42,\"note\":\"x\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint8_t stream[LKS_ID_SIZE];
        struct lks_error error;
        uint64_t step;

        assert_status(LKS_OK,
                      lks_state_decode(texts[i], stream, &step, &error));
        assert_int_equal(step, 42);
        assert_memory_equal(stream, fixture_stream, LKS_ID_SIZE);
    }
}

static void what_is_no_state_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "17",
        "null",
        "[]",
        "{}",
        "{",
        "{\"version\":1,\"stream\":\"" ID "\"}",
        "{\"version\":1,\"step\":42}",
        "{\"stream\":\"" ID "\",\"step\":42}",
        "{\"version\":0,\"stream\":\"" ID "\",\"step\":42}",
        "{\"version\":-1,\"stream\":\"" ID "\",\"step\":42}",
        "{\"version\":true,\"stream\":\"" ID "\",\"step\":42}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":-1}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":42.0}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":\"42\"}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":9223372036854775808}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":1e3}",
        "{\"version\":1,\"stream\":\"000102\",\"step\":42}",
        "{\"version\":1,\"stream\":\"" ID "0\",\"step\":42}",
        "{\"version\":1,\"stream\":\"000102030405060708090A0B0C0D0E0F\","
        "\"step\":42}",
        "{\"version\":1,\"stream\":17,\"step\":42}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":42,\"step\":43}",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":42} x",
        "{\"version\":1,\"stream\":\"" ID "\",\"step\":42,}",
        "{\"version\":1,\"stream\":\"\xff\",\"step\":42}",
    };
    uint8_t stream[LKS_ID_SIZE] = {0};
    uint64_t step = 77;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct lks_error error;

        assert_status(LKS_INVALID,
                      lks_state_decode(texts[i], stream, &step, &error));
        assert_message_has("state");
        assert_null(strchr(error.message, '\n'));
        assert_int_equal(step, 77);
        assert_true(lks_bytes_are_zero(stream, sizeof(stream)));
    }
}

static void a_newer_version_is_unsupported(void **state)
{
    uint8_t stream[LKS_ID_SIZE];
    struct lks_error error;
    uint64_t step;

    (void)state;
    assert_status(LKS_UNSUPPORTED,
                  lks_state_decode("{\"version\":2}", stream, &step, &error));
    assert_message_has("version 2");
}

static void a_text_without_end_is_not_read_to_its_end(void **state)
{
    uint8_t stream[LKS_ID_SIZE];
    struct lks_error error;
    uint64_t step;
    char *text = malloc(5000);

    (void)state;
    assert_non_null(text);
    memset(text, ' ', 5000); /* And no NUL: it stops by itself. */
    assert_status(LKS_INVALID, lks_state_decode(text, stream, &step, &error));
    assert_message_has("longer");
    free(text);
}

static void each_cut_of_a_state_is_refused(void **state)
{
    char text[LKS_STATE_SIZE_MAX];
    uint8_t stream[LKS_ID_SIZE];
    struct lks_error error;
    uint64_t step;

    (void)state;
    lks_state_encode(fixture_stream, 123456, text);
    for (size_t size = strlen(text); size-- > 0;) {
        text[size] = '\0';
        assert_status(LKS_INVALID,
                      lks_state_decode(text, stream, &step, &error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_the_line_of_the_document),
        cmocka_unit_test(the_first_and_the_last_step_come_back),
        cmocka_unit_test(order_and_whitespace_do_not_matter),
        cmocka_unit_test(what_is_no_state_is_refused),
        cmocka_unit_test(a_newer_version_is_unsupported),
        cmocka_unit_test(a_text_without_end_is_not_read_to_its_end),
        cmocka_unit_test(each_cut_of_a_state_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
