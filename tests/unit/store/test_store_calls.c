/* What the calls into a store add to the backends: URLs, contexts of errors,
 * objects that change while they are read. */
#include <inttypes.h>
#include <stdio.h>

#include "support/check.h"
#include "support/store_faulty.h"
#include "support/store_place.h"

static void put(struct lks_store *store, const char *key, const char *text)
{
    struct lks_part part = {.data = text, .size = strlen(text)};
    struct lks_error error;

    assert_status(LKS_OK, lks_store_put(store, key, &part, 1, NULL, &error));
}

static void a_url_opens_its_backend(void **state)
{
    char place[STORE_PLACE_SIZE];
    char url[STORE_PLACE_SIZE + 16];
    struct lks_store *stores[3];
    struct lks_error error;
    char text[4];

    (void)state;
    store_place_make(place);
    snprintf(url, sizeof(url), "file://%s", place);
    assert_status(LKS_OK, lks_store_connect(url, lks_env_real(), NULL,
                                            &stores[0], &error));
    assert_string_equal(stores[0]->url, url);
    assert_status(LKS_OK, lks_store_connect(place, lks_env_real(), NULL,
                                            &stores[1], &error));
    assert_string_equal(stores[1]->url, url);
    assert_status(LKS_OK, lks_store_connect("mem://test", lks_env_real(), NULL,
                                            &stores[2], &error));
    assert_string_equal(stores[2]->url, "mem://test");

    put(stores[0], "a", "file");
    assert_status(LKS_OK, lks_store_get_exact(stores[1], "a", 0, text, 4, NULL,
                                              &error));
    assert_status(LKS_NOT_FOUND, lks_store_get_exact(stores[2], "a", 0, text, 4,
                                                     NULL, &error));
    for (size_t i = 0; i < 3; i++)
        lks_store_close(stores[i]);
    store_place_remove(place);
}

static void what_is_no_url_opens_nothing(void **state)
{
    struct lks_store *store = NULL;
    struct lks_error error;

    (void)state;
    assert_status(LKS_INVALID, lks_store_connect("http://x", lks_env_real(),
                                                 NULL, &store, &error));
    assert_null(store);
}

static void closing_null_is_nothing(void **state)
{
    (void)state;
    lks_store_close(NULL);
}

static void a_store_in_memory_lives_as_long_as_a_handle(void **state)
{
    struct lks_store *first;
    struct lks_store *second;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK,
                  lks_store_mem_open("a", lks_env_real(), &first, &error));
    put(first, "key", "text");
    assert_status(LKS_OK,
                  lks_store_mem_open("b", lks_env_real(), &second, &error));
    assert_status(LKS_NOT_FOUND, lks_store_stat(second, "key", NULL, &error));
    lks_store_close(second);

    assert_status(LKS_OK,
                  lks_store_mem_open("a", lks_env_real(), &second, &error));
    lks_store_close(first);
    assert_status(LKS_OK, lks_store_stat(second, "key", NULL, &error));
    lks_store_close(second);
    assert_status(LKS_OK,
                  lks_store_mem_open("a", lks_env_real(), &second, &error));
    assert_status(LKS_NOT_FOUND, lks_store_stat(second, "key", NULL, &error));
    lks_store_close(second);
}

static void errors_name_the_call_and_the_object(void **state)
{
    struct lks_listed listed;
    struct lks_store *store;
    struct lks_error error;
    char bytes[8];
    size_t size;

    (void)state;
    assert_status(LKS_OK,
                  lks_store_mem_open("named", lks_env_real(), &store, &error));
    assert_status(LKS_NOT_FOUND, lks_store_get(store, "a/b", 100, bytes, 8,
                                               &size, NULL, &error));
    assert_string_equal(error.message,
                        "get mem://named/a/b bytes 100-107: no such object");
    assert_status(LKS_NOT_FOUND, lks_store_stat(store, "a/b", NULL, &error));
    assert_string_equal(error.message, "stat mem://named/a/b: no such object");
    put(store, "a/b", "text");
    assert_status(LKS_EXISTS,
                  lks_store_create(store, "a/b", NULL, 0, NULL, &error));
    assert_string_equal(error.message, "create mem://named/a/b (0 bytes): the "
                                       "object exists");
    assert_status(LKS_INVALID, lks_store_list(store, "a", "/b", 1, &listed,
                                              &size, NULL, &error));
    assert_message_has("list mem://named/a* after '/b': '/b' is not a key");
    assert_status(LKS_INVALID, lks_store_get(store, "a/b", UINT64_MAX - 3,
                                             bytes, 8, &size, NULL, &error));
    lks_store_close(store);
}

/* Overwrites the object before the second get. */
struct meddler {
    struct faulty_store *store;
    uint32_t get_count;
    const char *text;
};

static enum fault meddle(enum faulty_op op, const char *key, void *arg)
{
    struct meddler *meddler = arg;

    if (op == FAULTY_GET && ++meddler->get_count == 2)
        put(meddler->store->inner, key, meddler->text);
    return FAULT_NONE;
}

