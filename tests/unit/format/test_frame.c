/* Frames: each byte of them counts. And tables: where frames stand. */
#include "format/tgb.h"
#include "support/check.h"
#include "support/format_fixture.h"
#include "support/format_vectors.h"

/* A whole frame of `slice`, in memory of exactly its size. */
static uint8_t *make_frame(enum lks_codec codec,
                           const char *slice,
                           uint64_t *out_size)
{
    size_t raw_size = strlen(slice);
    struct lks_frame frame = {.codec = codec,
                              .index = 3,
                              .seq = 17,
                              .raw_size = raw_size};
    struct lks_error error;
    uint8_t packed[512];
    uint8_t *bytes;
    size_t size;

    memcpy(packed, slice, raw_size);
    size = raw_size;
    if (codec != LKS_CODEC_NONE)
        assert_status(LKS_OK, lks_codec_pack(codec, 3, slice, raw_size, packed,
                                             sizeof(packed), &size, &error));
    frame.stored_size = size;
    frame.payload_crc = lks_crc32c(packed, size);
    *out_size = lks_frame_size(size);
    bytes = calloc(1, *out_size);
    assert_non_null(bytes);
    lks_frame_encode(&frame, bytes);
    memcpy(bytes + LKS_FRAME_HEADER_SIZE, packed, size);
    return bytes;
}

static void frames_are_multiples_of_64_bytes(void **state)
{
    (void)state;
    assert_int_equal(lks_frame_size(0), 64);
    assert_int_equal(lks_frame_size(1), 128);
    assert_int_equal(lks_frame_size(64), 128);
    assert_int_equal(lks_frame_size(65), 192);
    assert_int_equal(lks_frame_size(LKS_SLICE_SIZE_MAX),
                     LKS_SLICE_SIZE_MAX + 64);
}

static void a_frame_is_that_of_the_document(void **state)
{
    struct lks_frame frame = {.index = 1, .raw_size = 5, .stored_size = 5};
    uint8_t expected[VECTOR_FRAME_SIZE];
    uint8_t bytes[VECTOR_FRAME_SIZE] = {0};
    struct lks_error error;

    (void)state;
    assert_true(lks_hex_decode(vector_frame, expected, sizeof(expected)));
    frame.payload_crc = lks_crc32c("hello", 5);
    lks_frame_encode(&frame, bytes);
    memcpy(bytes + 64, "hello", 5);
    assert_memory_equal(bytes, expected, sizeof(bytes));
    assert_status(LKS_OK, lks_frame_decode(expected, sizeof(expected), 1, 0,
                                           &frame, &error));
    assert_int_equal(frame.raw_size, 5);
    assert_int_equal(frame.codec, LKS_CODEC_NONE);
}

static void a_frame_comes_back_with_each_codec(void **state)
{
    static const char *const slices[] = {
        "", "x", "a slice of some length",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

    (void)state;
    for (int codec = LKS_CODEC_NONE; codec <= LKS_CODEC_ZSTD; codec++) {
        for (size_t i = 0; i < 4; i++) {
            size_t raw_size = strlen(slices[i]);
            struct lks_frame frame;
            struct lks_error error;
            char again[128];
            uint64_t size;
            uint8_t *bytes;

            bytes = make_frame((enum lks_codec)codec, slices[i], &size);
            assert_status(LKS_OK,
                          lks_frame_decode(bytes, size, 3, 17, &frame, &error));
            assert_int_equal(frame.codec, codec);
            assert_int_equal(frame.index, 3);
            assert_int_equal(frame.seq, 17);
            assert_int_equal(frame.raw_size, raw_size);
            assert_status(LKS_OK,
                          lks_codec_unpack(frame.codec,
                                           bytes + LKS_FRAME_HEADER_SIZE,
                                           frame.stored_size, again,
                                           frame.raw_size, &error));
            assert_memory_equal(again, slices[i], raw_size);
            free(bytes);
        }
    }
}

static void every_flipped_bit_is_refused(void **state)
{
    struct lks_frame frame;
    struct lks_error error;
    uint64_t size;

    (void)state;
    for (int codec = LKS_CODEC_NONE; codec <= LKS_CODEC_ZSTD; codec++) {
        uint8_t *bytes =
            make_frame((enum lks_codec)codec, "what is in a slice", &size);

        for (uint64_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
            assert_status(LKS_CORRUPT,
                          lks_frame_decode(bytes, size, 3, 17, &frame, &error));
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        }
        free(bytes);
    }
}

static void every_other_size_is_refused(void **state)
{
    struct lks_frame frame;
    struct lks_error error;
    uint64_t size;
    uint8_t *bytes = make_frame(LKS_CODEC_NONE, "what is in a slice", &size);

    (void)state;
    for (uint64_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut + 1);

        assert_non_null(part);
        memcpy(part, bytes, cut);
        assert_status(LKS_CORRUPT,
                      lks_frame_decode(part, cut, 3, 17, &frame, &error));
        free(part);
    }
    assert_status(LKS_CORRUPT,
                  lks_frame_decode(bytes, size + 64, 3, 17, &frame, &error));
    free(bytes);
}

