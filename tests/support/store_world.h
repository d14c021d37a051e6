/*
 * The world of a test about the store in a folder: a store in place/store, with
 * the object "folder/object", beside a folder place/outside.
 */
#ifndef LKS_TESTS_SUPPORT_STORE_WORLD_H
#define LKS_TESTS_SUPPORT_STORE_WORLD_H

#include "store/file_store.h"
#include "support/store_suite.h"

#define STORE_PATH_SIZE (2 * STORE_PLACE_SIZE)

struct world {
    char place[STORE_PLACE_SIZE];
    char inside[STORE_PLACE_SIZE + 16];
    char outside[STORE_PLACE_SIZE + 16];
    struct lks_store *store;
    bool make_do; /* see lks_store_file_make_do() */
};

int store_world_set_up(void **state);
int store_world_tear_down(void **state);

/* Opens the store at `path` as the world's is. */
struct lks_store *store_world_open(const struct world *world, const char *path);

/* The path of a file in the store's folder. */
void store_world_path(const struct world *world,
                      const char *name,
                      char path[STORE_PATH_SIZE]);

extern int store_world_make_do;

/* Each test is run twice: with all that the system has, and making do. */
#define STORE_WORLD_TESTS(test)                                                \
    {#test, test, store_world_set_up, store_world_tear_down, NULL},            \
    {                                                                          \
        "making_do: " #test, test, store_world_set_up, store_world_tear_down,  \
            &store_world_make_do                                               \
    }

#endif
