/*
 * Fuzzes the offset that `pack` finds in a stream when it goes on.
 *
 * Dictionary: json.dict
 */
#include "fuzz.h"
#include "pack_offset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pack_plan plan = {
        .seq_len = 2048,
        .micro_batch = 1,
        .shard_count = 4,
        .type = TOKEN_U16,
    };
    uint8_t *bytes = fuzz_copy(data, size);
    struct source_place place = {0};
    struct lks_error error = {0};
    enum lks_status status;

    status = pack_offset_read(bytes, size, &plan, &place, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        char text[LKS_OFFSET_SIZE_MAX + 1];
        struct source_place again = {0};
        size_t length = pack_offset_write(&plan, &place, text);

        FUZZ_CHECK(pack_offset_read(text, length, &plan, &again, &error) ==
                   LKS_OK);
        FUZZ_CHECK(memcmp(&place, &again, sizeof(place)) == 0);
    }
    free(bytes);
    return 0;
}
