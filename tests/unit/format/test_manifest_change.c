/* Building versions: what each change does, and what it leaves alone. */
#include "format/manifest.h"
#include "support/check.h"
#include "support/format_fixture.h"

static void version_0_is_what_the_descriptor_says(void **state)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_manifest *manifest;
    struct lks_error error;

    (void)state;
    descriptor.producers_to_end = 3;
    descriptor.max_live_steps = 100;
    descriptor.max_live_bytes = 1000;
    descriptor.first_step = 300;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    assert_memory_equal(lks_manifest_stream(manifest), fixture_stream,
                        LKS_ID_SIZE);
    assert_int_equal(lks_manifest_version(manifest), 0);
    assert_int_equal(lks_manifest_next_step(manifest), 300);
    assert_int_equal(lks_manifest_first_live_step(manifest), 300);
    assert_int_equal(lks_manifest_claimed(manifest), 300);
    assert_int_equal(lks_manifest_tail_first(manifest), 300);
    assert_int_equal(lks_manifest_total_bytes(manifest), 0);
    assert_int_equal(lks_manifest_live_bytes(manifest), 0);
    assert_int_equal(lks_manifest_max_live_steps(manifest), 100);
    assert_int_equal(lks_manifest_max_live_bytes(manifest), 1000);
    assert_int_equal(lks_manifest_producers_to_end(manifest), 3);
    assert_int_equal(lks_manifest_producer_count(manifest), 0);
    assert_false(lks_manifest_is_full(manifest));
    assert_false(lks_manifest_ended(manifest));
    assert_false(lks_manifest_dropped(manifest));
    assert_false(lks_manifest_tail_is_full(manifest));
    lks_manifest_free(manifest);
    lks_manifest_free(NULL);
}

static void an_append_moves_step_totals_and_producer_on(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_producer_record record;
    struct lks_entry entry;
    struct lks_error error;

    (void)state;
    lks_manifest_advance(manifest);
    entry = fixture_entry(manifest, "p000", 192);
    entry.step = entry.version = entry.total = 999;
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, "here", 4, &error));

    assert_int_equal(lks_manifest_version(manifest), 3);
    assert_int_equal(lks_manifest_next_step(manifest), 2);
    assert_int_equal(lks_manifest_total_bytes(manifest),
                     2 * 128 + 2 * 192 + 2 * FIXTURE_FOOTER);
    assert_int_equal(lks_manifest_live_bytes(manifest),
                     lks_manifest_total_bytes(manifest));
    lks_manifest_entry(manifest, 1, FIXTURE_SLICES, &entry);
    assert_int_equal(entry.step, 1);
    assert_int_equal(entry.version, 3);
    assert_int_equal(entry.total, lks_manifest_total_bytes(manifest));
    assert_int_equal(entry.seq, 1);
    assert_int_equal(entry.epoch, 1);
    assert_int_equal(entry.owner_tag, 0x01beef00);
    assert_int_equal(entry.table.kind, LKS_TABLE_UNIFORM);
    assert_int_equal(entry.table.uniform, 192);
    assert_string_equal(entry.producer, "p000");

    assert_true(lks_manifest_find_producer(manifest, "p000", &record));
    assert_int_equal(record.next_seq, 2);
    assert_int_equal(record.version, 3);
    assert_int_equal(record.offset_size, 4);
    assert_memory_equal(record.offset, "here", 4);
    lks_manifest_free(manifest);
}

static void a_small_table_is_kept_in_the_entry(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 0);
    static const uint64_t frames[2] = {64, 320};
    struct lks_entry entry = fixture_entry(manifest, "p000", 192);
    struct lks_error error;

    (void)state;
    entry.table.kind = LKS_TABLE_INLINE;
    entry.table.frames = frames;
    entry.raw_max = 1000;
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    lks_manifest_entry(manifest, 0, 2, &entry);
    assert_int_equal(entry.table.kind, LKS_TABLE_INLINE);
    assert_int_equal(entry.table.count, 2);
    assert_int_equal(entry.table.frames[0], 64);
    assert_int_equal(entry.table.frames[1], 320);
    assert_int_equal(entry.raw_max, 1000);

    entry.table.kind = LKS_TABLE_FOOTER;
    entry.seq = 1;
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    lks_manifest_entry(manifest, 1, 2, &entry);
    assert_int_equal(entry.table.kind, LKS_TABLE_FOOTER);
    assert_null(entry.table.frames);
    lks_manifest_free(manifest);
}

