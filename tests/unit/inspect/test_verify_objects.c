/*
 * Verification says nothing of a sound stream, and finds damaged and missing
 * objects, blocks and what their names give away.
 */
#include "format/index.h"
#include "inspect/findings.h"
#include "support/torture.h"
#include "support/verify_check.h"

/* -------------------------------------------------------- sound streams -- */

static void an_empty_stream_is_sound(void **state)
{
    (void)state;
    forge_init(&forge, 2, 2, 0);
    assert_sound(true);
}

static void a_long_stream_is_sound_and_counted(void **state)
{
    json_t *report;

    (void)state;
    forge_init(&forge, 2, 2, 3);
    forge_fill(&forge, 400, 7);
    forge_open(&forge, 1);
    forge_fill(&forge, 600, 5);
    for (uint32_t i = 0; i < 3; i++)
        forge_finish(&forge, i);

    report = verify(true);
    if (!json_is_true(json_object_get(report, "ok")))
        fail_with(report, "a sound stream has problems");
    assert_int_equal(number(report, "steps"), 600);
    assert_int_equal(number(report, "blocks"), 2);
    assert_int_equal(number(report, "producers"), 3);
    assert_int_equal(number(report, "manifests"),
                     lks_manifest_version(forge.head));
    assert_int_equal(number(report, "bytes"),
                     lks_manifest_total_bytes(forge.head));
    assert_int_equal(number(report, "unnamed_objects"), 0);
    assert_int_equal(number(report, "note_count"), 0);
    json_decref(report);
}

static void a_fork_is_sound(void **state)
{
    json_t *report;

    (void)state;
    forge_init_fork(&forge, 300, 2);
    forge_fill(&forge, 400, 7);
    assert_sound(true);
    forge_fill(&forge, 900, 50);
    report = verify(true);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_int_equal(number(report, "steps"), 600);
    assert_int_equal(number(report, "blocks"), 2);
    json_decref(report);
}

static void every_table_and_codec_is_sound(void **state)
{
    static const enum lks_codec codecs[] = {LKS_CODEC_NONE, LKS_CODEC_LZ4,
                                            LKS_CODEC_ZSTD};

    (void)state;
    for (uint32_t dp = 2; dp <= 12; dp += 10) {
        forge_init(&forge, dp, 1, 1);
        for (size_t i = 0; i < 3; i++) {
            forge.codec = codecs[i];
            forge.uneven = false;
            forge_append(&forge, 0, 2);
            forge.uneven = true;
            forge_append(&forge, 0, 2);
        }
        assert_sound(true);
        if (dp == 2)
            forge_done(&forge);
    }
}

static void frames_larger_than_a_piece_are_read(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 1);
    forge.slice_size = (9u << 20) + 5;
    forge_append(&forge, 0, 1);
    assert_sound(true);
    forge_data_name(&forge, 0, 0, name);
    forge_flip(&forge, name, 10 << 20);
    assert_found(true, 1, name, "slice 1 has a wrong checksum");
}

/* ------------------------------------------------------- damaged objects -- */

static void a_missing_object_is_found(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 2);
    forge_fill(&forge, 300, 9);
    forge_data_name(&forge, 1, 5, name);
    forge_remove(&forge, name);
    assert_found(false, 1, name, "is missing");
}

static void an_object_of_another_size_is_found(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 1);
    forge_append(&forge, 0, 3);
    forge_data_name(&forge, 0, 1, name);
    forge_resize(&forge, name, 64);
    assert_found(false, 1, name, "were committed");
    forge_resize(&forge, name, -65);
    assert_found(false, 1, name, "were committed");
}

static void a_flipped_byte_anywhere_in_an_object_is_found(void **state)
{
    struct lks_error error;
    struct lks_call call = LKS_CALL_INIT;
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 1);
    forge_append(&forge, 0, 3);
    forge_data_name(&forge, 0, 1, name);
    assert_status(LKS_OK,
                  lks_store_stat(forge.stream->store, name, &call, &error));
    for (uint64_t at = 0; at < call.object_size; at++) {
        forge_flip(&forge, name, (int64_t)at);
        assert_found(true, 1, name, "");
        forge_flip(&forge, name, (int64_t)at);
    }
    assert_sound(true);
}

static void a_flipped_payload_needs_data_to_be_found(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 1);
    forge.codec = LKS_CODEC_ZSTD;
    forge_append(&forge, 0, 3);
    forge_data_name(&forge, 0, 1, name);
    forge_flip(&forge, name, 70);
    assert_sound(false);
    assert_found(true, 1, name, "slice 0 has a wrong checksum");
}

