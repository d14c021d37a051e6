/*
 * A stream whose map of producers is full: who is in it goes on, and who is not
 * is told the way out.
 */
#include <stdio.h>

#include "support/life.h"

/* Writes the manifest that 4,096 openings would have left. */
static void fill_map(void)
{
    struct lks_manifest *manifest = NULL;
    struct lks_part part;
    struct lks_error error;
    struct lks_buf buf;
    char name[LKS_NAME_SIZE];

    assert_status(LKS_OK, lks_manifest_genesis(&life.stream->descriptor,
                                               &manifest, &error));
    lks_manifest_advance(manifest);
    for (unsigned i = 0; i < LKS_PRODUCERS_MAX; i++) {
        struct lks_producer_record record = {.epoch = 1, .host = "test"};
        char id[16];

        snprintf(id, sizeof(id), "p%u", i);
        record.id = id;
        assert_status(LKS_OK,
                      lks_manifest_put_producer(manifest, &record, &error));
    }
    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_manifest_encode(manifest, &buf, &error));
    lks_manifest_name(life.stream->descriptor.stream, 1, name);
    part.data = buf.data;
    part.size = buf.size;
    assert_status(LKS_OK, lks_store_create(life.stream->store, name, &part, 1,
                                           NULL, &error));
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void the_4097th_producer_is_refused_with_the_way_out(void **state)
{
    struct lks_producer *producer = NULL;
    struct lks_error error;

    (void)state;
    fill_map();
    assert_status(LKS_INVALID,
                  lks_producer_open(life.stream, "one-more", life.options,
                                    &producer, &error));
    assert_message_has("one-more");
    assert_message_has("4096");
    assert_message_has("use stable ids");
    assert_null(producer);

    life_add(life.stream, "p7", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(the_4097th_producer_is_refused_with_the_way_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