static void another_slices_frame_is_refused(void **state)
{
    struct lks_frame frame;
    struct lks_error error;
    uint64_t size;
    uint8_t *bytes = make_frame(LKS_CODEC_NONE, "x", &size);

    (void)state;
    assert_status(LKS_CORRUPT,
                  lks_frame_decode(bytes, size, 2, 17, &frame, &error));
    assert_message_has("slice 3 of seq 17 stands where slice 2 of seq 17");
    assert_status(LKS_CORRUPT,
                  lks_frame_decode(bytes, size, 3, 18, &frame, &error));
    free(bytes);
}

static void repair(uint8_t *header)
{
    lks_put_u32(header + 60, lks_crc32c(header, 60));
}

static void a_newer_codec_is_unsupported(void **state)
{
    struct lks_frame frame;
    struct lks_error error;
    uint64_t size;
    uint8_t *bytes = make_frame(LKS_CODEC_NONE, "x", &size);

    (void)state;
    lks_put_u32(bytes + 4, 3);
    repair(bytes);
    assert_status(LKS_UNSUPPORTED,
                  lks_frame_decode(bytes, size, 3, 17, &frame, &error));
    assert_message_has("codec 3");
    free(bytes);
}

/* With right checksums, as a wrong writer would give them. */
static void impossible_sizes_are_refused(void **state)
{
    static const struct {
        uint32_t codec;
        uint64_t raw_size;
        uint64_t stored_size;
    } cases[] = {
        {LKS_CODEC_NONE, 2, 1},
        {LKS_CODEC_NONE, LKS_SLICE_SIZE_MAX + 1, LKS_SLICE_SIZE_MAX + 1},
        {LKS_CODEC_NONE, UINT64_MAX, UINT64_MAX},
        {LKS_CODEC_LZ4, 0, UINT64_MAX - 63},
        {LKS_CODEC_LZ4, 0, 129},
        {LKS_CODEC_LZ4, LKS_SLICE_SIZE_MAX + 1, 1},
        {LKS_CODEC_ZSTD, 1280, 1280 + 10 + 129},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lks_frame frame;
        struct lks_error error;
        uint64_t size;
        uint8_t *bytes = make_frame(LKS_CODEC_NONE, "x", &size);

        lks_put_u32(bytes + 4, cases[i].codec);
        lks_put_u64(bytes + 8, cases[i].raw_size);
        lks_put_u64(bytes + 16, cases[i].stored_size);
        repair(bytes);
        assert_status(LKS_CORRUPT,
                      lks_frame_decode(bytes, size, 3, 17, &frame, &error));
        free(bytes);
    }
}

static void what_the_header_leaves_open_must_be_zero(void **state)
{
    struct lks_frame frame;
    struct lks_error error;
    uint64_t size;
    uint8_t *bytes = make_frame(LKS_CODEC_NONE, "x", &size);

    (void)state;
    for (int i = 40; i < 60; i++) {
        bytes[i] = 1;
        repair(bytes);
        assert_status(LKS_CORRUPT,
                      lks_frame_decode(bytes, size, 3, 17, &frame, &error));
        bytes[i] = 0;
    }
    free(bytes);
}

static void a_table_is_as_small_as_it_can_be(void **state)
{
    static const uint64_t same[9] = {64, 64, 64, 64, 64, 64, 64, 64, 64};
    static const uint64_t other[9] = {64, 64, 64, 64, 64, 64, 64, 128, 64};

    (void)state;
    assert_int_equal(lks_table_kind_of(same, 1), LKS_TABLE_UNIFORM);
    assert_int_equal(lks_table_kind_of(same, 9), LKS_TABLE_UNIFORM);
    assert_int_equal(lks_table_kind_of(other, 8), LKS_TABLE_INLINE);
    assert_int_equal(lks_table_kind_of(other, 9), LKS_TABLE_FOOTER);
}

static void a_table_says_where_frames_stand(void **state)
{
    static const uint64_t frames[3] = {64, 192, 128};
    struct lks_table table = {.kind = LKS_TABLE_INLINE,
                              .count = 3,
                              .frames = frames};
    uint64_t offset;
    uint64_t size;

    (void)state;
    lks_table_range(&table, 0, 1, &offset, &size);
    assert_int_equal(offset, 0);
    assert_int_equal(size, 64);
    lks_table_range(&table, 1, 2, &offset, &size);
    assert_int_equal(offset, 64);
    assert_int_equal(size, 320);
    lks_table_range(&table, 3, 0, &offset, &size);
    assert_int_equal(offset, 384);
    assert_int_equal(size, 0);

    table.kind = LKS_TABLE_UNIFORM;
    table.uniform = UINT64_C(1) << 30;
    table.count = LKS_SLICE_COUNT_MAX;
    lks_table_range(&table, 65535, 1, &offset, &size);
    assert_true(offset == UINT64_C(65535) << 30);
    assert_true(size == UINT64_C(1) << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_multiples_of_64_bytes),
        cmocka_unit_test(a_frame_is_that_of_the_document),
        cmocka_unit_test(a_frame_comes_back_with_each_codec),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_size_is_refused),
        cmocka_unit_test(another_slices_frame_is_refused),
        cmocka_unit_test(a_newer_codec_is_unsupported),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(what_the_header_leaves_open_must_be_zero),
        cmocka_unit_test(a_table_is_as_small_as_it_can_be),
        cmocka_unit_test(a_table_says_where_frames_stand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