static void an_object_that_changes_while_being_read_is_corrupt(void **state)
{
    static const char *const texts[] = {"other text", "short", "0123456789"};
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct meddler meddler = {.text = texts[i]};
        struct lks_call call = LKS_CALL_INIT;
        struct lks_store *store;
        struct lks_buf buf;

        meddler.store = faulty_store_new_mem(lks_env_real(), meddle, &meddler);
        store = &meddler.store->base;
        put(store, "key", "0123456789");
        lks_buf_init(&buf, 100);
        assert_status(LKS_CORRUPT,
                      lks_store_get_all(store, "key", 4, &buf, &call, &error));
        assert_int_equal(buf.size, 0);
        assert_int_equal(call.request_count, 2);

        meddler.get_count = 2;
        assert_status(LKS_OK,
                      lks_store_get_all(store, "key", 4, &buf, &call, &error));
        assert_int_equal(buf.size, strlen(texts[i]));
        lks_buf_done(&buf);
        lks_store_close(store);
    }
}

static void a_read_that_fails_half_way_leaves_the_buffer_as_it_was(void **state)
{
    struct lks_error error;
    struct lks_store *store;
    struct lks_buf buf;

    (void)state;
    assert_status(LKS_OK,
                  lks_store_mem_open("half", lks_env_real(), &store, &error));
    put(store, "key", "0123456789");
    lks_buf_init(&buf, 8);
    assert_status(LKS_OK, lks_buf_append(&buf, "abc", 3, &error));
    assert_status(LKS_CORRUPT,
                  lks_store_get_all(store, "key", 100, &buf, NULL, &error));
    assert_int_equal(buf.size, 3);
    assert_memory_equal(buf.data, "abc", 3);
    lks_buf_done(&buf);
    lks_store_close(store);
}

static void assert_counts(struct lks_store *store,
                          uint64_t gets,
                          uint64_t stats,
                          uint64_t puts,
                          uint64_t lists,
                          uint64_t removes)
{
    struct lks_json_out out;
    char expected[200];

    snprintf(expected, sizeof(expected),
             "{\"gets\": %" PRIu64 ", \"stats\": %" PRIu64
             ", \"puts\": %" PRIu64 ", \"lists\": %" PRIu64
             ", \"removes\": %" PRIu64 "}",
             gets, stats, puts, lists, removes);
    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '{');
    lks_store_put_stats(store, &out);
    lks_json_out_close(&out, '}');
    assert_string_equal(lks_json_out_peek(&out), expected);
    lks_json_out_done(&out);
}

static void every_request_is_counted_by_what_it_asks_for(void **state)
{
    static const char *const keys[] = {"a", "b"};
    struct lks_listed listed[4];
    struct lks_store *store;
    struct lks_error error;
    struct lks_buf buf;
    size_t count;
    char text[4];

    (void)state;
    assert_status(LKS_OK,
                  lks_store_mem_open("count", lks_env_real(), &store, &error));
    assert_counts(store, 0, 0, 0, 0, 0);
    put(store, "a", "0123");
    assert_status(LKS_EXISTS,
                  lks_store_create(store, "a", NULL, 0, NULL, &error));
    assert_counts(store, 0, 0, 2, 0, 0);
    lks_buf_init(&buf, 8);
    assert_status(LKS_OK, lks_store_get_all(store, "a", 1, &buf, NULL, &error));
    assert_status(LKS_NOT_FOUND,
                  lks_store_get_exact(store, "b", 0, text, 4, NULL, &error));
    assert_counts(store, 3, 0, 2, 0, 0);
    assert_status(LKS_OK, lks_store_stat(store, "a", NULL, &error));
    assert_status(LKS_OK,
                  lks_store_get(store, "a", 0, NULL, 0, &count, NULL, &error));
    assert_status(LKS_OK, lks_store_list(store, "", "", 4, listed, &count, NULL,
                                         &error));
    assert_status(LKS_OK, lks_store_remove(store, keys, 2, NULL, &error));
    assert_counts(store, 3, 2, 2, 1, 1);

    /* What never leaves is no request. */
    assert_status(LKS_INVALID, lks_store_stat(store, "..", NULL, &error));
    assert_status(LKS_OK, lks_store_remove(store, keys, 0, NULL, &error));
    assert_counts(store, 3, 2, 2, 1, 1);
    lks_buf_done(&buf);
    lks_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_opens_its_backend),
        cmocka_unit_test(what_is_no_url_opens_nothing),
        cmocka_unit_test(closing_null_is_nothing),
        cmocka_unit_test(a_store_in_memory_lives_as_long_as_a_handle),
        cmocka_unit_test(errors_name_the_call_and_the_object),
        cmocka_unit_test(an_object_that_changes_while_being_read_is_corrupt),
        cmocka_unit_test(
            a_read_that_fails_half_way_leaves_the_buffer_as_it_was),
        cmocka_unit_test(every_request_is_counted_by_what_it_asks_for),
    };

    return cmocka_run_group_tests_name("store calls", tests, NULL, NULL);
}
