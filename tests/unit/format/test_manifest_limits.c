/* What a stream may hold, and what it says at the first thing too many. */
#include "format/manifest.h"
#include "support/check.h"
#include "support/format_fixture.h"

static void the_4097th_producer_is_refused_with_the_way_out(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(0);
    struct lks_producer_record record;
    struct lks_error error;
    char id[16];

    (void)state;
    lks_manifest_advance(manifest);
    for (unsigned i = 0; i < LKS_PRODUCERS_MAX; i++) {
        snprintf(id, sizeof(id), "p%u", i);
        fixture_put(manifest, id, 1);
    }
    record = fixture_record("one-more", 1);
    assert_status(LKS_INVALID,
                  lks_manifest_put_producer(manifest, &record, &error));
    assert_message_has("one-more");
    assert_message_has("4096");
    assert_message_has("use stable ids");
    fixture_put(manifest, "p7", 2); /* Those that are in it go on. */
    assert_int_equal(lks_manifest_producer_count(manifest), LKS_PRODUCERS_MAX);
    lks_manifest_free(manifest);
}

/* Producers with long ids and offsets, until one is too many; *out_count is
 * how many went in. */
static struct lks_manifest *fill_map(unsigned *out_count)
{
    struct lks_manifest *manifest = fixture_genesis(0);
    enum lks_status status = LKS_OK;
    char offset[LKS_OFFSET_SIZE_MAX];
    struct lks_error error;
    unsigned count;

    memset(offset, 'o', sizeof(offset));
    lks_manifest_advance(manifest);
    for (count = 0; status == LKS_OK; count++) {
        struct lks_producer_record record;
        char id[65];

        snprintf(id, sizeof(id), "p%063u", count);
        record = fixture_record(id, 1);
        record.offset = offset;
        record.offset_size = sizeof(offset);
        status = lks_manifest_put_producer(manifest, &record, &error);
        if (status != LKS_OK)
            assert_message_has(id);
    }
    assert_int_equal(status, LKS_INVALID);
    assert_message_has("1048576 bytes");
    assert_message_has("use stable ids");
    *out_count = count - 1;
    return manifest;
}

static void the_map_of_producers_holds_1_mib(void **state)
{
    struct lks_manifest *manifest;
    struct lks_buf buf;
    unsigned count;
    uint32_t size;

    (void)state;
    manifest = fill_map(&count);
    assert_int_equal(lks_manifest_producer_count(manifest), count);
    buf = fixture_encoded(manifest);
    size = lks_get_u32(buf.data + 20);
    /* All but the last bit of it, and two bytes for producers_to_end. */
    assert_true(size <= LKS_PRODUCERS_SIZE_MAX + 2);
    assert_true(size > LKS_PRODUCERS_SIZE_MAX - 400);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_full_map_still_takes_what_does_not_grow_it(void **state)
{
    struct lks_producer_record record;
    struct lks_manifest *manifest;
    struct lks_entry entry;
    struct lks_error error;
    unsigned count;
    char id[65];

    (void)state;
    manifest = fill_map(&count);
    snprintf(id, sizeof(id), "p%063u", 0);
    fixture_put(manifest, id, 2); /* Without its offset: that makes room. */
    entry = fixture_entry(manifest, id, 64);
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, "abc", 3, &error));
    assert_true(lks_manifest_find_producer(manifest, id, &record));
    assert_int_equal(record.offset_size, 3);
    lks_manifest_free(manifest);
}

