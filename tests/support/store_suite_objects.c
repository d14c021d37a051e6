/* The contract: writing, reading and removing one object. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "support/store_suite.h"

static struct lks_store *store_of(void **state)
{
    return ((struct store_fixture *)*state)->store;
}

static void a_created_object_is_read_back_whole(void **state)
{
    suite_create(store_of(state), "a", "some bytes");
    suite_expect(store_of(state), "a", "some bytes");
}

static void a_second_create_is_refused_and_changes_nothing(void **state)
{
    struct lks_part part = {.data = "second", .size = 6};
    struct lks_error error;

    suite_create(store_of(state), "folder/a", "first");
    assert_status(LKS_EXISTS, lks_store_create(store_of(state), "folder/a",
                                               &part, 1, NULL, &error));
    assert_message_has("create");
    assert_message_has("folder/a");
    suite_expect(store_of(state), "folder/a", "first");
}

static void a_put_overwrites_and_makes(void **state)
{
    suite_put(store_of(state), "a/b", "first");
    suite_expect(store_of(state), "a/b", "first");
    suite_put(store_of(state), "a/b", "the second, longer one");
    suite_expect(store_of(state), "a/b", "the second, longer one");
    suite_put(store_of(state), "a/b", "3");
    suite_expect(store_of(state), "a/b", "3");
}

static void an_empty_object_exists(void **state)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_error error;
    char byte = 'x';
    size_t size = 7;

    assert_status(LKS_OK, lks_store_create(store_of(state), "empty", NULL, 0,
                                           NULL, &error));
    assert_status(LKS_OK,
                  lks_store_stat(store_of(state), "empty", &call, &error));
    assert_int_equal(call.object_size, 0);
    assert_status(LKS_OK, lks_store_get(store_of(state), "empty", 0, &byte, 1,
                                        &size, NULL, &error));
    assert_int_equal(size, 0);
    suite_expect(store_of(state), "empty", "");
}

static void an_object_is_its_parts_in_order(void **state)
{
    enum { PARTS = 3000 };
    uint8_t *data = malloc(PARTS * 7);
    struct lks_part *parts = calloc(PARTS, sizeof(*parts));
    struct lks_error error;
    struct lks_buf buf;
    size_t size = 0;

    suite_fill(data, PARTS * 7, 1);
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].data = i % 8 == 0 ? NULL : data + size;
        parts[i].size = i % 8;
        size += i % 8;
    }
    assert_status(LKS_OK, lks_store_create(store_of(state), "parts", parts,
                                           PARTS, NULL, &error));
    lks_buf_init(&buf, PARTS * 8);
    assert_status(LKS_OK, lks_store_get_all(store_of(state), "parts", size,
                                            &buf, NULL, &error));
    assert_int_equal(buf.size, size);
    assert_memory_equal(buf.data, data, size);
    lks_buf_done(&buf);
    free(parts);
    free(data);
}

static void a_large_object_is_whole_and_read_by_ranges(void **state)
{
    const struct store_fixture *fixture = *state;
    size_t size = fixture->backend->large_size;
    uint8_t *data = malloc(size);
    uint8_t *found = malloc(size);
    struct lks_part parts[2] = {{data, size / 3},
                                {data + size / 3, size - size / 3}};
    struct lks_error error;

    suite_fill(data, size, 2);
    assert_status(LKS_OK, lks_store_put(fixture->store, "large", parts, 2, NULL,
                                        &error));
    assert_status(LKS_OK, lks_store_get_exact(fixture->store, "large", 0, found,
                                              size, NULL, &error));
    assert_memory_equal(found, data, size);
    assert_status(LKS_OK, lks_store_get_exact(fixture->store, "large", size / 2,
                                              found, size / 4, NULL, &error));
    assert_memory_equal(found, data + size / 2, size / 4);
    free(found);
    free(data);
}

static void a_range_ends_where_the_object_ends(void **state)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_error error;
    size_t size = 0;
    char data[16];

    suite_create(store_of(state), "digits", "0123456789");
    assert_status(LKS_OK, lks_store_get(store_of(state), "digits", 7, data, 16,
                                        &size, &call, &error));
    assert_int_equal(size, 3);
    assert_memory_equal(data, "789", 3);
    assert_int_equal(call.object_size, 10);
    assert_status(LKS_OK, lks_store_get(store_of(state), "digits", 10, data, 16,
                                        &size, &call, &error));
    assert_int_equal(size, 0);
    assert_int_equal(call.object_size, 10);
    assert_status(LKS_OK, lks_store_get(store_of(state), "digits", 1u << 30,
                                        data, 16, &size, &call, &error));
    assert_int_equal(size, 0);
    assert_status(LKS_OK, lks_store_get(store_of(state), "digits", 3, NULL, 0,
                                        &size, &call, &error));
    assert_int_equal(size, 0);
    assert_int_equal(call.object_size, 10);
}

static void too_few_bytes_are_corrupt_and_both_numbers_are_named(void **state)
{
    struct lks_error error;
    char data[16];

    suite_create(store_of(state), "digits", "0123456789");
    assert_status(LKS_CORRUPT, lks_store_get_exact(store_of(state), "digits", 5,
                                                   data, 6, NULL, &error));
    assert_message_has("digits bytes 5-10");
    assert_message_has("only 10 bytes");
}

static void the_whole_object_is_read_whatever_its_size_was_guessed(void **state)
{
    static const size_t guesses[] = {0, 1, 9, 10, 11, 100};
    struct lks_error error;

    suite_create(store_of(state), "digits", "0123456789");
    for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
        struct lks_call call = LKS_CALL_INIT;
        struct lks_buf buf;

        lks_buf_init(&buf, 14);
        assert_status(LKS_OK, lks_buf_append(&buf, "abcd", 4, &error));
        assert_status(LKS_OK,
                      lks_store_get_all(store_of(state), "digits", guesses[i],
                                        &buf, &call, &error));
        assert_int_equal(buf.size, 14);
        assert_memory_equal(buf.data, "abcd0123456789", 14);
        assert_true(call.request_count > 0);
        lks_buf_done(&buf);
    }
}

static void an_object_above_the_ceiling_is_corrupt(void **state)
{
    static const size_t guesses[] = {0, 5, 9, 100};
    struct lks_error error;

    suite_create(store_of(state), "digits", "0123456789");
    for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
        struct lks_buf buf;

        lks_buf_init(&buf, 9);
        assert_status(LKS_CORRUPT,
                      lks_store_get_all(store_of(state), "digits", guesses[i],
                                        &buf, NULL, &error));
        assert_message_has("10 bytes");
        assert_int_equal(buf.size, 0);
        lks_buf_done(&buf);
    }
}

static void a_missing_object_is_not_found(void **state)
{
    struct lks_error error;
    struct lks_buf buf;
    char data[4];

    suite_expect_missing(store_of(state), "missing");
    suite_expect_missing(store_of(state), "missing/too");
    assert_status(LKS_NOT_FOUND, lks_store_get_exact(store_of(state), "missing",
                                                     4, data, 4, NULL, &error));
    assert_message_has("get ");
    assert_message_has(store_of(state)->url);
    assert_message_has("missing bytes 4-7");
    lks_buf_init(&buf, 100);
    assert_status(LKS_NOT_FOUND, lks_store_get_all(store_of(state), "missing",
                                                   10, &buf, NULL, &error));
    assert_int_equal(buf.size, 0);
    lks_buf_done(&buf);
}

static void what_a_key_is_below_is_no_object(void **state)
{
    suite_create(store_of(state), "a/b/c", "text");
    suite_expect_missing(store_of(state), "a");
    suite_expect_missing(store_of(state), "a/b");
    suite_expect_missing(store_of(state), "a/b/c/d");
    suite_remove(store_of(state), "a/b");
    suite_remove(store_of(state), "a/b/c/d");
    suite_expect(store_of(state), "a/b/c", "text");
}

static void what_is_no_key_is_refused_everywhere(void **state)
{
    char too_long[LKS_KEY_SIZE_MAX + 2];
    const char *keys[] = {
        "",       "/x",   "x/",   "a//b", "..",   "../x",
        "a/../b", ".",    "./x",  ".x",   "a/.b", "a b",
        " ",      "a\tb", "a\\b", "a:b",  "a\nb", "sch\xc3\xb6n",
        "a\x7f",  "a*",   "~a",   "a?b",  "%2e",  too_long,
    };
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_error error;
    size_t size;
    char byte;

    memset(too_long, 'k', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *pair[] = {"valid", keys[i]};

        assert_status(LKS_INVALID,
                      lks_store_get(store_of(state), keys[i], 0, &byte, 1,
                                    &size, NULL, &error));
        assert_message_has("is not a key");
        assert_status(LKS_INVALID,
                      lks_store_stat(store_of(state), keys[i], NULL, &error));
        assert_status(LKS_INVALID, lks_store_put(store_of(state), keys[i],
                                                 &part, 1, NULL, &error));
        assert_status(LKS_INVALID, lks_store_create(store_of(state), keys[i],
                                                    &part, 1, NULL, &error));
        assert_status(LKS_INVALID,
                      lks_store_remove(store_of(state), pair, 2, NULL, &error));
    }
}

static void a_key_may_have_256_bytes(void **state)
{
    char key[LKS_KEY_SIZE_MAX + 1];
    struct lks_listed listed[2];
    struct lks_error error;
    size_t count;

    memset(key, 'k', LKS_KEY_SIZE_MAX);
    key[LKS_KEY_SIZE_MAX] = '\0';
    key[100] = '/';
    key[200] = '/';
    suite_create(store_of(state), key, "long");
    suite_expect(store_of(state), key, "long");
    assert_status(LKS_OK, lks_store_list(store_of(state), "k", "", 2, listed,
                                         &count, NULL, &error));
    assert_int_equal(count, 1);
    assert_string_equal(listed[0].key, key);
    suite_remove(store_of(state), key);
    suite_expect_missing(store_of(state), key);
}

static void a_key_may_have_128_segments(void **state)
{
    char key[LKS_KEY_SIZE_MAX + 1] = "";
    struct lks_listed listed[2];
    struct lks_error error;
    size_t count;

    for (size_t i = 0; i < 255; i++)
        key[i] = i % 2 == 0 ? 'd' : '/';
    suite_put(store_of(state), key, "deep");
    suite_expect(store_of(state), key, "deep");
    assert_status(LKS_OK, lks_store_list(store_of(state), "", "", 2, listed,
                                         &count, NULL, &error));
    assert_int_equal(count, 1);
    assert_string_equal(listed[0].key, key);
    suite_remove(store_of(state), key);
    assert_status(LKS_OK, lks_store_list(store_of(state), "", "", 2, listed,
                                         &count, NULL, &error));
    assert_int_equal(count, 0);
}

static void a_removed_object_is_gone_and_its_name_is_free(void **state)
{
    suite_create(store_of(state), "a/b", "first");
    suite_remove(store_of(state), "a/b");
    suite_expect_missing(store_of(state), "a/b");
    suite_remove(store_of(state), "a/b");
    suite_create(store_of(state), "a/b", "second");
    suite_expect(store_of(state), "a/b", "second");
}

static void many_are_removed_at_once_and_no_other(void **state)
{
    enum { COUNT = 40 };
    static char names[COUNT][32];
    const char *keys[COUNT + 1];
    struct lks_error error;

    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "d%zu/x%zu", i % 3, i);
        suite_create(store_of(state), names[i], "x");
        keys[i] = names[i];
    }
    suite_create(store_of(state), "d1/other", "kept");
    keys[COUNT] = "d2/missing";
    assert_status(LKS_OK, lks_store_remove(store_of(state), keys, COUNT + 1,
                                           NULL, &error));
    for (size_t i = 0; i < COUNT; i++)
        suite_expect_missing(store_of(state), names[i]);
    suite_expect(store_of(state), "d1/other", "kept");
    assert_status(LKS_OK,
                  lks_store_remove(store_of(state), NULL, 0, NULL, &error));
}

static void a_tag_tells_one_object_from_the_next(void **state)
{
    struct lks_call call = LKS_CALL_INIT;
    char first[LKS_ETAG_SIZE];
    struct lks_error error;
    size_t size;
    char byte;

    suite_put(store_of(state), "a", "1");
    assert_status(LKS_OK, lks_store_stat(store_of(state), "a", &call, &error));
    memcpy(first, call.etag, sizeof(first));
    assert_true(first[0] != '\0');
    assert_status(LKS_OK, lks_store_get(store_of(state), "a", 0, &byte, 1,
                                        &size, &call, &error));
    assert_string_equal(call.etag, first);
    suite_put(store_of(state), "a", "2");
    assert_status(LKS_OK, lks_store_stat(store_of(state), "a", &call, &error));
    assert_string_not_equal(call.etag, first);
}

static void replies_are_dated_by_a_clock_that_goes_on(void **state)
{
    struct lks_part part = {.data = "x", .size = 1};
    int64_t last_ms = INT64_MIN;
    struct lks_error error;

    suite_create(store_of(state), "exists", "x");
    for (size_t i = 0; i < 20; i++) {
        struct lks_call call = LKS_CALL_INIT;
        struct lks_listed listed;
        enum lks_status status;
        char key[32];
        size_t count;

        call.want_date = true;
        snprintf(key, sizeof(key), "dated/%zu", i);
        if (i % 5 == 0)
            status =
                lks_store_create(store_of(state), key, &part, 1, &call, &error);
        else if (i % 5 == 1)
            status = lks_store_create(store_of(state), "exists", &part, 1,
                                      &call, &error);
        else if (i % 5 == 2)
            status = lks_store_stat(store_of(state), "missing", &call, &error);
        else if (i % 5 == 3)
            status = lks_store_put(store_of(state), "exists", &part, 1, &call,
                                   &error);
        else
            status = lks_store_list(store_of(state), "", "", 1, &listed, &count,
                                    &call, &error);
        assert_true(status == LKS_OK || status == LKS_EXISTS ||
                    status == LKS_NOT_FOUND);
        assert_true(call.date_ms != INT64_MIN);
        assert_true(call.date_ms >= last_ms);
        last_ms = call.date_ms;
    }
}

static void an_object_is_dated_when_it_appears(void **state)
{
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_call before = LKS_CALL_INIT;
    struct lks_call made = LKS_CALL_INIT;
    struct lks_call after = LKS_CALL_INIT;
    struct lks_listed listed;
    struct lks_error error;
    size_t count;

    before.want_date = made.want_date = after.want_date = true;
    suite_put(store_of(state), "z", "");
    assert_status(LKS_OK,
                  lks_store_stat(store_of(state), "z", &before, &error));
    assert_status(LKS_OK, lks_store_create(store_of(state), "a", &part, 1,
                                           &made, &error));
    assert_status(LKS_OK, lks_store_stat(store_of(state), "a", &after, &error));
    assert_true(made.date_ms >= before.date_ms);
    assert_true(made.date_ms <= after.date_ms);
    assert_true(after.modified_ms >= before.date_ms);
    assert_true(after.modified_ms <= after.date_ms);
    assert_status(LKS_OK, lks_store_list(store_of(state), "a", "", 1, &listed,
                                         &count, NULL, &error));
    assert_true(listed.modified_ms == after.modified_ms);
}

static void a_cancelled_call_does_nothing(void **state)
{
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_call call = LKS_CALL_INIT;
    struct lks_cancel cancel;
    struct lks_listed listed;
    struct lks_error error;
    const char *key = "kept";
    size_t count = 5;
    char byte;

    suite_create(store_of(state), "kept", "kept");
    lks_cancel_init(&cancel);
    lks_cancel_set(&cancel);
    call.cancel = &cancel;
    assert_status(LKS_CANCELLED, lks_store_create(store_of(state), "new", &part,
                                                  1, &call, &error));
    assert_status(LKS_CANCELLED, lks_store_put(store_of(state), "kept", &part,
                                               1, &call, &error));
    assert_status(LKS_CANCELLED,
                  lks_store_remove(store_of(state), &key, 1, &call, &error));
    assert_status(LKS_CANCELLED,
                  lks_store_get(store_of(state), "kept", 0, &byte, 1, &count,
                                &call, &error));
    assert_status(LKS_CANCELLED,
                  lks_store_list(store_of(state), "", "", 1, &listed, &count,
                                 &call, &error));
    assert_int_equal(count, 5);
    suite_expect_missing(store_of(state), "new");
    suite_expect(store_of(state), "kept", "kept");
}

static void all_handles_of_a_place_see_the_same(void **state)
{
    const struct store_fixture *fixture = *state;
    struct lks_store *other;
    struct lks_error error;

    suite_create(fixture->store, "a/1", "from the first");
    assert_status(LKS_OK,
                  fixture->backend->open(fixture->place, &other, &error));
    suite_expect(other, "a/1", "from the first");
    suite_put(other, "a/1", "from the second");
    suite_expect(fixture->store, "a/1", "from the second");
    suite_remove(other, "a/1");
    suite_expect_missing(fixture->store, "a/1");
    suite_create(fixture->store, "a/1", "again");
    lks_store_close(other);
    suite_expect(fixture->store, "a/1", "again");
}

static void no_store_is_used_in_a_child_after_fork(void **state)
{
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_error error;
    int result = 0;
    pid_t child;

    suite_create(store_of(state), "a", "parent's");
    child = fork();
    if (child == 0) {
        enum lks_status status =
            lks_store_put(store_of(state), "a", &part, 1, NULL, &error);
        bool told = strstr(error.message, "fork") != NULL;

        lks_store_close(store_of(state));
        _exit(status == LKS_INVALID && told ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    suite_expect(store_of(state), "a", "parent's");
}

static enum lks_status count_line(const char *line, void *arg)
{
    assert_non_null(strstr(line, "\"ok\": true"));
    (*(size_t *)arg)++;
    return LKS_OK;
}

static void the_probe_finds_nothing_and_leaves_nothing(void **state)
{
    struct lks_listed listed;
    struct lks_error error;
    size_t line_count = 0;
    char *summary = NULL;
    size_t count;

    assert_status(LKS_OK, lks_store_check(store_of(state), count_line,
                                          &line_count, &summary, &error));
    assert_true(line_count >= 10);
    assert_non_null(strstr(summary, "create-race"));
    lks_free(summary);
    assert_status(LKS_OK, lks_store_list(store_of(state), "", "", 1, &listed,
                                         &count, NULL, &error));
    assert_int_equal(count, 0);
}

const struct CMUnitTest store_suite_objects[] = {
    cmocka_unit_test(a_created_object_is_read_back_whole),
    cmocka_unit_test(a_second_create_is_refused_and_changes_nothing),
    cmocka_unit_test(a_put_overwrites_and_makes),
    cmocka_unit_test(an_empty_object_exists),
    cmocka_unit_test(an_object_is_its_parts_in_order),
    cmocka_unit_test(a_large_object_is_whole_and_read_by_ranges),
    cmocka_unit_test(a_range_ends_where_the_object_ends),
    cmocka_unit_test(too_few_bytes_are_corrupt_and_both_numbers_are_named),
    cmocka_unit_test(the_whole_object_is_read_whatever_its_size_was_guessed),
    cmocka_unit_test(an_object_above_the_ceiling_is_corrupt),
    cmocka_unit_test(a_missing_object_is_not_found),
    cmocka_unit_test(what_a_key_is_below_is_no_object),
    cmocka_unit_test(what_is_no_key_is_refused_everywhere),
    cmocka_unit_test(a_key_may_have_256_bytes),
    cmocka_unit_test(a_key_may_have_128_segments),
    cmocka_unit_test(a_removed_object_is_gone_and_its_name_is_free),
    cmocka_unit_test(many_are_removed_at_once_and_no_other),
    cmocka_unit_test(a_tag_tells_one_object_from_the_next),
    cmocka_unit_test(replies_are_dated_by_a_clock_that_goes_on),
    cmocka_unit_test(an_object_is_dated_when_it_appears),
    cmocka_unit_test(a_cancelled_call_does_nothing),
    cmocka_unit_test(all_handles_of_a_place_see_the_same),
    cmocka_unit_test(no_store_is_used_in_a_child_after_fork),
    cmocka_unit_test(the_probe_finds_nothing_and_leaves_nothing),
};

const size_t store_suite_object_count =
    sizeof(store_suite_objects) / sizeof(store_suite_objects[0]);
