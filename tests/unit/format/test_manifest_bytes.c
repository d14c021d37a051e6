/* A manifest's bytes: whole, of this stream and version, in a format we read.
 */
#include "format/manifest.h"
#include "support/check.h"
#include "support/format_fixture.h"
#include "support/format_vectors.h"

static enum lks_status decode(const struct lks_buf *buf,
                              uint64_t version,
                              struct lks_error *error)
{
    struct lks_manifest *manifest;
    enum lks_status status;

    status = lks_manifest_decode(buf->data, buf->size, fixture_stream, version,
                                 &manifest, error);
    if (status == LKS_OK)
        lks_manifest_free(manifest);
    return status;
}

static void a_manifest_is_that_of_the_document(void **state)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_producer_record record = fixture_record("prep-0", 1);
    struct lks_manifest *manifest;
    uint8_t expected[VECTOR_MANIFEST_SIZE];
    struct lks_entry entry;
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    assert_true(lks_hex_decode(vector_manifest_header, expected, 64));
    assert_true(lks_hex_decode(vector_manifest_head, expected + 64, 47));
    assert_true(lks_hex_decode(vector_manifest_control, expected + 111, 67));
    descriptor.max_live_steps = 1000;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    lks_manifest_advance(manifest);
    for (unsigned i = 0; i < LKS_ID_SIZE; i++)
        record.owner[i] = (uint8_t)(0xf0 - 16 * i);
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    lks_manifest_advance(manifest);
    entry = fixture_entry(manifest, "prep-0", 128);
    entry.size = VECTOR_TGB_SIZE;
    entry.footer_size = VECTOR_FOOTER_SIZE;
    entry.footer_crc = VECTOR_FOOTER_CRC;
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, "shard 3, byte 4096",
                                      18, &error));
    buf = fixture_encoded(manifest);
    assert_int_equal(buf.size, VECTOR_MANIFEST_SIZE);
    assert_memory_equal(buf.data, expected, VECTOR_MANIFEST_SIZE);
    assert_status(LKS_OK, decode(&buf, 2, &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void all_that_it_says_comes_back(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(5, 256);
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_manifest *again;
    struct lks_error error;
    struct lks_buf twice;

    (void)state;
    assert_status(LKS_OK,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream, 257,
                                      &again, &error));
    assert_int_equal(lks_manifest_version(again), 257);
    assert_int_equal(lks_manifest_producer_count(again), 5);
    assert_true(lks_manifest_tail_is_full(again));
    for (uint64_t step = 0; step < 256; step++) {
        struct lks_entry left;
        struct lks_entry right;

        lks_manifest_entry(manifest, step, 2, &left);
        lks_manifest_entry(again, step, 2, &right);
        assert_string_equal(left.producer, right.producer);
        assert_int_equal(right.seq, step / 5);
        assert_int_equal(right.version, step + 2);
        assert_int_equal(left.total, right.total);
        assert_int_equal(left.footer_crc, right.footer_crc);
        assert_int_equal(left.table.uniform, right.table.uniform);
    }
    twice = fixture_encoded(again);
    assert_int_equal(twice.size, buf.size);
    assert_memory_equal(twice.data, buf.data, buf.size);
    lks_buf_done(&twice);
    lks_buf_done(&buf);
    lks_manifest_free(again);
    lks_manifest_free(manifest);
}

static void the_largest_numbers_come_back(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(LKS_STEP_MAX - 1);
    struct lks_producer_record record = fixture_record("p", UINT64_MAX);
    struct lks_manifest *again;
    struct lks_entry entry;
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_manifest_advance(manifest);
    record.next_seq = UINT64_MAX - 1;
    record.pid = INT64_MIN;
    record.version = UINT64_MAX;
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    entry = fixture_entry(manifest, "p", 64);
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    entry.seq++;
    assert_status(LKS_INVALID,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    assert_message_has("full");
    buf = fixture_encoded(manifest);
    assert_status(LKS_OK,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream, 1,
                                      &again, &error));
    assert_true(lks_manifest_next_step(again) == LKS_STEP_MAX);
    assert_true(lks_manifest_find_producer(again, "p", &record));
    assert_true(record.next_seq == UINT64_MAX);
    assert_true(record.epoch == UINT64_MAX);
    assert_true(record.pid == INT64_MIN);
    lks_buf_done(&buf);
    lks_manifest_free(again);
    lks_manifest_free(manifest);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(2, 5);
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_error error;

    (void)state;
    for (size_t bit = 0; bit < 8 * buf.size; bit++) {
        buf.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        assert_status(LKS_CORRUPT, decode(&buf, 6, &error));
        buf.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    }
    assert_status(LKS_OK, decode(&buf, 6, &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void every_other_size_is_refused(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(2, 5);
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_error error;

    (void)state;
    for (size_t size = 0; size < buf.size; size++) {
        struct lks_buf part = {.size = size, .data = malloc(size + 1)};

        assert_non_null(part.data);
        memcpy(part.data, buf.data, size);
        assert_status(LKS_CORRUPT, decode(&part, 6, &error));
        free(part.data);
    }
    assert_status(LKS_OK, lks_buf_append_zero(&buf, 1, &error));
    assert_status(LKS_CORRUPT, decode(&buf, 6, &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void another_objects_bytes_are_refused(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_buf buf = fixture_encoded(manifest);
    uint8_t other[LKS_ID_SIZE] = {9};
    struct lks_manifest *again;
    struct lks_error error;

    (void)state;
    assert_status(LKS_CORRUPT, decode(&buf, 3, &error));
    assert_message_has("number 2 where 3 belongs");
    assert_status(LKS_CORRUPT, lks_manifest_decode(buf.data, buf.size, other, 2,
                                                   &again, &error));
    assert_message_has("000102030405060708090a0b0c0d0e0f");
    lks_put_u64(buf.data + 44, 0);
    fixture_repair_sections(buf.data);
    assert_status(LKS_CORRUPT, decode(&buf, 0, &error));
    assert_message_has("version 0");
    lks_put_u64(buf.data + 44, 2);
    memcpy(buf.data, "LKSINDX", 8);
    fixture_repair_sections(buf.data);
    assert_status(LKS_CORRUPT, decode(&buf, 2, &error));
    assert_message_has("no manifest");
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_newer_format_is_unsupported(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_error error;

    (void)state;
    lks_put_u32(buf.data + 8, 2);
    lks_put_u32(buf.data + 60, lks_crc32c(buf.data, 60));
    assert_status(LKS_UNSUPPORTED, decode(&buf, 2, &error));
    assert_message_has("format 2");
    lks_put_u32(buf.data + 8, 0);
    lks_put_u32(buf.data + 60, lks_crc32c(buf.data, 60));
    assert_status(LKS_CORRUPT, decode(&buf, 2, &error));
    lks_put_u32(buf.data + 8, 1);
    buf.data[55] = 1;
    lks_put_u32(buf.data + 60, lks_crc32c(buf.data, 60));
    assert_status(LKS_CORRUPT, decode(&buf, 2, &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

/* Sizes in a header that vouches for itself. */
static void impossible_sections_are_refused(void **state)
{
    static const uint32_t sizes[][2] = {{UINT32_MAX, UINT32_MAX},
                                        {UINT32_MAX - 63, 0},
                                        {0, UINT32_MAX},
                                        {LKS_MANIFEST_SIZE_MAX, 0},
                                        {0, 0}};
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_manifest *again;
    struct lks_error error;
    size_t needed;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        lks_put_u32(buf.data + 12, sizes[i][0]);
        lks_put_u32(buf.data + 20, sizes[i][1]);
        lks_put_u32(buf.data + 60, lks_crc32c(buf.data, 60));
        assert_status(LKS_CORRUPT, decode(&buf, 2, &error));
        assert_status(LKS_CORRUPT,
                      lks_manifest_decode_head(buf.data, buf.size,
                                               fixture_stream, 2, &again,
                                               &needed, &error));
    }
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void the_head_is_read_from_as_few_bytes_as_it_has(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 20);
    struct lks_buf buf = fixture_encoded(manifest);
    size_t head_end = 64 + lks_get_u32(buf.data + 12);
    struct lks_error error;

    (void)state;
    for (size_t size = 0; size <= buf.size; size++) {
        struct lks_manifest *head = manifest;
        struct lks_producer_record record;
        uint8_t *part = malloc(size + 1);
        size_t needed = 77;

        assert_non_null(part);
        memcpy(part, buf.data, size);
        assert_status(LKS_OK,
                      lks_manifest_decode_head(part, size, fixture_stream, 21,
                                               &head, &needed, &error));
        free(part);
        if (size < head_end) {
            assert_int_equal(needed, size < 64 ? 64 : head_end);
            assert_null(head);
            continue;
        }
        assert_int_equal(needed, 0);
        assert_int_equal(lks_manifest_next_step(head), 20);
        assert_int_equal(lks_manifest_tail_first(head), 0);
        assert_int_equal(lks_manifest_producer_count(head), 0);
        assert_int_equal(lks_manifest_producers_to_end(head), 0);
        assert_false(lks_manifest_find_producer(head, "p000", &record));
        lks_manifest_free(head);
    }
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_head_alone_can_be_copied(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 20);
    struct lks_buf buf = fixture_encoded(manifest);
    struct lks_manifest *head;
    struct lks_manifest *copy;
    struct lks_error error;
    size_t needed;

    (void)state;
    assert_status(LKS_OK,
                  lks_manifest_decode_head(buf.data, buf.size, fixture_stream,
                                           21, &head, &needed, &error));
    assert_status(LKS_OK, lks_manifest_copy(head, &copy, &error));
    assert_int_equal(lks_manifest_next_step(copy), 20);
    assert_int_equal(lks_manifest_producer_count(copy), 0);
    lks_manifest_free(copy);
    lks_manifest_free(head);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_failure_leaves_the_buffer_as_it_was(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_buf_init(&buf, 100);
    assert_status(LKS_OK, lks_buf_append(&buf, "abc", 3, &error));
    assert_status(LKS_INVALID, lks_manifest_encode(manifest, &buf, &error));
    assert_int_equal(buf.size, 3);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_is_that_of_the_document),
        cmocka_unit_test(all_that_it_says_comes_back),
        cmocka_unit_test(the_largest_numbers_come_back),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_size_is_refused),
        cmocka_unit_test(another_objects_bytes_are_refused),
        cmocka_unit_test(a_newer_format_is_unsupported),
        cmocka_unit_test(impossible_sections_are_refused),
        cmocka_unit_test(the_head_is_read_from_as_few_bytes_as_it_has),
        cmocka_unit_test(a_head_alone_can_be_copied),
        cmocka_unit_test(a_failure_leaves_the_buffer_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
