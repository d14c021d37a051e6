/*
 * Fuzzes frames: header, payload and padding, and unpacking what is in them.
 */
#include "format/tgb.h"
#include "fuzz.h"

#define RAW_SIZE_MAX                                                           \
    (1u << 20) /* so that most of the time is the decoder's                    \
                */

/* Sets sizes that fit, and then the checksums. */
static void repair(uint8_t *bytes, size_t size)
{
    uint64_t stored;

    if (size < LKS_FRAME_HEADER_SIZE)
        return;
    stored = lks_get_u64(bytes + 16);
    if (stored > size - LKS_FRAME_HEADER_SIZE) {
        stored = size - LKS_FRAME_HEADER_SIZE;
        lks_put_u64(bytes + 16, stored);
    }
    if (lks_get_u32(bytes + 4) == LKS_CODEC_NONE)
        lks_put_u64(bytes + 8, stored);
    lks_put_u32(bytes + 28, lks_crc32c(bytes + LKS_FRAME_HEADER_SIZE, stored));
    lks_put_u32(bytes + 60, lks_crc32c(bytes, 60));
}

static void unpack(const struct lks_frame *frame, const uint8_t *bytes)
{
    uint8_t *raw = malloc(frame->raw_size + 1);
    struct lks_error error = {0};
    enum lks_status status;

    FUZZ_CHECK(raw != NULL);
    status = lks_codec_unpack(frame->codec, bytes + LKS_FRAME_HEADER_SIZE,
                              frame->stored_size, raw, frame->raw_size, &error);
    fuzz_check_answer(status, &error);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    uint8_t *bytes = fuzz_copy(input.at, input.left);
    struct lks_error error = {0};
    struct lks_frame frame;
    enum lks_status status;
    uint32_t index = 0;
    uint64_t seq = 0;

    if (flags & FUZZ_REPAIR)
        repair(bytes, input.left);
    if (input.left >= LKS_FRAME_HEADER_SIZE) {
        index = lks_get_u32(bytes + 24);
        seq = lks_get_u64(bytes + 32);
    }
    status = lks_frame_decode(bytes, input.left, index, seq, &frame, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        uint8_t again[LKS_FRAME_HEADER_SIZE];

        FUZZ_CHECK(lks_frame_size(frame.stored_size) == input.left);
        lks_frame_encode(&frame, again);
        FUZZ_CHECK(memcmp(again, bytes, sizeof(again)) == 0);
        if (frame.raw_size <= RAW_SIZE_MAX)
            unpack(&frame, bytes);
    }
    free(bytes);
    return 0;
}