static void the_bytes_of_another_tgb_are_found(void **state)
{
    char from[LKS_NAME_SIZE];
    char to[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 1);
    forge_append(&forge, 0, 3);
    forge_data_name(&forge, 0, 1, from);
    forge_data_name(&forge, 0, 2, to);
    forge_copy(&forge, from, to);
    assert_found(false, 1, to, "not the one that was committed");
}

static void many_problems_are_counted_and_not_kept(void **state)
{
    char name[LKS_NAME_SIZE];
    json_t *report;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 300, 50);
    for (uint64_t seq = 0; seq < 250; seq++) {
        forge_data_name(&forge, 0, seq, name);
        forge_remove(&forge, name);
    }
    report = verify(false);
    assert_int_equal(number(report, "problem_count"), 250);
    assert_int_equal(json_array_size(json_object_get(report, "problems")),
                     LKS_FINDINGS_MAX);
    json_decref(report);
}

/* ----------------------------------------------- blocks and their names -- */

static void a_missing_block_is_found(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 800, 50);
    forge_remove(&forge, "index/0000000000000001");
    assert_found(false, 1, "index/0000000000000001", "is missing");
}

static void a_block_that_its_manifest_has_just_filled_may_be_missing(
    void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 512, 64);
    forge_remove(&forge, "index/0000000000000001");
    assert_sound(true);
}

static void a_flipped_byte_in_a_block_is_found(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 800, 50);
    for (int64_t at = 0; at < 4000; at += 97) {
        forge_flip(&forge, "index/0000000000000001", at);
        assert_found(false, 1, "index/0000000000000001", "");
        forge_flip(&forge, "index/0000000000000001", at);
    }
    assert_sound(true);
}

static void a_block_that_its_manifest_would_not_make_is_found(void **state)
{
    struct lks_manifest *copy = NULL;
    struct lks_error error;
    struct lks_producer_record record;
    struct lks_buf buf;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 256, 50);
    assert_status(LKS_OK, lks_manifest_copy(forge.head, &copy, &error));
    record = forge_record(&forge, 1);
    record.pid++;
    assert_status(LKS_OK, lks_manifest_put_producer(copy, &record, &error));
    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_index_encode(copy, &buf, &error));
    forge_put(&forge, "index/0000000000000000", buf.data, buf.size);
    lks_buf_done(&buf);
    lks_manifest_free(copy);

    forge_fill(&forge, 300, 50);
    assert_found(false, 1, "index/0000000000000000", "differs from version");
}

/* As if two had each believed to be the one who fills it. */
static void a_block_of_another_history_is_found(void **state)
{
    struct lks_manifest *saved;
    struct lks_manifest *end;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 200, 9);
    saved = forge_save(&forge);
    forge_fill(&forge, 300, 9);
    end = forge_save(&forge);
    /* The other history writes its block, and nothing else is left of it. */
    forge_restore(&forge, saved);
    forge_append(&forge, 1, 56);
    forge_restore(&forge, end);

    assert_found(false, 0, "manifest/", "some are lost");
    assert_found(false, 0, "manifest/", "it is repeated");
}

static void a_block_past_the_head_is_found(void **state)
{
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 256, 64);
    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_index_encode(forge.head, &buf, &error));
    forge_put(&forge, "index/0000000000000001", buf.data, buf.size);
    lks_buf_done(&buf);
    assert_found(false, 1, "index/0000000000000001", "has not got that far");
}

/* ----------------------------------------------------- what is no damage -- */

static void uploads_that_nobody_committed_are_noted(void **state)
{
    struct lks_producer_record record;
    char from[LKS_NAME_SIZE];
    char to[LKS_NAME_SIZE];
    json_t *report;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 3);
    forge_data_name(&forge, 0, 0, from);
    forge_open(&forge, 0);
    forge_append(&forge, 0, 3);
    /* Two of the old epoch, one that is next. */
    record = forge_record(&forge, 0);
    lks_data_name("p0", 1, 0x01000001, 3, to);
    forge_copy(&forge, from, to);
    lks_data_name("p0", 1, 0x01000001, 4, to);
    forge_copy(&forge, from, to);
    lks_data_name("p0", 2, lks_owner_tag(record.owner), 6, to);
    forge_copy(&forge, from, to);

    report = verify(true);
    assert_true(json_is_true(json_object_get(report, "ok")));
    assert_int_equal(number(report, "unnamed_objects"), 2);
    assert_int_equal(number(report, "uncommitted_objects"), 1);
    assert_true(has_text(report, "notes", "2 data objects belong to no live"));
    assert_true(has_text(report, "notes", "1 data objects are uploaded"));
    json_decref(report);
}

