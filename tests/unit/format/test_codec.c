/* Codecs: what is packed comes back, and nothing else is taken for it. */
#include "format/codec.h"
#include "support/check.h"
#include "support/format_fixture.h"

static const enum lks_codec codecs[] = {LKS_CODEC_LZ4, LKS_CODEC_ZSTD};

#define SIZE_MAX_TESTED 1000000

/* Half noise, half repetition. */
static uint8_t *make_data(size_t size, bool noise)
{
    uint8_t *data = malloc(size + 1);
    uint64_t random = 5;

    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
        data[i] = noise ? (uint8_t)fixture_random(&random) : (uint8_t)(i % 7);
    return data;
}

static void round_trip(enum lks_codec codec, size_t size, bool noise)
{
    size_t bound = lks_codec_bound(codec, size);
    uint8_t *data = make_data(size, noise);
    uint8_t *again = malloc(size + 1);
    uint8_t *packed = malloc(bound);
    struct lks_error error;
    size_t packed_size;

    assert_non_null(again);
    assert_non_null(packed);
    assert_status(LKS_OK, lks_codec_pack(codec, 3, data, size, packed, bound,
                                         &packed_size, &error));
    assert_true(packed_size <= bound);
    /* What a frame may store: docs/format.md, "Frame". */
    assert_true(packed_size <= size + size / 128 + 128);
    assert_status(LKS_OK, lks_codec_unpack(codec, packed, packed_size, again,
                                           size, &error));
    assert_memory_equal(again, data, size);

    assert_status(LKS_CORRUPT, lks_codec_unpack(codec, packed, packed_size,
                                                again, size + 1, &error));
    assert_status(LKS_CORRUPT, lks_codec_unpack(codec, packed, packed_size - 1,
                                                again, size, &error));
    if (size > 0)
        assert_status(LKS_CORRUPT, lks_codec_unpack(codec, packed, packed_size,
                                                    again, size - 1, &error));
    free(packed);
    free(again);
    free(data);
}

static void slices_of_all_sizes_come_back(void **state)
{
    static const size_t sizes[] = {0,  1,    2,     63,
                                   64, 1000, 65536, SIZE_MAX_TESTED};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            round_trip(codecs[c], sizes[i], false);
            round_trip(codecs[c], sizes[i], true);
        }
    }
}

static void an_empty_slice_needs_no_address(void **state)
{
    struct lks_error error;
    size_t packed_size;
    uint8_t packed[64];

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        assert_true(lks_codec_bound(codecs[c], 0) <= sizeof(packed));
        assert_status(LKS_OK,
                      lks_codec_pack(codecs[c], 3, NULL, 0, packed,
                                     sizeof(packed), &packed_size, &error));
        assert_status(LKS_OK, lks_codec_unpack(codecs[c], packed, packed_size,
                                               NULL, 0, &error));
    }
    assert_status(LKS_OK,
                  lks_codec_unpack(LKS_CODEC_NONE, NULL, 0, NULL, 0, &error));
}

static void repetition_is_packed_small(void **state)
{
    uint8_t *data = make_data(SIZE_MAX_TESTED, false);
    struct lks_error error;

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        size_t bound = lks_codec_bound(codecs[c], SIZE_MAX_TESTED);
        uint8_t *packed = malloc(bound);
        size_t packed_size;

        assert_non_null(packed);
        assert_status(LKS_OK,
                      lks_codec_pack(codecs[c], 3, data, SIZE_MAX_TESTED,
                                     packed, bound, &packed_size, &error));
        assert_true(packed_size < SIZE_MAX_TESTED / 100);
        free(packed);
    }
    free(data);
}

static void none_copies_and_checks_the_size(void **state)
{
    struct lks_error error;
    char again[4];

    (void)state;
    assert_int_equal(lks_codec_bound(LKS_CODEC_NONE, 4), 4);
    assert_status(LKS_OK, lks_codec_unpack(LKS_CODEC_NONE, "abcd", 4, again, 4,
                                           &error));
    assert_memory_equal(again, "abcd", 4);
    assert_status(LKS_CORRUPT, lks_codec_unpack(LKS_CODEC_NONE, "abcd", 4,
                                                again, 3, &error));
    assert_message_has("4 bytes instead of 3");
}

/* Each byte of a payload belongs to its one frame, or is refused. */
static void zstd_frames_stand_alone(void **state)
{
    struct lks_error error;
    uint8_t packed[256];
    char again[10];
    size_t size;

    (void)state;
    assert_status(LKS_OK, lks_codec_pack(LKS_CODEC_ZSTD, 3, "hello", 5, packed,
                                         sizeof(packed) / 2, &size, &error));
    memcpy(packed + size, packed, size);
    assert_status(LKS_OK, lks_codec_unpack(LKS_CODEC_ZSTD, packed, size, again,
                                           5, &error));
    assert_memory_equal(again, "hello", 5);
    assert_status(LKS_CORRUPT, lks_codec_unpack(LKS_CODEC_ZSTD, packed,
                                                2 * size, again, 10, &error));
    assert_message_has("one zstd frame");
    assert_status(LKS_CORRUPT, lks_codec_unpack(LKS_CODEC_ZSTD, packed, 0,
                                                again, 0, &error));
}

/* Checksums keep these away; without them nothing may break either. */
static void damaged_bytes_never_lead_out_of_bounds(void **state)
{
    uint8_t *data = make_data(5000, false);
    uint8_t *again = malloc(5000);
    uint64_t random = fixture_seed();
    struct lks_error error;

    (void)state;
    assert_non_null(again);
    for (size_t c = 0; c < 2; c++) {
        size_t bound = lks_codec_bound(codecs[c], 5000);
        uint8_t *packed = malloc(bound);
        size_t size;

        assert_non_null(packed);
        assert_status(LKS_OK, lks_codec_pack(codecs[c], 3, data, 5000, packed,
                                             bound, &size, &error));
        for (int round = 0; round < 2000; round++) {
            size_t place = fixture_random(&random) % size;
            uint8_t old = packed[place];
            enum lks_status status;

            packed[place] = (uint8_t)fixture_random(&random);
            status =
                lks_codec_unpack(codecs[c], packed, size, again, 5000, &error);
            assert_true(status == LKS_OK || status == LKS_CORRUPT ||
                        status == LKS_NO_MEMORY);
            packed[place] = old;
        }
        free(packed);
    }
    free(again);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_all_sizes_come_back),
        cmocka_unit_test(an_empty_slice_needs_no_address),
        cmocka_unit_test(repetition_is_packed_small),
        cmocka_unit_test(none_copies_and_checks_the_size),
        cmocka_unit_test(zstd_frames_stand_alone),
        cmocka_unit_test(damaged_bytes_never_lead_out_of_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
