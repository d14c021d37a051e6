/*
 * Fuzzes footers: the trailer by itself, and message and trailer together.
 */
#include "format/frames.h"
#include "format/tgb.h"
#include "fuzz.h"

/* The object's size is what the input says in the trailer's place for it. */
static void repair(uint8_t *bytes, size_t size)
{
    uint8_t *trailer = bytes + size - LKS_TRAILER_SIZE;

    lks_put_u32(trailer, (uint32_t)(size - LKS_TRAILER_SIZE));
    lks_put_u32(trailer + 4, lks_crc32c(bytes, size - LKS_TRAILER_SIZE));
    lks_put_u32(trailer + 28, lks_crc32c(trailer, 28));
}

static void look_at(const struct lks_footer *footer, uint64_t frames_size)
{
    uint64_t count = (uint64_t)footer->dp * footer->cp;
    uint64_t sum = footer->uniform * count;

    FUZZ_CHECK(count > 0 && count <= LKS_SLICE_COUNT_MAX);
    FUZZ_CHECK((footer->uniform == 0) == (footer->frames != NULL));
    if (footer->frames != NULL)
        FUZZ_CHECK(lks_frames_sum(footer->frames, count, &sum));
    FUZZ_CHECK(sum == frames_size);
    FUZZ_CHECK(lks_id_is_valid(footer->producer));
    FUZZ_CHECK(footer->offset_before_size <= LKS_OFFSET_SIZE_MAX);
    FUZZ_CHECK(footer->offset_after_size <= LKS_OFFSET_SIZE_MAX);
    FUZZ_CHECK(footer->meta_size <= LKS_META_SIZE_MAX);
}

/* What it says can be written, and reads the same then. */
static void round_trip(const struct lks_footer *footer, uint64_t frames_size)
{
    uint64_t count = (uint64_t)footer->dp * footer->cp;
    uint64_t *frames = malloc(count * sizeof(*frames));
    struct lks_footer full = *footer;
    struct lks_footer again;
    struct lks_error error;
    struct lks_buf buf;

    FUZZ_CHECK(frames != NULL);
    for (uint64_t i = 0; i < count; i++)
        frames[i] = footer->frames ? footer->frames[i] : footer->uniform;
    full.frames = frames;
    lks_buf_init(&buf, LKS_FOOTER_SIZE_MAX);
    FUZZ_CHECK(lks_footer_encode(&full, frames_size, &buf, &error) == LKS_OK);
    FUZZ_CHECK(lks_footer_decode(buf.data, buf.size, frames_size + buf.size,
                                 &again, &error) == LKS_OK);
    FUZZ_CHECK(strcmp(again.producer, footer->producer) == 0);
    FUZZ_CHECK(again.meta_size == footer->meta_size);
    FUZZ_CHECK(again.seq == footer->seq && again.epoch == footer->epoch);
    lks_footer_done(&again);
    lks_buf_done(&buf);
    free(frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    uint8_t *bytes = fuzz_copy(input.at, input.left);
    struct lks_footer footer = {0};
    struct lks_error error = {0};
    uint64_t object_size = 0;
    uint32_t footer_size = 0;
    enum lks_status status;

    if (input.left >= LKS_TRAILER_SIZE) {
        const uint8_t *trailer = bytes + input.left - LKS_TRAILER_SIZE;

        if (flags & FUZZ_REPAIR)
            repair(bytes, input.left);
        object_size = lks_get_u64(trailer + 8);
        status = lks_trailer_decode(trailer, object_size, &footer_size, &error);
        fuzz_check_answer(status, &error);
        if (status == LKS_OK)
            FUZZ_CHECK(footer_size <= object_size &&
                       footer_size <= LKS_FOOTER_SIZE_MAX);
    }
    status = lks_footer_decode(bytes, input.left, object_size, &footer, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        look_at(&footer, object_size - input.left);
        round_trip(&footer, object_size - input.left);
    }
    lks_footer_done(&footer);
    free(bytes);
    return 0;
}
