/*
 * Fuzzes watermarks: the object, under a name that the input gives.
 *
 * Dictionary: json.dict
 */
#include "format/watermark.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t stream[LKS_ID_SIZE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    char *name = fuzz_text(&input);
    uint8_t *bytes = fuzz_copy(input.at, input.left);
    struct lks_error error = {0};
    enum lks_status status;
    uint64_t step = 0;

    if (flags & FUZZ_REPAIR)
        fuzz_repair_json(bytes, input.left);
    status =
        lks_watermark_decode(bytes, input.left, stream, name, &step, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        struct lks_buf buf;
        uint64_t again;

        FUZZ_CHECK(step <= LKS_STEP_MAX);
        lks_buf_init(&buf, 2 * LKS_WATERMARK_SIZE_MAX);
        if (lks_watermark_encode(stream, name, step, &buf, &error) == LKS_OK) {
            FUZZ_CHECK(lks_watermark_decode(buf.data, buf.size, stream, name,
                                            &again, &error) == LKS_OK);
            FUZZ_CHECK(again == step);
        }
        lks_buf_done(&buf);
    }
    free(bytes);
    free(name);
    return 0;
}
