/*
 * Fuzzes the smallest parsers: hex and whole numbers.
 */
#include <inttypes.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    char *text = fuzz_text(&input);
    uint8_t bytes[16];
    char again[33];
    uint64_t value;

    if (lks_parse_u64(text, &value)) {
        const char *digits = text;

        while (*digits == '0' && digits[1] != '\0')
            digits++;
        snprintf(again, sizeof(again), "%" PRIu64, value);
        FUZZ_CHECK(strcmp(digits, again) == 0);
    }
    if (lks_hex_decode(text, bytes, sizeof(bytes))) {
        lks_hex_encode(bytes, sizeof(bytes), again);
        FUZZ_CHECK(strncasecmp(text, again, 32) == 0);
    }
    free(text);
    return 0;
}
