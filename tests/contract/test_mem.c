/* The store in memory keeps the contract. */
#include <stdio.h>

#include "support/store_suite.h"

static void place_make(char place[STORE_PLACE_SIZE])
{
    static uint32_t count;

    snprintf(place, STORE_PLACE_SIZE, "test-%u", ++count);
}

static void place_remove(const char *place)
{
    (void)place;
}

static enum lks_status open_place(const char *place,
                                  struct lks_store **out_store,
                                  struct lks_error *error)
{
    return lks_store_mem_open(place, lks_env_real(), out_store, error);
}

int main(void)
{
    static const struct store_backend backend = {
        .name = "mem",
        .place_make = place_make,
        .place_remove = place_remove,
        .open = open_place,
        .name_count = 200,
        .thread_count = 16,
        .large_size = (20u << 20) + 3,
    };

    return store_suite_run(&backend);
}
