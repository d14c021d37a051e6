/* The contract: writes that their writers did not live to finish. */
#include <stdio.h>

#include "support/store_suite.h"

static struct lks_store *store_of(void **state)
{
    return ((struct store_fixture *)*state)->store;
}

static void leave(void **state, const char *key)
{
    const struct store_fixture *fixture = *state;

    fixture->backend->leave_upload(fixture->store, key);
}

/* Whether a killed writer leaves anything in this store. */
static bool leaves(void **state)
{
    return ((struct store_fixture *)*state)->backend->leave_upload != NULL;
}

/* The keys of the uploads, by pages of `max`, each followed by a space. */
static void expect(void **state,
                   const char *prefix,
                   size_t max,
                   const char *expected)
{
    struct lks_upload uploads[8];
    struct lks_upload last;
    struct lks_error error;
    char keys[1000] = "";
    size_t size = 0;
    size_t total = 0;
    size_t count;

    do {
        assert_status(LKS_OK, lks_store_uploads(store_of(state), prefix,
                                                total > 0 ? &last : NULL, max,
                                                uploads, &count, NULL, &error));
        assert_in_range(count, 0, max);
        for (size_t i = 0; i < count; i++) {
            assert_in_range(size, 0, sizeof(keys) / 2);
            size += (size_t)snprintf(keys + size, sizeof(keys) - size, "%s ",
                                     uploads[i].key);
        }
        total += count;
        if (count > 0)
            last = uploads[count - 1];
    } while (count == max);
    assert_string_equal(keys, expected);
}

static void what_is_whole_is_no_upload(void **state)
{
    suite_create(store_of(state), "a", "created");
    suite_put(store_of(state), "a", "overwritten");
    expect(state, "", 8, "");
}

static void uploads_are_listed_in_order_by_prefix_and_in_pages(void **state)
{
    if (!leaves(state))
        skip();
    leave(state, "data/b/2-0/1");
    leave(state, "data/a/1-0/0");
    leave(state, "data/b/1-0/0");
    leave(state, "data/b/1-0/0");
    leave(state, "other");
    for (size_t max = 1; max <= 8; max += 2) {
        expect(state, "data/", max,
               "data/a/1-0/0 data/b/1-0/0 data/b/1-0/0 data/b/2-0/1 ");
        expect(state, "data/b/", max,
               "data/b/1-0/0 data/b/1-0/0 data/b/2-0/1 ");
        expect(state, "data/c", max, "");
    }
    /* They are no objects. */
    suite_expect_missing(store_of(state), "data/a/1-0/0");
}

static void an_upload_is_aborted_and_no_other(void **state)
{
    struct lks_upload uploads[2];
    struct lks_error error;
    size_t count;

    if (!leaves(state))
        skip();
    leave(state, "a");
    leave(state, "b");
    leave(state, "b");
    assert_status(LKS_OK, lks_store_uploads(store_of(state), "b", NULL, 2,
                                            uploads, &count, NULL, &error));
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; i++) {
        assert_status(LKS_OK, lks_store_abort(store_of(state), &uploads[0],
                                              NULL, &error));
        expect(state, "", 8, "a b ");
    }
}

static void an_object_of_that_name_stays(void **state)
{
    struct lks_upload upload;
    struct lks_error error;
    size_t count;

    if (!leaves(state))
        skip();
    suite_put(store_of(state), "a", "whole");
    leave(state, "a");
    assert_status(LKS_OK, lks_store_uploads(store_of(state), "", NULL, 1,
                                            &upload, &count, NULL, &error));
    assert_int_equal(count, 1);
    assert_status(LKS_OK,
                  lks_store_abort(store_of(state), &upload, NULL, &error));
    suite_expect(store_of(state), "a", "whole");
    expect(state, "", 8, "");
}

const struct CMUnitTest store_suite_uploads[] = {
    cmocka_unit_test(what_is_whole_is_no_upload),
    cmocka_unit_test(uploads_are_listed_in_order_by_prefix_and_in_pages),
    cmocka_unit_test(an_upload_is_aborted_and_no_other),
    cmocka_unit_test(an_object_of_that_name_stays),
};

const size_t store_suite_upload_count =
    sizeof(store_suite_uploads) / sizeof(store_suite_uploads[0]);