/* A reader then looks at the object's own table, which is checked. */
static void a_table_for_another_mesh_is_not_trusted(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    static const uint64_t frames[2] = {64, 320};
    struct lks_entry entry = fixture_entry(manifest, "p000", 192);
    struct lks_error error;

    (void)state;
    entry.table.kind = LKS_TABLE_INLINE;
    entry.table.frames = frames;
    assert_status(LKS_OK,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    for (uint64_t step = 0; step < 2; step++) {
        lks_manifest_entry(manifest, step, 3, &entry);
        assert_int_equal(entry.table.kind, LKS_TABLE_FOOTER);
        assert_int_equal(entry.table.count, 3);
    }
    lks_manifest_free(manifest);
}

static void a_full_tail_is_emptied_by_the_next_version(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 255);
    struct lks_entry entry;

    (void)state;
    assert_false(lks_manifest_tail_is_full(manifest));
    lks_manifest_advance(manifest);
    fixture_append(manifest, "p000");
    assert_true(lks_manifest_tail_is_full(manifest));
    assert_int_equal(lks_manifest_tail_first(manifest), 0);
    lks_manifest_entry(manifest, 255, 2, &entry);
    assert_int_equal(entry.step, 255);

    lks_manifest_advance(manifest);
    assert_false(lks_manifest_tail_is_full(manifest));
    assert_int_equal(lks_manifest_tail_first(manifest), 256);
    assert_int_equal(lks_manifest_next_step(manifest), 256);
    fixture_append(manifest, "p001");
    lks_manifest_entry(manifest, 256, 2, &entry);
    assert_int_equal(entry.step, 256);
    assert_string_equal(entry.producer, "p001");
    lks_manifest_free(manifest);
}

static void a_forks_first_block_is_short(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(300);

    (void)state;
    lks_manifest_advance(manifest);
    fixture_put(manifest, "p", 1);
    for (int i = 300; i < 512; i++) {
        assert_false(lks_manifest_tail_is_full(manifest));
        fixture_append(manifest, "p");
    }
    assert_true(lks_manifest_tail_is_full(manifest));
    assert_int_equal(lks_manifest_tail_first(manifest), 300);
    lks_manifest_advance(manifest);
    assert_int_equal(lks_manifest_tail_first(manifest), 512);
    lks_manifest_free(manifest);
}

static void only_the_next_seq_of_the_owner_is_appended(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 5);
    struct lks_entry entry = fixture_entry(manifest, "p000", 64);
    struct lks_buf before = fixture_encoded(manifest);
    struct lks_buf after;
    struct lks_error error;

    (void)state;
    entry.seq = 4;
    assert_status(LKS_INVALID,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    assert_message_has("seq 4 where 5 is next");
    entry.seq = 6;
    assert_status(LKS_INVALID,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    entry.seq = 5;
    entry.epoch = 2;
    assert_status(LKS_FENCED,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    assert_message_has("node-1, pid 4242");
    entry.epoch = 1;
    entry.owner_tag++;
    assert_status(LKS_FENCED,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    entry.owner_tag--;
    entry.producer = "nobody";
    assert_status(LKS_INVALID,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    after = fixture_encoded(manifest);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    lks_buf_done(&before);
    lks_buf_done(&after);
    lks_manifest_free(manifest);
}

static void an_entry_that_no_reader_would_take_is_not_appended(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 0);
    static const uint64_t frames[2] = {64, 64};
    struct lks_error error;

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct lks_entry entry = fixture_entry(manifest, "p000", 128);

        entry.size = i == 0 ? 0 : i == 1 ? entry.size + 1 : entry.size;
        entry.footer_size = i == 2 ? 31 : entry.footer_size;
        entry.raw_max = i == 3 ? LKS_SLICE_SIZE_MAX + 1 : 0;
        entry.table.uniform = i == 4 ? 32 : 128;
        if (i == 5) {
            entry.table.kind = LKS_TABLE_INLINE;
            entry.table.frames = frames;
        }
        assert_status(LKS_INVALID,
                      lks_manifest_append(manifest, &entry, NULL, 0, &error));
        assert_message_has("p000");
    }
    assert_int_equal(lks_manifest_next_step(manifest), 0);
    lks_manifest_free(manifest);
}

static void nothing_is_appended_after_the_end(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 3);
    struct lks_entry entry = fixture_entry(manifest, "p000", 64);
    struct lks_error error;

    (void)state;
    lks_manifest_advance(manifest);
    lks_manifest_end(manifest);
    assert_true(lks_manifest_ended(manifest));
    assert_status(LKS_ENDED,
                  lks_manifest_append(manifest, &entry, NULL, 0, &error));
    assert_message_has("ended at step 3");
    lks_manifest_end(manifest);
    assert_int_equal(lks_manifest_next_step(manifest), 3);
    lks_manifest_free(manifest);
}

static void finish(struct lks_manifest *manifest, const char *id)
{
    struct lks_producer_record record;
    struct lks_error error;

    assert_true(lks_manifest_find_producer(manifest, id, &record));
    record.finished = true;
    record.epoch++;
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
}

static void it_ends_when_enough_are_finished_and_none_is_not(void **state)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_manifest *manifest;
    struct lks_error error;

    (void)state;
    descriptor.producers_to_end = 2;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    lks_manifest_advance(manifest);
    lks_manifest_end_if_complete(manifest);
    assert_false(lks_manifest_ended(manifest));

    fixture_put(manifest, "a", 1);
    finish(manifest, "a");
    lks_manifest_end_if_complete(manifest);
    assert_false(lks_manifest_ended(manifest)); /* One of two. */

    fixture_put(manifest, "b", 1);
    fixture_put(manifest, "c", 1);
    finish(manifest, "b");
    lks_manifest_end_if_complete(manifest);
    assert_false(lks_manifest_ended(manifest)); /* Two, but c goes on. */

    finish(manifest, "c");
    lks_manifest_end_if_complete(manifest);
    assert_true(lks_manifest_ended(manifest));
    lks_manifest_free(manifest);
}

