/*
 * Small things about bytes: little-endian numbers, hex, zeroes.
 */
#ifndef LKS_BASE_BYTES_H
#define LKS_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t lks_get_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t lks_get_u64(const uint8_t *bytes)
{
    return (uint64_t)lks_get_u32(bytes) | (uint64_t)lks_get_u32(bytes + 4)
                                              << 32;
}

static inline void lks_put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline void lks_put_u64(uint8_t *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

/* The next multiple of `alignment`, a power of two. */
static inline uint64_t lks_align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* `text` gets 2 * size lower-case digits and a NUL. */
void lks_hex_encode(const void *data, size_t size, char *text);

/* Exactly 2 * size digits of `text` (either case) into `data`; false when one
 * of them is none. Reads no further. */
bool lks_hex_decode(const char *text, void *data, size_t size);

/* A whole decimal number and nothing else: no sign, no space, no overflow. */
bool lks_parse_u64(const char *text, uint64_t *out_value);

bool lks_bytes_are_zero(const void *data, size_t size);

#endif
