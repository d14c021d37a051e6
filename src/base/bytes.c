/*
 * Hex, decimal numbers and zeroes. Independent of the locale.
 */
#include "base/bytes.h"

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

void lks_hex_encode(const void *data, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\0';
}

bool lks_hex_decode(const char *text, void *data, size_t size)
{
    uint8_t *bytes = data;

    for (size_t i = 0; i < 2 * size; i++) {
        if (digit_value(text[i]) < 0)
            return false;
    }
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(digit_value(text[2 * i]) << 4 |
                             digit_value(text[2 * i + 1]));
    return true;
}

bool lks_parse_u64(const char *text, uint64_t *out_value)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        uint64_t digit;

        if (*text < '0' || *text > '9')
            return false;
        digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *out_value = value;
    return true;
}

bool lks_bytes_are_zero(const void *data, size_t size)
{
    const uint8_t *bytes = data;

    /* All are equal to their right neighbour, and the first is zero. */
    return size == 0 ||
           (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}
