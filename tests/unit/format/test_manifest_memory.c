/* When memory is out: LKS_NO_MEMORY, nothing held, nothing changed. */
#include "format/index.h"
#include "support/check.h"
#include "support/format_fixture.h"
#include "support/torture.h"

static enum lks_status make_genesis(void *arg)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_manifest *manifest;
    struct lks_error error;
    enum lks_status status;

    (void)arg;
    descriptor.max_live_steps = 7;
    status = lks_manifest_genesis(&descriptor, &manifest, &error);
    if (status == LKS_OK)
        lks_manifest_free(manifest);
    return status;
}

static enum lks_status encode(void *arg)
{
    struct lks_error error;
    enum lks_status status;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    status = lks_manifest_encode(arg, &buf, &error);
    lks_buf_done(&buf);
    return status;
}

static enum lks_status decode(void *arg)
{
    const struct lks_buf *buf = arg;
    struct lks_manifest *manifest;
    struct lks_error error;
    enum lks_status status;

    status =
        lks_manifest_decode(buf->data, buf->size, fixture_stream,
                            lks_get_u64(buf->data + 44), &manifest, &error);
    if (status == LKS_OK)
        lks_manifest_free(manifest);
    return status;
}

static enum lks_status decode_head(void *arg)
{
    const struct lks_buf *buf = arg;
    struct lks_manifest *manifest;
    struct lks_error error;
    enum lks_status status;
    size_t needed;

    status = lks_manifest_decode_head(buf->data, buf->size, fixture_stream,
                                      lks_get_u64(buf->data + 44), &manifest,
                                      &needed, &error);
    if (status == LKS_OK)
        lks_manifest_free(manifest);
    return status;
}

static enum lks_status copy(void *arg)
{
    struct lks_manifest *manifest;
    struct lks_error error;
    enum lks_status status;

    status = lks_manifest_copy(arg, &manifest, &error);
    if (status == LKS_OK)
        lks_manifest_free(manifest);
    return status;
}

static void making_and_reading_leave_nothing_behind(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(3, 20);
    struct lks_buf buf = fixture_encoded(manifest);

    (void)state;
    torture(make_genesis, NULL);
    torture(encode, manifest);
    torture(decode, &buf);
    torture(decode_head, &buf);
    torture(copy, manifest);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

/* Seals a full tail, reads the block back and compares it with itself. */
static enum lks_status seal(void *arg)
{
    struct lks_index *index = NULL;
    struct lks_error error;
    enum lks_status status;
    struct lks_buf buf;
    bool equal;

    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    status = lks_index_encode(arg, &buf, &error);
    if (status == LKS_OK)
        status = lks_index_decode(buf.data, buf.size, fixture_stream, 0, &index,
                                  &error);
    lks_index_free(index);
    if (status == LKS_OK)
        status =
            lks_index_compare(&buf, &buf, fixture_stream, 0, &equal, &error);
    lks_buf_done(&buf);
    return status;
}

static void sealing_leaves_nothing_behind(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(2, 256);

    (void)state;
    torture(seal, manifest);
    lks_manifest_free(manifest);
}

typedef enum lks_status change_fn(struct lks_manifest *manifest,
                                  struct lks_error *error);

/* Lets each allocation of a change fail in turn: the manifest must then encode
 * to the same bytes as before. In the end the change succeeds. */
static void torture_change(struct lks_manifest *manifest, change_fn *change)
{
    struct lks_buf before = fixture_encoded(manifest);
    enum lks_status status = LKS_NO_MEMORY;
    struct lks_error error;
    uint64_t n;

    for (n = 1; status != LKS_OK; n++) {
        lks_alloc_fail_at(n);
        status = change(manifest, &error);
        lks_alloc_fail_at(0);
        if (status != LKS_OK) {
            struct lks_buf after = fixture_encoded(manifest);

            assert_int_equal(status, LKS_NO_MEMORY);
            assert_int_equal(after.size, before.size);
            assert_memory_equal(after.data, before.data, before.size);
            lks_buf_done(&after);
        }
    }
    assert_true(n > 2); /* Something did fail. */
    lks_buf_done(&before);
}

static enum lks_status append(struct lks_manifest *manifest,
                              struct lks_error *error)
{
    static const uint64_t frames[2] = {64, 192};
    struct lks_entry entry = fixture_entry(manifest, "p001", 128);

    entry.table.kind = LKS_TABLE_INLINE;
    entry.table.frames = frames;
    return lks_manifest_append(manifest, &entry, "offset", 6, error);
}

static enum lks_status put_new(struct lks_manifest *manifest,
                               struct lks_error *error)
{
    struct lks_producer_record record = fixture_record("new", 1);

    record.offset = "offset";
    record.offset_size = 6;
    return lks_manifest_put_producer(manifest, &record, error);
}

static enum lks_status put_again(struct lks_manifest *manifest,
                                 struct lks_error *error)
{
    struct lks_producer_record record;

    assert_true(lks_manifest_find_producer(manifest, "p000", &record));
    record.epoch++;
    record.owner[0]++;
    return lks_manifest_put_producer(manifest, &record, error);
}

/* On one just made, and on one just decoded, whose arrays have no room. */
static void a_change_that_fails_changes_nothing(void **state)
{
    static change_fn *const changes[] = {append, put_new, put_again};
    int64_t live_before = lks_alloc_live();

    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct lks_manifest *manifest = fixture_manifest(2, 1);
        struct lks_manifest *again;
        struct lks_error error;

        assert_status(LKS_OK, lks_manifest_copy(manifest, &again, &error));
        torture_change(manifest, changes[i]);
        torture_change(again, changes[i]);
        lks_manifest_free(manifest);
        lks_manifest_free(again);
    }
    assert_int_equal(lks_alloc_live(), live_before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making_and_reading_leave_nothing_behind),
        cmocka_unit_test(sealing_leaves_nothing_behind),
        cmocka_unit_test(a_change_that_fails_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
