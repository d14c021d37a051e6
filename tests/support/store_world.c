/* The world of a test about the store in a folder. */
#include "support/store_world.h"

#include <stdio.h>
#include <sys/stat.h>

int store_world_make_do;

void store_world_path(const struct world *world,
                      const char *name,
                      char path[STORE_PATH_SIZE])
{
    snprintf(path, STORE_PATH_SIZE, "%s/%s", world->inside, name);
}

struct lks_store *store_world_open(const struct world *world, const char *path)
{
    struct lks_store *store = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_store_file_open(path, lks_env_real(), true,
                                              &store, &error));
    if (world->make_do)
        lks_store_file_make_do(store);
    return store;
}

int store_world_set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->make_do = *state != NULL;
    store_place_make(world->place);
    assert_int_equal(chmod(world->place, 0755), 0);
    snprintf(world->inside, sizeof(world->inside), "%s/store", world->place);
    snprintf(world->outside, sizeof(world->outside), "%s/outside",
             world->place);
    assert_int_equal(mkdir(world->outside, 0777), 0);
    world->store = store_world_open(world, world->inside);
    suite_create(world->store, "folder/object", "inside");
    *state = world;
    return 0;
}

int store_world_tear_down(void **state)
{
    struct world *world = *state;

    lks_store_close(world->store);
    store_place_remove(world->place);
    free(world);
    return 0;
}
