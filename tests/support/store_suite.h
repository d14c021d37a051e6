/*
 * The contract of store.h as tests, run over any store. A new backend is done
 * when this passes: it fills one table.
 */
#ifndef LKS_TESTS_SUPPORT_STORE_SUITE_H
#define LKS_TESTS_SUPPORT_STORE_SUITE_H

#include "store/store.h"
#include "support/check.h"
#include "support/store_place.h"

struct store_backend {
    const char *name;

    /* Where one test's objects are: fresh for each. */
    void (*place_make)(char place[STORE_PLACE_SIZE]);
    void (*place_remove)(const char *place);
    enum lks_status (*open)(const char *place,
                            struct lks_store **out_store,
                            struct lks_error *error);

    /* Begins to write an object, and does not go on, as a writer that was
     * killed. NULL where that leaves nothing. */
    void (*leave_upload)(struct lks_store *store, const char *key);

    /* How much the tests do: requests to a far store take their time. */
    uint32_t name_count;   /* of a race */
    uint32_t thread_count; /* at the same time */
    size_t large_size;     /* of the largest object */
};

/* One test's world: the state that the tests get. */
struct store_fixture {
    const struct store_backend *backend;
    char place[STORE_PLACE_SIZE];
    struct lks_store *store;
};

/* The number of tests that failed. */
int store_suite_run(const struct store_backend *backend);

/* Shorthands of the tests; all fail the test when the store says otherwise. */
void suite_create(struct lks_store *store, const char *key, const char *text);
void suite_put(struct lks_store *store, const char *key, const char *text);
void suite_remove(struct lks_store *store, const char *key);
void suite_expect(struct lks_store *store, const char *key, const char *text);
void suite_expect_missing(struct lks_store *store, const char *key);

/* Bytes that depend on the place and on `seed`. */
void suite_fill(uint8_t *data, size_t size, uint32_t seed);

/* The parts of the suite, by what they are about. */
extern const struct CMUnitTest store_suite_objects[];
extern const size_t store_suite_object_count;
extern const struct CMUnitTest store_suite_lists[];
extern const size_t store_suite_list_count;
extern const struct CMUnitTest store_suite_uploads[];
extern const size_t store_suite_upload_count;
extern const struct CMUnitTest store_suite_threads[];
extern const size_t store_suite_thread_count;

#endif
