/*
 * Fuzzes a consumer's state, as it comes back from somebody's checkpoint.
 *
 * Dictionary: json.dict
 */
#include "format/state.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    char *text = fuzz_text(&input);
    uint8_t stream[LKS_ID_SIZE];
    struct lks_error error = {0};
    enum lks_status status;
    uint64_t step;

    status = lks_state_decode(text, stream, &step, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        char again[LKS_STATE_SIZE_MAX];
        uint8_t again_stream[LKS_ID_SIZE];
        uint64_t again_step;

        lks_state_encode(stream, step, again);
        FUZZ_CHECK(lks_state_decode(again, again_stream, &again_step, &error) ==
                   LKS_OK);
        FUZZ_CHECK(again_step == step);
        FUZZ_CHECK(memcmp(stream, again_stream, LKS_ID_SIZE) == 0);
    }
    free(text);
    return 0;
}
