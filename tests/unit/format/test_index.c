/* Index blocks: a full tail, sealed. */
#include "format/index.h"
#include "format/lakestream.pb-c.h"
#include "support/check.h"
#include "support/format_fixture.h"

static struct lks_buf seal(const struct lks_manifest *manifest)
{
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    assert_status(LKS_OK, lks_index_encode(manifest, &buf, &error));
    return buf;
}

static enum lks_status decode(const uint8_t *bytes,
                              size_t size,
                              uint64_t number,
                              struct lks_error *error)
{
    struct lks_index *index;
    enum lks_status status;

    status =
        lks_index_decode(bytes, size, fixture_stream, number, &index, error);
    if (status == LKS_OK)
        lks_index_free(index);
    return status;
}

static void a_block_has_the_tail_and_the_producers(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 512);
    struct lks_buf buf = seal(manifest);
    struct lks_producer_record record;
    struct lks_index *index;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_index_decode(buf.data, buf.size, fixture_stream,
                                           1, &index, &error));
    assert_int_equal(lks_index_first(index), 256);
    for (uint64_t step = 256; step < 512; step++) {
        struct lks_entry left;
        struct lks_entry right;

        lks_manifest_entry(manifest, step, 2, &left);
        lks_index_entry(index, step, 2, &right);
        assert_int_equal(right.step, step);
        assert_string_equal(right.producer, left.producer);
        assert_int_equal(right.epoch, left.epoch);
        assert_int_equal(right.owner_tag, left.owner_tag);
        assert_int_equal(right.seq, left.seq);
        assert_int_equal(right.size, left.size);
        assert_int_equal(right.version, left.version);
        assert_int_equal(right.total, left.total);
        assert_int_equal(right.footer_crc, left.footer_crc);
        assert_int_equal(right.footer_size, left.footer_size);
        assert_int_equal(right.table.kind, LKS_TABLE_UNIFORM);
    }
    assert_int_equal(lks_index_producer_count(index), 3);
    lks_index_producer(index, 2, &record);
    assert_string_equal(record.id, "p002");
    assert_int_equal(record.next_seq, 170);
    assert_memory_equal(record.offset, "offset 169", 10);
    lks_index_free(index);
    lks_index_free(NULL);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_forks_first_block_begins_where_the_fork_does(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(300);
    struct lks_index *index;
    struct lks_entry entry;
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_manifest_advance(manifest);
    fixture_put(manifest, "p", 1);
    for (int i = 300; i < 512; i++)
        fixture_append(manifest, "p");
    buf = seal(manifest);
    assert_status(LKS_OK, lks_index_decode(buf.data, buf.size, fixture_stream,
                                           1, &index, &error));
    assert_int_equal(lks_index_first(index), 300);
    lks_index_entry(index, 300, 2, &entry);
    assert_int_equal(entry.seq, 0);
    lks_index_entry(index, 511, 2, &entry);
    assert_int_equal(entry.seq, 211);
    lks_index_free(index);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void its_head_is_read_from_as_few_bytes_as_it_has(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_buf buf = seal(manifest);
    size_t head_end = 64 + lks_get_u32(buf.data + 12);
    struct lks_error error;
    struct lks_entry entry;

    (void)state;
    for (size_t size = 0; size <= buf.size; size++) {
        uint8_t *part = malloc(size + 1);
        struct lks_index *index;
        size_t needed;

        assert_non_null(part);
        memcpy(part, buf.data, size);
        assert_status(LKS_OK,
                      lks_index_decode_head(part, size, fixture_stream, 0,
                                            &index, &needed, &error));
        free(part);
        if (size < head_end) {
            assert_int_equal(needed, size < 64 ? 64 : head_end);
            assert_null(index);
            continue;
        }
        assert_int_equal(needed, 0);
        lks_index_entry(index, 255, 2, &entry);
        assert_int_equal(entry.seq, 85);
        assert_int_equal(lks_index_producer_count(index), 0);
        lks_index_free(index);
    }
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void every_flipped_byte_is_refused(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_buf buf = seal(manifest);
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < buf.size; i++) {
        uint8_t mask = (uint8_t)(1 << (i % 8));

        for (int k = 0; k < 2; k++) {
            buf.data[i] ^= mask;
            assert_status(LKS_CORRUPT, decode(buf.data, buf.size, 0, &error));
            buf.data[i] ^= mask;
            mask = 0xff;
        }
    }
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void every_other_size_and_place_is_refused(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_buf manifest_buf = fixture_encoded(manifest);
    struct lks_buf buf = seal(manifest);
    struct lks_error error;

    (void)state;
    for (size_t size = 0; size < buf.size; size++)
        assert_status(LKS_CORRUPT, decode(buf.data, size, 0, &error));
    assert_status(LKS_CORRUPT, decode(buf.data, buf.size, 1, &error));
    assert_message_has("index block is number 0 where 1 belongs");
    assert_status(LKS_CORRUPT,
                  decode(manifest_buf.data, manifest_buf.size, 257, &error));
    assert_message_has("no index block");
    lks_put_u32(buf.data + 8, 2);
    lks_put_u32(buf.data + 60, lks_crc32c(buf.data, 60));
    assert_status(LKS_UNSUPPORTED, decode(buf.data, buf.size, 0, &error));
    lks_buf_done(&manifest_buf);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void impossible_blocks_are_refused(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 256);
    struct lks_buf buf = seal(manifest);
    size_t head_size = lks_get_u32(buf.data + 12);
    struct lks_error error;

    (void)state;
    lks_put_u64(buf.data + 44, LKS_STEP_MAX / LKS_BLOCK_STEPS + 1);
    fixture_repair_sections(buf.data);
    assert_status(LKS_CORRUPT,
                  decode(buf.data, buf.size, LKS_STEP_MAX / LKS_BLOCK_STEPS + 1,
                         &error));
    assert_message_has("no index block has such a number");

    /* Without its entries. */
    lks_put_u64(buf.data + 44, 0);
    lks_put_u32(buf.data + 12, 0);
    memmove(buf.data + 64, buf.data + 64 + head_size,
            buf.size - 64 - head_size);
    fixture_repair_sections(buf.data);
    assert_status(LKS_CORRUPT,
                  decode(buf.data, buf.size - head_size, 0, &error));
    assert_message_has("cannot have 0 entries");
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_required_feature_is_named_and_refused(void **state)
{
    static const uint8_t required[] = "\x0a\x09telepathy";
    struct lks_manifest *manifest = fixture_manifest(1, 256);
    struct lks_buf buf = seal(manifest);
    size_t added = sizeof(required) - 1;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_buf_reserve(&buf, added, &error));
    memmove(buf.data + 64 + added, buf.data + 64, buf.size - 64);
    memcpy(buf.data + 64, required, added);
    lks_put_u32(buf.data + 12, lks_get_u32(buf.data + 12) + (uint32_t)added);
    fixture_repair_sections(buf.data);
    assert_status(LKS_UNSUPPORTED,
                  decode(buf.data, buf.size + added, 0, &error));
    assert_message_has("\"telepathy\"");
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static bool equal(const struct lks_buf *left, const struct lks_buf *right)
{
    struct lks_error error;
    bool result;

    assert_status(LKS_OK, lks_index_compare(left, right, fixture_stream, 0,
                                            &result, &error));
    return result;
}

static void two_who_seal_one_manifest_agree(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_manifest *copy;
    struct lks_error error;
    struct lks_buf left;
    struct lks_buf right;

    (void)state;
    assert_status(LKS_OK, lks_manifest_copy(manifest, &copy, &error));
    left = seal(manifest);
    right = seal(copy);
    assert_true(equal(&left, &right));
    lks_buf_done(&left);
    lks_buf_done(&right);
    lks_manifest_free(manifest);
    lks_manifest_free(copy);
}

static void a_block_of_other_entries_or_producers_differs(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_manifest *others = fixture_manifest(2, 256);
    struct lks_buf left = seal(manifest);
    struct lks_buf right = seal(others);

    (void)state;
    assert_false(equal(&left, &right));
    lks_buf_done(&right);

    fixture_put(manifest, "p001", 2);
    right = seal(manifest);
    assert_false(equal(&left, &right));
    lks_buf_done(&left);
    lks_buf_done(&right);
    lks_manifest_free(manifest);
    lks_manifest_free(others);
}

/* The same messages as another encoder may write them: in the head section the
 * entries come first, and then the writers. */
static struct lks_buf encode_otherwise(const struct lks_buf *block)
{
    size_t head_size = lks_get_u32(block->data + 12);
    Lks__IndexHead *head =
        lks__index_head__unpack(NULL, head_size, block->data + 64);
    Lks__IndexHead part;
    uint8_t *packed = malloc(head_size);
    struct lks_error error;
    struct lks_buf buf;
    size_t size;

    assert_non_null(head);
    assert_non_null(packed);
    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    assert_status(LKS_OK, lks_buf_append(&buf, block->data, 64, &error));
    part = *head;
    part.n_writers = 0;
    size = lks__index_head__pack(&part, packed);
    assert_status(LKS_OK, lks_buf_append(&buf, packed, size, &error));
    part = *head;
    part.n_entries = 0;
    size = lks__index_head__pack(&part, packed);
    assert_status(LKS_OK, lks_buf_append(&buf, packed, size, &error));
    assert_status(LKS_OK, lks_buf_append(&buf, block->data + 64 + head_size,
                                         block->size - 64 - head_size, &error));
    fixture_repair_sections(buf.data);
    lks__index_head__free_unpacked(head, NULL);
    free(packed);
    return buf;
}

static void the_same_in_other_bytes_is_equal(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_buf left = seal(manifest);
    struct lks_buf right = encode_otherwise(&left);

    (void)state;
    assert_int_equal(left.size, right.size);
    assert_memory_not_equal(left.data, right.data, left.size);
    assert_true(equal(&left, &right));
    lks_buf_done(&left);
    lks_buf_done(&right);
    lks_manifest_free(manifest);
}

static void a_damaged_block_is_no_answer(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_buf left = seal(manifest);
    struct lks_buf right = seal(manifest);
    struct lks_error error;
    bool result = true;

    (void)state;
    right.data[100] ^= 1;
    assert_status(LKS_CORRUPT, lks_index_compare(&left, &right, fixture_stream,
                                                 0, &result, &error));
    assert_true(result);
    lks_buf_done(&left);
    lks_buf_done(&right);
    lks_manifest_free(manifest);
}

static void damage_under_right_checksums_breaks_nothing(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 256);
    struct lks_buf good = seal(manifest);
    uint64_t random = fixture_seed();
    struct lks_error error;
    unsigned used = 0;
    uint8_t *bytes;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)random);
    bytes = malloc(good.size + 16);
    assert_non_null(bytes);
    for (int round = 0; round < 5000; round++) {
        size_t head_size = lks_get_u32(good.data + 12);
        size_t control_size = lks_get_u32(good.data + 20);
        struct lks_index *index;
        enum lks_status status;

        memcpy(bytes, good.data, good.size);
        if (round % 2 == 0) {
            /* In place, so that what follows keeps its place. */
            bytes[64 + fixture_random(&random) % head_size] =
                (uint8_t)fixture_random(&random);
        } else {
            control_size =
                fixture_mutate(bytes + 64 + head_size, control_size, &random);
            lks_put_u32(bytes + 20, (uint32_t)control_size);
        }
        fixture_repair_sections(bytes);
        status = lks_index_decode(bytes, 64 + head_size + control_size,
                                  fixture_stream, 0, &index, &error);
        assert_true(status == LKS_OK || status == LKS_CORRUPT ||
                    status == LKS_UNSUPPORTED);
        if (status == LKS_OK) {
            struct lks_entry entry;

            used++;
            for (uint64_t step = lks_index_first(index); step < 256; step++)
                lks_index_entry(index, step, 2, &entry);
            lks_index_free(index);
        }
    }
    assert_true(used > 50);
    free(bytes);
    lks_buf_done(&good);
    lks_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_has_the_tail_and_the_producers),
        cmocka_unit_test(a_forks_first_block_begins_where_the_fork_does),
        cmocka_unit_test(its_head_is_read_from_as_few_bytes_as_it_has),
        cmocka_unit_test(every_flipped_byte_is_refused),
        cmocka_unit_test(every_other_size_and_place_is_refused),
        cmocka_unit_test(impossible_blocks_are_refused),
        cmocka_unit_test(a_required_feature_is_named_and_refused),
        cmocka_unit_test(two_who_seal_one_manifest_agree),
        cmocka_unit_test(a_block_of_other_entries_or_producers_differs),
        cmocka_unit_test(the_same_in_other_bytes_is_equal),
        cmocka_unit_test(a_damaged_block_is_no_answer),
        cmocka_unit_test(damage_under_right_checksums_breaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
