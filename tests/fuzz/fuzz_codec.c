/*
 * Fuzzes the codecs: unpacking foreign bytes to a size that need not be theirs,
 * and packing, of which everything must come back.
 */
#include "format/codec.h"
#include "fuzz.h"

#define PACK 1u
#define SIZE_LIMIT (1u << 20)

static void pack(enum lks_codec codec, const uint8_t *data, size_t size)
{
    size_t bound = lks_codec_bound(codec, size);
    uint8_t *packed = malloc(bound + 1);
    uint8_t *again = malloc(size + 1);
    struct lks_error error;
    size_t packed_size;

    FUZZ_CHECK(packed != NULL && again != NULL);
    FUZZ_CHECK(lks_codec_pack(codec, 1, data, size, packed, bound, &packed_size,
                              &error) == LKS_OK);
    FUZZ_CHECK(packed_size <= size + size / 128 + 128);
    FUZZ_CHECK(lks_codec_unpack(codec, packed, packed_size, again, size,
                                &error) == LKS_OK);
    FUZZ_CHECK(size == 0 || memcmp(again, data, size) == 0);
    free(packed);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    enum lks_codec codec = (enum lks_codec)((flags >> 1) % 3);
    uint64_t raw_size = (uint64_t)fuzz_byte(&input) << 16;
    struct lks_error error = {0};
    enum lks_status status;
    uint8_t *bytes;
    uint8_t *raw;

    raw_size |= (uint64_t)fuzz_byte(&input) << 8;
    raw_size = (raw_size | fuzz_byte(&input)) % SIZE_LIMIT;
    bytes = fuzz_copy(input.at, input.left);
    if (flags & PACK) {
        if (codec != LKS_CODEC_NONE)
            pack(codec, bytes, input.left);
    } else {
        raw = malloc(raw_size > 0 ? raw_size : 1);
        FUZZ_CHECK(raw != NULL);
        status =
            lks_codec_unpack(codec, bytes, input.left, raw, raw_size, &error);
        fuzz_check_answer(status, &error);
        free(raw);
    }
    free(bytes);
    return 0;
}
