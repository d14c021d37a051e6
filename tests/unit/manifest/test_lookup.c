/* Finding entries in blocks that are not what the head needs. */
#include "manifest/lookup.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "support/check.h"
#include "support/stream_builder.h"

/* A stream of 600 steps from `first_step` on, in a store of its own. */
static struct lks_store *build(const char *name,
                               uint64_t first_step,
                               struct stream_builder *builder)
{
    const struct lks_descriptor descriptor = {
        .dp = 1,
        .cp = 1,
        .first_step = first_step,
    };
    struct lks_store *store = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_store_mem_open(name, lks_env_real(), &store, &error));
    assert_status(LKS_OK,
                  stream_builder_init(builder, store, &descriptor, &error));
    assert_status(LKS_OK,
                  stream_builder_add(builder, 600 - first_step, 100, &error));
    return store;
}

static enum lks_status look_up(struct lks_stream *stream,
                               uint64_t step,
                               struct lks_entry *out_entry,
                               struct lks_error *error)
{
    struct lks_lookup lookup;
    struct lks_log log;
    enum lks_status status;

    lks_log_init(&log, stream, LKS_LOG_HEAD, NULL);
    lks_lookup_init(&lookup, stream, NULL);
    status = lks_log_look(&log, error);
    if (status == LKS_OK)
        status = lks_lookup_entry(&lookup, &log, step, out_entry, error);
    lks_lookup_done(&lookup);
    lks_log_done(&log);
    return status;
}

/* The block of a stream that began at 300, where one that began at 0 has its
 * own: it is whole and sound, and lacks the steps up to 299. */
static void a_block_that_begins_after_the_step_is_corrupt(void **state)
{
    struct stream_builder fork, builder;
    struct lks_store *fork_store = build("lookup-fork", 300, &fork);
    struct lks_store *store = build("lookup", 0, &builder);
    struct lks_index *index = NULL;
    struct lks_stream *stream = NULL;
    struct lks_entry entry;
    struct lks_error error;
    struct lks_buf buf;
    struct lks_part part;
    char name[LKS_NAME_SIZE];

    (void)state;
    lks_index_name(1, name);
    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    assert_status(LKS_OK, lks_store_get_all(fork_store, name, 4096, &buf, NULL,
                                            &error));
    /* Vouch for it as a block of the other stream. */
    memcpy(buf.data + 28, builder.descriptor.stream, LKS_ID_SIZE);
    lks_put_u32(buf.data + 60, lks_crc32c(buf.data, 60));
    assert_status(LKS_OK, lks_index_decode(buf.data, buf.size,
                                           builder.descriptor.stream, 1, &index,
                                           &error));
    assert_int_equal(lks_index_first(index), 300);
    lks_index_free(index);
    part = (struct lks_part){buf.data, buf.size};
    assert_status(LKS_OK, lks_store_put(store, name, &part, 1, NULL, &error));

    assert_status(LKS_OK, lks_stream_load(store, &stream, &error));
    assert_status(LKS_OK, look_up(stream, 255, &entry, &error));
    assert_status(LKS_OK, look_up(stream, 300, &entry, &error));
    assert_status(LKS_CORRUPT, look_up(stream, 299, &entry, &error));
    assert_message_has("begins at step 300");
    assert_status(LKS_CORRUPT, look_up(stream, 256, &entry, &error));

    lks_buf_done(&buf);
    lks_stream_close(stream);
    stream_builder_done(&builder);
    stream_builder_done(&fork);
    lks_store_close(fork_store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_begins_after_the_step_is_corrupt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