static void without_a_number_only_a_seal_ends_it(void **state)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_manifest *manifest;
    struct lks_error error;

    (void)state;
    descriptor.producers_to_end = 0;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    lks_manifest_advance(manifest);
    fixture_put(manifest, "a", 1);
    finish(manifest, "a");
    lks_manifest_end_if_complete(manifest);
    assert_false(lks_manifest_ended(manifest));
    lks_manifest_end(manifest);
    assert_true(lks_manifest_ended(manifest));
    lks_manifest_free(manifest);
}

static void an_append_clears_finished_and_opening_does_not(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 2);
    struct lks_producer_record record;

    (void)state;
    lks_manifest_advance(manifest);
    finish(manifest, "p000");
    assert_true(lks_manifest_find_producer(manifest, "p000", &record));
    assert_true(record.finished);
    assert_int_equal(record.epoch, 2);
    fixture_append(manifest, "p000");
    assert_true(lks_manifest_find_producer(manifest, "p000", &record));
    assert_false(record.finished);
    lks_manifest_free(manifest);
}

static void limits_hold_appends_back_by_what_is_claimed(void **state)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_manifest *manifest;
    struct lks_error error;

    (void)state;
    descriptor.max_live_steps = 3;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    lks_manifest_advance(manifest);
    fixture_put(manifest, "p", 1);
    fixture_append(manifest, "p");
    fixture_append(manifest, "p");
    assert_false(lks_manifest_is_full(manifest));
    fixture_append(manifest, "p");
    assert_true(lks_manifest_is_full(manifest));
    lks_manifest_free(manifest);

    descriptor.max_live_steps = 0;
    descriptor.max_live_bytes = 2 * (2 * 128 + FIXTURE_FOOTER);
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    lks_manifest_advance(manifest);
    fixture_put(manifest, "p", 1);
    fixture_append(manifest, "p");
    assert_false(lks_manifest_is_full(manifest));
    fixture_append(manifest, "p");
    assert_true(lks_manifest_is_full(manifest));
    lks_manifest_free(manifest);
}

