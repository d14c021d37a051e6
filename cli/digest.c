/*
 * SHA-256 by Nettle, in the one form that is needed here: hex.
 */
#include "digest.h"

#include <assert.h>
#include <stdio.h>

void digest_start(struct digest *digest)
{
    sha256_init(&digest->state);
}

void digest_add(struct digest *digest, const void *data, size_t size)
{
    if (size > 0)
        sha256_update(&digest->state, size, data);
}

void digest_add_number(struct digest *digest, uint64_t number)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    digest_add(digest, bytes, sizeof(bytes));
}

void digest_hex(const struct digest *digest, char *hex, size_t size)
{
    struct sha256_ctx copy = digest->state;
    uint8_t bytes[SHA256_DIGEST_SIZE];

    assert(size > 0);
    assert(size <= sizeof(bytes));
    sha256_digest(&copy, size, bytes);
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}
