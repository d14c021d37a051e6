/* Watermarks and their names. */
#include "format/watermark.h"

#include "support/check.h"
#include "support/format_fixture.h"
#include "support/torture.h"

static const char name_3[] = "watermark/train/job-17-2/3";

static const char text_3[] =
    "{\"format\":1,\"stream\":\"000102030405060708090a0b0c0d0e0f\","
    "\"name\":\"watermark/train/job-17-2/3\",\"step\":100,"
    "\"crc32c\":\"CRC\"}\n";

static struct lks_buf encoded(uint64_t step)
{
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_WATERMARK_SIZE_MAX);
    assert_status(LKS_OK, lks_watermark_encode(fixture_stream, name_3, step,
                                               &buf, &error));
    return buf;
}

static void a_watermark_is_a_line_of_json(void **state)
{
    struct lks_buf buf = encoded(100);
    struct lks_error error;
    size_t same = strlen(text_3) - strlen("CRC\"}\n");
    uint64_t step = 0;

    (void)state;
    assert_memory_equal(buf.data, text_3, same);
    assert_int_equal(buf.size, same + 8 + strlen("\"}\n"));
    assert_status(LKS_OK,
                  lks_watermark_decode(buf.data, buf.size, fixture_stream,
                                       name_3, &step, &error));
    assert_int_equal(step, 100);
    lks_buf_done(&buf);
}

static void a_changed_bit_is_noticed_wherever_it_is(void **state)
{
    struct lks_buf buf = encoded(100);
    struct lks_error error;
    uint64_t step = 0;

    (void)state;
    for (size_t i = 0; i < 8 * buf.size; i++) {
        buf.data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_status(LKS_CORRUPT,
                      lks_watermark_decode(buf.data, buf.size, fixture_stream,
                                           name_3, &step, &error));
        buf.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t size = 0; size < buf.size; size++)
        assert_status(LKS_CORRUPT,
                      lks_watermark_decode(buf.data, size, fixture_stream,
                                           name_3, &step, &error));
    lks_buf_done(&buf);
}

static void a_watermark_of_another_place_is_refused(void **state)
{
    struct lks_buf buf = encoded(100);
    uint8_t other[LKS_ID_SIZE] = {1};
    struct lks_error error;
    uint64_t step = 0;

    (void)state;
    assert_status(LKS_CORRUPT, lks_watermark_decode(buf.data, buf.size, other,
                                                    name_3, &step, &error));
    assert_message_has("another stream");
    assert_status(LKS_CORRUPT,
                  lks_watermark_decode(buf.data, buf.size, fixture_stream,
                                       "watermark/train/job-17-2/4", &step,
                                       &error));
    assert_message_has("another name");
    lks_buf_done(&buf);
}

static enum lks_status round_trip(void *arg)
{
    struct lks_error error;
    struct lks_buf buf;
    enum lks_status status;
    uint64_t step;

    (void)arg;
    lks_buf_init(&buf, LKS_WATERMARK_SIZE_MAX);
    status = lks_watermark_encode(fixture_stream, name_3, 7, &buf, &error);
    if (status == LKS_OK)
        status = lks_watermark_decode(buf.data, buf.size, fixture_stream,
                                      name_3, &step, &error);
    lks_buf_done(&buf);
    return status;
}

static void nothing_is_held_when_memory_is_out(void **state)
{
    (void)state;
    torture(round_trip, NULL);
}

static void names_give_their_parts_back(void **state)
{
    struct lks_watermark_parts parts = {"train", "job-17", 2, 3};
    struct lks_watermark_parts read;
    struct lks_data_parts data;
    char name[LKS_NAME_SIZE];
    uint64_t number;

    (void)state;
    lks_watermark_name(&parts, name);
    assert_string_equal(name, name_3);
    assert_true(lks_watermark_name_parse(name, &read));
    assert_string_equal(read.group, "train");
    assert_string_equal(read.run, "job-17");
    assert_int_equal(read.attempt, 2);
    assert_int_equal(read.rank, 3);

    parts.rank = LKS_RANK_ALL;
    memset(parts.group, 'g', LKS_PRODUCER_ID_SIZE_MAX);
    memset(parts.run, '-', LKS_PRODUCER_ID_SIZE_MAX);
    parts.attempt = UINT64_MAX;
    lks_watermark_name(&parts, name);
    assert_true(lks_watermark_name_parse(name, &read));
    assert_string_equal(read.group, parts.group);
    assert_string_equal(read.run, parts.run);
    assert_int_equal(read.attempt, UINT64_MAX);
    assert_int_equal(read.rank, LKS_RANK_ALL);

    lks_data_name("prep-0", 7, 0xf0e0d0c0, 12, name);
    assert_true(lks_data_name_parse(name, &data));
    assert_string_equal(data.producer, "prep-0");
    assert_int_equal(data.epoch, 7);
    assert_int_equal(data.owner_tag, 0xf0e0d0c0);
    assert_int_equal(data.seq, 12);
    lks_index_name(77, name);
    assert_true(lks_index_name_parse(name, &number));
    assert_int_equal(number, 77);
}

static void other_spellings_are_no_names(void **state)
{
    static const char *const names[] = {
        "",
        "watermark/",
        "watermark/train/job-17-2",
        "watermark/train/job/3",
        "watermark/train/job-17-2/",
        "watermark/train/job-17-2/03",
        "watermark/train/job-17-02/3",
        "watermark/train/job-17-2/ALL",
        "watermark/train/job-17-2/3/4",
        "watermark/train/-2/3",
        "watermark/.train/job-17-2/3",
        "watermark/train/job-17-2/4294967295",
        "data/p/1-f0e0d0c0/",
        "data/p/01-f0e0d0c0/1",
        "data/p/1-F0e0d0c0/1",
        "data/p/1-f0e0d0c/1",
        "data/p/1-f0e0d0c00/1",
        "data/p/1-f0e0d0c0/1x",
        "data//1-f0e0d0c0/1",
        "data/p/1-f0e0d0c0/18446744073709551616",
        "index/0",
        "index/00000000000000010",
        "index/000000000000000A",
        "index/000000000000000g",
    };
    struct lks_watermark_parts watermark;
    struct lks_data_parts data;
    uint64_t number;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_false(lks_watermark_name_parse(names[i], &watermark));
        assert_false(lks_data_name_parse(names[i], &data));
        assert_false(lks_index_name_parse(names[i], &number));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watermark_is_a_line_of_json),
        cmocka_unit_test(a_changed_bit_is_noticed_wherever_it_is),
        cmocka_unit_test(a_watermark_of_another_place_is_refused),
        cmocka_unit_test(nothing_is_held_when_memory_is_out),
        cmocka_unit_test(names_give_their_parts_back),
        cmocka_unit_test(other_spellings_are_no_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
