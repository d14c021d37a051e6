/* Running the contract's tests over a backend, and their shorthands. */
#include "support/store_suite.h"

#include <stdio.h>

#define TESTS_MAX 128u

static int set_up(void **state)
{
    struct store_fixture *fixture = calloc(1, sizeof(*fixture));
    struct lks_error error;

    assert_non_null(fixture);
    fixture->backend = *state;
    fixture->backend->place_make(fixture->place);
    assert_status(LKS_OK, fixture->backend->open(fixture->place,
                                                 &fixture->store, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct store_fixture *fixture = *state;

    lks_store_close(fixture->store);
    fixture->backend->place_remove(fixture->place);
    free(fixture);
    return 0;
}

static size_t add(struct CMUnitTest *tests,
                  size_t count,
                  const struct CMUnitTest *more,
                  size_t more_count,
                  const struct store_backend *backend)
{
    for (size_t i = 0; i < more_count; i++) {
        assert_true(count < TESTS_MAX);
        tests[count] = more[i];
        tests[count].setup_func = set_up;
        tests[count].teardown_func = tear_down;
        tests[count].initial_state = (void *)backend;
        count++;
    }
    return count;
}

int store_suite_run(const struct store_backend *backend)
{
    struct CMUnitTest tests[TESTS_MAX];
    size_t count = 0;

    count = add(tests, count, store_suite_objects, store_suite_object_count,
                backend);
    count =
        add(tests, count, store_suite_lists, store_suite_list_count, backend);
    count = add(tests, count, store_suite_uploads, store_suite_upload_count,
                backend);
    count = add(tests, count, store_suite_threads, store_suite_thread_count,
                backend);
    return _cmocka_run_group_tests(backend->name, tests, count, NULL, NULL);
}

void suite_create(struct lks_store *store, const char *key, const char *text)
{
    struct lks_part part = {.data = text, .size = strlen(text)};
    struct lks_error error;

    assert_status(LKS_OK, lks_store_create(store, key, &part, 1, NULL, &error));
}

void suite_put(struct lks_store *store, const char *key, const char *text)
{
    struct lks_part part = {.data = text, .size = strlen(text)};
    struct lks_error error;

    assert_status(LKS_OK, lks_store_put(store, key, &part, 1, NULL, &error));
}

void suite_remove(struct lks_store *store, const char *key)
{
    struct lks_error error;

    assert_status(LKS_OK, lks_store_remove(store, &key, 1, NULL, &error));
}

void suite_expect(struct lks_store *store, const char *key, const char *text)
{
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, 1 << 20);
    assert_status(LKS_OK,
                  lks_store_get_all(store, key, 64, &buf, NULL, &error));
    assert_int_equal(buf.size, strlen(text));
    assert_memory_equal(buf.data, text, buf.size);
    lks_buf_done(&buf);
}

void suite_expect_missing(struct lks_store *store, const char *key)
{
    struct lks_error error;
    size_t size = 77;
    char byte;

    assert_status(LKS_NOT_FOUND,
                  lks_store_get(store, key, 0, &byte, 1, &size, NULL, &error));
    assert_int_equal(size, 77);
    assert_status(LKS_NOT_FOUND, lks_store_stat(store, key, NULL, &error));
}

void suite_fill(uint8_t *data, size_t size, uint32_t seed)
{
    uint32_t value = seed * 2654435761u + 1;

    for (size_t i = 0; i < size; i++) {
        value = value * 1664525u + 1013904223u;
        data[i] = (uint8_t)(value >> 24);
    }
}
