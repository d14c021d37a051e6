/*
 * What fuzz targets share.
 *
 * A target's first input byte chooses what is done with the rest. With
 * FUZZ_REPAIR the object's checksums are made right before it is decoded, so
 * that the fuzzer gets past them; without it, they are what is tested.
 */
#ifndef LKS_TESTS_FUZZ_H
#define LKS_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"

#define FUZZ_REPAIR 1u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looked at in every build: what a target believes is why it is there. */
#define FUZZ_CHECK(holds) fuzz_check(holds, __FILE__, __LINE__, #holds)

static inline void fuzz_check(bool holds,
                              const char *file,
                              int line,
                              const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* Takes one byte off the front; 0 when there is none. */
static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++;
}

static inline uint64_t fuzz_number(struct fuzz_input *input)
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++)
        number = number << 8 | fuzz_byte(input);
    return number;
}

/* In memory of exactly its size, to be freed. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    FUZZ_CHECK(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

/* Takes the bytes up to the next NUL, or all, as a text to be freed. */
static inline char *fuzz_text(struct fuzz_input *input)
{
    size_t size =
        input->left > 0 ? strnlen((const char *)input->at, input->left) : 0;
    char *text = malloc(size + 1);

    FUZZ_CHECK(text != NULL);
    if (size > 0)
        memcpy(text, input->at, size);
    text[size] = '\0';
    input->at += size;
    input->left -= size;
    fuzz_byte(input);
    return text;
}

/*
 * A decoder's answer: one of those it may give, and a message when it is not
 * LKS_OK. The message goes to terminals and logs, so what a store holds must
 * not be able to put control characters into it.
 */
static inline void fuzz_check_answer(enum lks_status status,
                                     const struct lks_error *error)
{
    FUZZ_CHECK(status == LKS_OK || status == LKS_CORRUPT ||
               status == LKS_UNSUPPORTED || status == LKS_INVALID ||
               status == LKS_DENIED);
    if (status == LKS_OK)
        return;
    FUZZ_CHECK(error->status == status);
    FUZZ_CHECK(error->message[0] != '\0');
    for (const char *at = error->message; *at != '\0'; at++)
        FUZZ_CHECK((unsigned char)*at >= 0x20 && *at != 0x7f);
}

/* Makes an object of two sections vouch for whatever it holds now. */
static inline void fuzz_repair_sections(uint8_t *bytes, size_t size)
{
    uint64_t head_size;
    uint64_t control_size;

    if (size < 64)
        return;
    head_size = lks_get_u32(bytes + 12);
    if (head_size > size - 64) {
        head_size = size - 64;
        lks_put_u32(bytes + 12, (uint32_t)head_size);
    }
    control_size = size - 64 - head_size;
    lks_put_u32(bytes + 20, (uint32_t)control_size);
    lks_put_u32(bytes + 16, lks_crc32c(bytes + 64, head_size));
    lks_put_u32(bytes + 24, lks_crc32c(bytes + 64 + head_size, control_size));
    lks_put_u32(bytes + 60, lks_crc32c(bytes, 60));
}

/* Makes one line of JSON with a checksum at its end right, if it has one. */
static inline void fuzz_repair_json(uint8_t *bytes, size_t size)
{
    static const char end[] = ",\"crc32c\":\"xxxxxxxx\"}\n";
    char text[sizeof(end)];

    if (size < sizeof(end) - 1)
        return;
    size -= sizeof(end) - 1;
    snprintf(text, sizeof(text), ",\"crc32c\":\"%08x\"}\n",
             lks_crc32c(bytes, size));
    memcpy(bytes + size, text, sizeof(end) - 1);
}

#endif
