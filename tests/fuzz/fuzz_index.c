/*
 * Fuzzes index blocks: whole ones, their first bytes, and comparing two.
 */
#include "format/index.h"
#include "fuzz.h"

#define HEAD_ONLY 2u
#define SLICE_COUNT 4u

static void look_at(const struct lks_index *index, uint64_t number)
{
    uint64_t first = lks_index_first(index);
    uint64_t end = (number + 1) * LKS_BLOCK_STEPS;
    struct lks_producer_record record;
    struct lks_entry entry;

    FUZZ_CHECK(first < end && end - first <= LKS_BLOCK_STEPS);
    for (uint64_t step = first; step < end; step++) {
        lks_index_entry(index, step, SLICE_COUNT, &entry);
        FUZZ_CHECK(entry.step == step);
        FUZZ_CHECK(lks_id_is_valid(entry.producer));
    }
    for (uint32_t i = 0; i < lks_index_producer_count(index); i++) {
        lks_index_producer(index, i, &record);
        FUZZ_CHECK(lks_id_is_valid(record.id));
    }
}

static void compare_with_itself(uint8_t *bytes,
                                size_t size,
                                const uint8_t stream[LKS_ID_SIZE],
                                uint64_t number)
{
    struct lks_buf buf = {bytes, size, size, size};
    struct lks_error error;
    bool equal = false;

    FUZZ_CHECK(lks_index_compare(&buf, &buf, stream, number, &equal, &error) ==
               LKS_OK);
    FUZZ_CHECK(equal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    uint8_t *bytes = fuzz_copy(input.at, input.left);
    uint8_t stream[LKS_ID_SIZE] = {0};
    struct lks_index *index = NULL;
    struct lks_error error = {0};
    enum lks_status status;
    uint64_t number = 0;
    size_t needed = 0;

    if (flags & FUZZ_REPAIR)
        fuzz_repair_sections(bytes, input.left);
    if (input.left >= 64) {
        memcpy(stream, bytes + 28, LKS_ID_SIZE);
        number = lks_get_u64(bytes + 44);
    }
    if (flags & HEAD_ONLY)
        status = lks_index_decode_head(bytes, input.left, stream, number,
                                       &index, &needed, &error);
    else
        status =
            lks_index_decode(bytes, input.left, stream, number, &index, &error);
    fuzz_check_answer(status, &error);
    FUZZ_CHECK(status == LKS_OK || index == NULL);
    if (status == LKS_OK && needed > 0) {
        FUZZ_CHECK(needed > input.left && needed <= LKS_INDEX_SIZE_MAX);
    } else if (status == LKS_OK) {
        look_at(index, number);
        if ((flags & HEAD_ONLY) == 0)
            compare_with_itself(bytes, input.left, stream, number);
    }
    lks_index_free(index);
    free(bytes);
    return 0;
}
