/* CRC32C against published values, and against itself piece by piece. */
#include <sys/mman.h>

#include "base/crc32c.h"
#include "support/check.h"

static void crc32c_of_the_check_string_is_e3069283(void **state)
{
    (void)state;
    assert_int_equal(lks_crc32c("123456789", 9), 0xe3069283u);
}

/* RFC 3720, B.4. */
static void crc32c_agrees_with_the_examples_of_iscsi(void **state)
{
    uint8_t bytes[32];

    (void)state;
    memset(bytes, 0, 32);
    assert_int_equal(lks_crc32c(bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, 32);
    assert_int_equal(lks_crc32c(bytes, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(lks_crc32c(bytes, 32), 0x46dd794eu);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    assert_int_equal(lks_crc32c(bytes, 32), 0x113fdb5cu);
}

static void crc32c_of_nothing_is_zero(void **state)
{
    (void)state;
    assert_int_equal(lks_crc32c(NULL, 0), 0);
    assert_int_equal(lks_crc32c_more(0xe3069283u, NULL, 0), 0xe3069283u);
}

static uint32_t crc_bit_by_bit(const uint8_t *bytes, size_t size)
{
    uint32_t crc = ~0u;

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0x82f63b78u & (0u - (crc & 1)));
    }
    return ~crc;
}

static void crc32c_is_the_same_in_any_pieces_and_places(void **state)
{
    uint8_t bytes[600];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * i + 3 * i);
    for (size_t from = 0; from < 17; from++) {
        for (size_t size = 0; size + from <= sizeof(bytes); size += 29) {
            uint32_t whole = crc_bit_by_bit(bytes + from, size);
            uint32_t first = lks_crc32c(bytes + from, size / 3);

            assert_int_equal(lks_crc32c(bytes + from, size), whole);
            assert_int_equal(lks_crc32c_more(first, bytes + from + size / 3,
                                             size - size / 3),
                             whole);
        }
    }
}

/* More than an int can count. The memory is one page, seen many times, and a
 * large one where there are such. */
static void crc32c_counts_beyond_two_gib(void **state)
{
    size_t size = ((size_t)2 << 30) + 4097;
    size_t half = (size / 2) & ~(size_t)4095;
    uint8_t *bytes = mmap(NULL, size, PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint32_t whole;

    (void)state;
    if (bytes == MAP_FAILED)
        skip();
    madvise(bytes, size, MADV_HUGEPAGE);
    whole = lks_crc32c(bytes, size);
    assert_int_equal(lks_crc32c_more(lks_crc32c(bytes, half), bytes + half,
                                     size - half),
                     whole);
    assert_int_not_equal(whole, lks_crc32c(bytes, size - 1));
    munmap(bytes, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_of_the_check_string_is_e3069283),
        cmocka_unit_test(crc32c_agrees_with_the_examples_of_iscsi),
        cmocka_unit_test(crc32c_of_nothing_is_zero),
        cmocka_unit_test(crc32c_is_the_same_in_any_pieces_and_places),
        cmocka_unit_test(crc32c_counts_beyond_two_gib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
