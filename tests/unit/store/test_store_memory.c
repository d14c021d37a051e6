/* Stores when memory is out: every call fails cleanly or not at all. */
#include <stdio.h>
#include <unistd.h>

#include "support/store_place.h"
#include "support/torture.h"

#include "store/store.h"

static enum lks_status use_store(struct lks_store *store)
{
    struct lks_part part = {.data = "text", .size = 4};
    const char *keys[] = {"a/b", "a/c"};
    struct lks_listed listed[4];
    enum lks_status status;
    struct lks_buf buf;
    size_t count;

    lks_buf_init(&buf, 100);
    status = lks_store_create(store, keys[0], &part, 1, NULL, NULL);
    if (status == LKS_EXISTS)
        status = LKS_OK;
    if (status == LKS_OK)
        status = lks_store_put(store, keys[0], &part, 1, NULL, NULL);
    if (status == LKS_OK)
        status = lks_store_put(store, keys[1], &part, 1, NULL, NULL);
    if (status == LKS_OK)
        status = lks_store_get_all(store, keys[0], 2, &buf, NULL, NULL);
    if (status == LKS_OK)
        status = lks_store_stat(store, keys[0], NULL, NULL);
    if (status == LKS_OK)
        status = lks_store_list(store, "", "", 4, listed, &count, NULL, NULL);
    if (status == LKS_OK)
        status = lks_store_remove(store, keys, 2, NULL, NULL);
    lks_buf_done(&buf);
    return status;
}

static enum lks_status use_mem(void *arg)
{
    struct lks_store *store = NULL;
    enum lks_status status;

    (void)arg;
    status = lks_store_mem_open("tortured", lks_env_real(), &store, NULL);
    if (status == LKS_OK)
        status = use_store(store);
    lks_store_close(store);
    return status;
}

static enum lks_status use_file(void *arg)
{
    struct lks_store *store = NULL;
    enum lks_status status;

    status = lks_store_file_open(arg, lks_env_real(), true, &store, NULL);
    if (status == LKS_OK)
        status = use_store(store);
    lks_store_close(store);
    return status;
}

static void the_store_in_memory_survives(void **state)
{
    (void)state;
    torture(use_mem, NULL);
}

static void the_store_in_a_folder_survives(void **state)
{
    char place[STORE_PLACE_SIZE];
    int fd_before;
    int fd_after;

    (void)state;
    store_place_make(place);
    fd_before = dup(0);
    torture(use_file, place);
    fd_after = dup(0);
    assert_int_equal(fd_after, fd_before + 1);
    assert_int_equal(store_place_file_count(place), 0);
    close(fd_before);
    close(fd_after);
    store_place_remove(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_store_in_memory_survives),
        cmocka_unit_test(the_store_in_a_folder_survives),
    };

    return cmocka_run_group_tests_name("stores without memory", tests, NULL,
                                       NULL);
}