/* What a newer library keeps beside the map is not counted as the map's. */
static void only_the_map_counts_as_the_map(void **state)
{
    static const uint8_t key[] = {0xc2, 0x3e, 0x80, 0x80, 0x40}; /* 1 MiB */
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_buf buf = fixture_encoded(manifest);
    uint32_t added = sizeof(key) + LKS_PRODUCERS_SIZE_MAX;
    struct lks_error error;

    (void)state;
    lks_manifest_free(manifest);
    assert_status(LKS_OK, lks_buf_append(&buf, key, sizeof(key), &error));
    assert_status(LKS_OK,
                  lks_buf_append_zero(&buf, LKS_PRODUCERS_SIZE_MAX, &error));
    lks_put_u32(buf.data + 20, lks_get_u32(buf.data + 20) + added);
    fixture_repair_sections(buf.data);
    assert_status(LKS_OK,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream, 2,
                                      &manifest, &error));
    lks_manifest_advance(manifest);
    fixture_put(manifest, "p001", 1);
    fixture_append(manifest, "p000");
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_record_that_grows_a_full_map_is_refused(void **state)
{
    char offset[LKS_OFFSET_SIZE_MAX] = {0};
    struct lks_producer_record record;
    struct lks_manifest *manifest;
    struct lks_buf before;
    struct lks_buf after;
    struct lks_error error;
    unsigned count;
    char id[65];

    (void)state;
    manifest = fill_map(&count);
    before = fixture_encoded(manifest);
    snprintf(id, sizeof(id), "p%063u", 7);
    assert_true(lks_manifest_find_producer(manifest, id, &record));
    record.epoch = UINT64_MAX;
    record.next_seq = UINT64_MAX;
    record.version = UINT64_MAX;
    record.pid = -1;
    record.host =
        "a-host-whose-name-has-as-many-letters-as-a-name-may-have-here";
    record.offset = offset;
    /* Small growth may still fit in what is left at the end of the map. */
    while (lks_manifest_put_producer(manifest, &record, &error) == LKS_OK) {
        lks_buf_done(&before);
        before = fixture_encoded(manifest);
        snprintf(id, sizeof(id), "p%063u", ++count % 1000 + 8);
        record.id = id;
    }
    assert_int_equal(error.status, LKS_INVALID);
    assert_message_has(id);
    after = fixture_encoded(manifest);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    lks_buf_done(&before);
    lks_buf_done(&after);
    lks_manifest_free(manifest);
}

static void an_append_may_not_grow_a_full_map(void **state)
{
    struct lks_producer_record record = fixture_record("a", 1);
    char offset[LKS_OFFSET_SIZE_MAX] = {0};
    struct lks_manifest *manifest;
    struct lks_entry entry;
    struct lks_error error;
    unsigned count;
    unsigned size;

    (void)state;
    manifest = fill_map(&count);
    /* The largest that still goes in. */
    record.offset = offset;
    for (size = LKS_OFFSET_SIZE_MAX; size > 0; size--) {
        record.offset_size = size;
        if (lks_manifest_put_producer(manifest, &record, NULL) == LKS_OK)
            break;
    }
    assert_true(size < LKS_OFFSET_SIZE_MAX);
    entry = fixture_entry(manifest, "a", 64);
    assert_status(LKS_INVALID, lks_manifest_append(manifest, &entry, offset,
                                                   sizeof(offset), &error));
    assert_message_has("producer a ");
    assert_int_equal(lks_manifest_next_step(manifest), 0);
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    lks_manifest_free(manifest);
}

static void an_offset_has_up_to_256_bytes(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 0);
    struct lks_producer_record record = fixture_record("p000", 1);
    struct lks_entry entry = fixture_entry(manifest, "p000", 64);
    struct lks_error error;
    char offset[257];

    (void)state;
    memset(offset, 'o', sizeof(offset));
    assert_status(LKS_INVALID,
                  lks_manifest_append(manifest, &entry, offset, 257, &error));
    assert_message_has("257 bytes");
    assert_int_equal(lks_manifest_next_step(manifest), 0);
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, offset, 256, &error));

    record.offset = offset;
    record.offset_size = 257;
    assert_status(LKS_INVALID,
                  lks_manifest_put_producer(manifest, &record, &error));
    record.offset_size = 256;
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    lks_manifest_free(manifest);
}

static void a_producer_that_has_no_valid_id_is_refused(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(0);
    struct lks_producer_record record = fixture_record("a/b", 1);
    struct lks_error error;

    (void)state;
    lks_manifest_advance(manifest);
    assert_status(LKS_INVALID,
                  lks_manifest_put_producer(manifest, &record, &error));
    assert_message_has("a/b");
    lks_manifest_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_4097th_producer_is_refused_with_the_way_out),
        cmocka_unit_test(the_map_of_producers_holds_1_mib),
        cmocka_unit_test(a_full_map_still_takes_what_does_not_grow_it),
        cmocka_unit_test(only_the_map_counts_as_the_map),
        cmocka_unit_test(a_record_that_grows_a_full_map_is_refused),
        cmocka_unit_test(an_append_may_not_grow_a_full_map),
        cmocka_unit_test(an_offset_has_up_to_256_bytes),
        cmocka_unit_test(a_producer_that_has_no_valid_id_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