static void names_that_are_not_ours_are_noted(void **state)
{
    static const char *const strays[] = {
        "notes.txt",
        "data/p0/1-01000001/x",
        "data/p0/01-01000001/1",
        "data/p0/1",
        "data/p0/1-0100000g/1",
        "index/17",
        "index/00000000000000000",
        "manifest/00000000/fffffffffffff/fff",
        "probe/x",
    };

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 3);
    for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++)
        forge_put(&forge, strays[i], "x", 1);
    forge_put(&forge, "watermark/g/run-1/0", "x", 1);
    for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++)
        assert_noted(strays[i]);
}

/* --------------------------------------------------- failing to look at it */

static enum fault fail_gets_of_data(enum faulty_op op,
                                    const char *key,
                                    void *arg)
{
    (void)arg;
    return op == FAULTY_GET && strncmp(key, "data/", 5) == 0 ? FAULT_FAIL
                                                             : FAULT_NONE;
}

static void a_store_that_does_not_answer_is_no_damage(void **state)
{
    struct lks_error error;
    char *text = NULL;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 3);
    forge.store->decide = fail_gets_of_data;
    assert_status(LKS_UNAVAILABLE,
                  lks_inspect_verify(forge.stream, true, &text, &error));
    assert_null(text);
    forge.store->decide = NULL;
}

struct crowd {
    atomic_int now;
    atomic_int most;
};

/* A store that takes its time. */
static enum fault count_crowd(enum faulty_op op, const char *key, void *arg)
{
    struct crowd *crowd = arg;
    int now;

    if (op != FAULTY_GET || strncmp(key, "data/", 5) != 0)
        return FAULT_NONE;
    now = atomic_fetch_add(&crowd->now, 1) + 1;
    if (now > atomic_load(&crowd->most))
        atomic_store(&crowd->most, now);
    lks_env_sleep_ns(lks_env_real(), 2 * LKS_NS_PER_MS);
    atomic_fetch_sub(&crowd->now, 1);
    return FAULT_NONE;
}

static void objects_are_read_several_at_a_time(void **state)
{
    struct crowd crowd = {0};

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 40);
    forge.store->arg = &crowd;
    forge.store->decide = count_crowd;
    assert_sound(false);
    assert_in_range(atomic_load(&crowd.most), 2, 8);
}

static enum lks_status verify_once(void *arg)
{
    char *text = NULL;
    enum lks_status status;

    (void)arg;
    status = lks_inspect_verify(forge.stream, true, &text, NULL);
    lks_free(text);
    return status;
}

static void it_survives_every_failing_allocation(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 2, 1, 2);
    forge.codec = LKS_CODEC_LZ4;
    forge_fill(&forge, 3, 2);
    forge_data_name(&forge, 0, 1, name);
    forge_flip(&forge, name, 70);
    forge_put(&forge, "stray", "x", 1);
    torture(verify_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VERIFY_TEST(an_empty_stream_is_sound),
        VERIFY_TEST(a_long_stream_is_sound_and_counted),
        VERIFY_TEST(a_fork_is_sound),
        VERIFY_TEST(every_table_and_codec_is_sound),
        VERIFY_TEST(frames_larger_than_a_piece_are_read),
        VERIFY_TEST(a_missing_object_is_found),
        VERIFY_TEST(an_object_of_another_size_is_found),
        VERIFY_TEST(a_flipped_byte_anywhere_in_an_object_is_found),
        VERIFY_TEST(a_flipped_payload_needs_data_to_be_found),
        VERIFY_TEST(the_bytes_of_another_tgb_are_found),
        VERIFY_TEST(many_problems_are_counted_and_not_kept),
        VERIFY_TEST(a_missing_block_is_found),
        VERIFY_TEST(a_block_that_its_manifest_has_just_filled_may_be_missing),
        VERIFY_TEST(a_flipped_byte_in_a_block_is_found),
        VERIFY_TEST(a_block_that_its_manifest_would_not_make_is_found),
        VERIFY_TEST(a_block_of_another_history_is_found),
        VERIFY_TEST(a_block_past_the_head_is_found),
        VERIFY_TEST(uploads_that_nobody_committed_are_noted),
        VERIFY_TEST(names_that_are_not_ours_are_noted),
        VERIFY_TEST(a_store_that_does_not_answer_is_no_damage),
        VERIFY_TEST(objects_are_read_several_at_a_time),
        VERIFY_TEST(it_survives_every_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
