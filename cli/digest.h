/*
 * SHA-256, as `consume --hash` prints it and `pack` remembers its input by.
 *
 * Nettle's, because its state is a plain struct: a digest of what was read so
 * far is a copy of the state, with no allocation and nothing that can fail.
 */
#ifndef LAKESTREAM_CLI_DIGEST_H
#define LAKESTREAM_CLI_DIGEST_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_SIZE ((size_t)SHA256_DIGEST_SIZE)
#define DIGEST_HEX_SIZE (2 * DIGEST_SIZE + 1)

struct digest {
    struct sha256_ctx state;
};

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t size);
void digest_add_number(struct digest *digest, uint64_t number);

/* The first `size` bytes of the digest so far, as 2 * size hex digits and a
 * NUL. More may be added after it. */
void digest_hex(const struct digest *digest, char *hex, size_t size);

#endif
