/* Little-endian numbers, alignment, hex, decimal numbers, zeroes. */
#include "base/bytes.h"
#include "support/check.h"

static void numbers_are_little_endian(void **state)
{
    uint8_t bytes[8];

    (void)state;
    lks_put_u32(bytes, 0x01020384u);
    assert_memory_equal(bytes, "\x84\x03\x02\x01", 4);
    assert_int_equal(lks_get_u32(bytes), 0x01020384u);

    lks_put_u64(bytes, UINT64_C(0xf1020384a5b6c7d8));
    assert_memory_equal(bytes, "\xd8\xc7\xb6\xa5\x84\x03\x02\xf1", 8);
    assert_true(lks_get_u64(bytes) == UINT64_C(0xf1020384a5b6c7d8));
}

static void aligning_goes_up_to_the_next_multiple(void **state)
{
    (void)state;
    assert_int_equal(lks_align_up(0, 64), 0);
    assert_int_equal(lks_align_up(1, 64), 64);
    assert_int_equal(lks_align_up(64, 64), 64);
    assert_int_equal(lks_align_up(65, 64), 128);
    assert_int_equal(lks_align_up(7, 1), 7);
}

static void hex_is_lower_case_and_comes_back(void **state)
{
    uint8_t all[256];
    uint8_t back[256];
    char text[513];

    (void)state;
    for (size_t i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    lks_hex_encode(all, 256, text);
    assert_int_equal(strlen(text), 512);
    assert_memory_equal(text, "000102", 6);
    assert_string_equal(text + 506, "fdfeff");
    assert_true(lks_hex_decode(text, back, 256));
    assert_memory_equal(all, back, 256);

    lks_hex_encode(NULL, 0, text);
    assert_string_equal(text, "");
    assert_true(lks_hex_decode("", back, 0));
}

static void hex_takes_capitals_and_reads_no_further(void **state)
{
    uint8_t bytes[2] = {0, 0};

    (void)state;
    assert_true(lks_hex_decode("aBCd/rest", bytes, 2));
    assert_memory_equal(bytes, "\xab\xcd", 2);
}

static void hex_that_is_none_changes_nothing(void **state)
{
    static const char *const bad[] = {"",     "1",    "123",  "123g",
                                      "12:4", "12 4", "-123", "0x12",
                                      "12/4", "@234", "`234", "12G4"};
    uint8_t bytes[2] = {7, 7};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(lks_hex_decode(bad[i], bytes, 2));
        assert_memory_equal(bytes, "\x07\x07", 2);
    }
}

static void decimal_numbers_are_parsed_to_the_last(void **state)
{
    uint64_t value = 1;

    (void)state;
    assert_true(lks_parse_u64("0", &value));
    assert_true(value == 0);
    assert_true(lks_parse_u64("0042", &value));
    assert_true(value == 42);
    assert_true(lks_parse_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_true(lks_parse_u64("000000000018446744073709551615", &value));
    assert_true(value == UINT64_MAX);
}

static void anything_but_digits_is_no_number(void **state)
{
    static const char *const bad[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1a",
        "0x1",
        "1.0",
        "1e3",
        "18446744073709551616",
        "1\n",
        "/",
        ":",
        "\xef\xbc\x91",
        "99999999999999999999",
        "1,000",
        "nan",
        "184467440737095516150",
    };
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (lks_parse_u64(bad[i], &value))
            fail_msg("'%s' was taken for a number", bad[i]);
        assert_int_equal(value, 7);
    }
}

static void zeroes_are_told_from_a_single_bit(void **state)
{
    uint8_t bytes[100] = {0};

    (void)state;
    for (size_t size = 0; size <= sizeof(bytes); size++)
        assert_true(lks_bytes_are_zero(bytes, size));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 0x80;
        assert_false(lks_bytes_are_zero(bytes, sizeof(bytes)));
        assert_false(lks_bytes_are_zero(bytes, i + 1));
        assert_true(lks_bytes_are_zero(bytes, i));
        bytes[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(aligning_goes_up_to_the_next_multiple),
        cmocka_unit_test(hex_is_lower_case_and_comes_back),
        cmocka_unit_test(hex_takes_capitals_and_reads_no_further),
        cmocka_unit_test(hex_that_is_none_changes_nothing),
        cmocka_unit_test(decimal_numbers_are_parsed_to_the_last),
        cmocka_unit_test(anything_but_digits_is_no_number),
        cmocka_unit_test(zeroes_are_told_from_a_single_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