static void producers_are_found_whatever_the_order_of_coming(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(0);
    struct lks_producer_record record;
    char before[16] = "";
    char id[16];

    (void)state;
    lks_manifest_advance(manifest);
    for (unsigned i = 0; i < 500; i++) {
        snprintf(id, sizeof(id), "p%u", i * 271 % 500);
        fixture_put(manifest, id, i + 1);
    }
    assert_int_equal(lks_manifest_producer_count(manifest), 500);
    for (uint32_t i = 0; i < 500; i++) {
        lks_manifest_producer(manifest, i, &record);
        assert_true(strcmp(before, record.id) < 0);
        snprintf(before, sizeof(before), "%s", record.id);
    }
    for (unsigned i = 0; i < 500; i++) {
        snprintf(id, sizeof(id), "p%u", i * 271 % 500);
        assert_true(lks_manifest_find_producer(manifest, id, &record));
        assert_int_equal(record.epoch, i + 1);
        assert_string_equal(record.id, id);
    }
    assert_false(lks_manifest_find_producer(manifest, "p", &record));
    assert_false(lks_manifest_find_producer(manifest, "p500", &record));
    lks_manifest_free(manifest);
}

static void a_record_read_from_it_may_be_put_back(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(1, 1);
    struct lks_producer_record record;
    struct lks_error error;
    const char *id;

    (void)state;
    assert_true(lks_manifest_find_producer(manifest, "p000", &record));
    id = record.id;
    record.epoch = 2;
    record.pid = -1;
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    assert_string_equal(id, "p000"); /* Still there for messages. */
    assert_true(lks_manifest_find_producer(manifest, "p000", &record));
    assert_int_equal(record.epoch, 2);
    assert_int_equal(record.pid, -1);
    assert_int_equal(record.next_seq, 1);
    assert_string_equal(record.host, "node-1");
    assert_memory_equal(record.offset, "offset 0", record.offset_size);
    assert_int_equal(lks_manifest_producer_count(manifest), 1);
    lks_manifest_free(manifest);
}

static void a_hosts_name_becomes_printable(void **state)
{
    struct lks_manifest *manifest = fixture_genesis(0);
    struct lks_producer_record record = fixture_record("p", 1);
    struct lks_error error;
    char host[200];

    (void)state;
    memset(host, 'h', sizeof(host));
    host[0] = '\n';
    host[1] = '\xc3';
    host[199] = '\0';
    record.host = host;
    lks_manifest_advance(manifest);
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    assert_true(lks_manifest_find_producer(manifest, "p", &record));
    assert_int_equal(strlen(record.host), 63);
    assert_memory_equal(record.host, "??hhh", 5);
    record.host = NULL;
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    assert_true(lks_manifest_find_producer(manifest, "p", &record));
    assert_string_equal(record.host, "");
    lks_manifest_free(manifest);
}

static void a_copy_goes_its_own_way(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(2, 10);
    struct lks_buf before = fixture_encoded(manifest);
    struct lks_manifest *copy;
    struct lks_error error;
    struct lks_buf after;

    (void)state;
    assert_status(LKS_OK, lks_manifest_copy(manifest, &copy, &error));
    after = fixture_encoded(copy);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    lks_buf_done(&after);

    lks_manifest_advance(copy);
    fixture_append(copy, "p000");
    fixture_put(copy, "p002", 1);
    lks_manifest_end(copy);
    after = fixture_encoded(manifest);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    lks_manifest_free(manifest);
    assert_int_equal(lks_manifest_next_step(copy), 11);
    lks_manifest_free(copy);
    lks_buf_done(&before);
    lks_buf_done(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_0_is_what_the_descriptor_says),
        cmocka_unit_test(an_append_moves_step_totals_and_producer_on),
        cmocka_unit_test(a_small_table_is_kept_in_the_entry),
        cmocka_unit_test(a_table_for_another_mesh_is_not_trusted),
        cmocka_unit_test(a_full_tail_is_emptied_by_the_next_version),
        cmocka_unit_test(a_forks_first_block_is_short),
        cmocka_unit_test(only_the_next_seq_of_the_owner_is_appended),
        cmocka_unit_test(an_entry_that_no_reader_would_take_is_not_appended),
        cmocka_unit_test(nothing_is_appended_after_the_end),
        cmocka_unit_test(it_ends_when_enough_are_finished_and_none_is_not),
        cmocka_unit_test(without_a_number_only_a_seal_ends_it),
        cmocka_unit_test(an_append_clears_finished_and_opening_does_not),
        cmocka_unit_test(limits_hold_appends_back_by_what_is_claimed),
        cmocka_unit_test(producers_are_found_whatever_the_order_of_coming),
        cmocka_unit_test(a_record_read_from_it_may_be_put_back),
        cmocka_unit_test(a_hosts_name_becomes_printable),
        cmocka_unit_test(a_copy_goes_its_own_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
