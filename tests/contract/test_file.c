/* The store in a folder keeps the contract, also where the system lacks what it
 * likes to use. */
#include <fcntl.h>
#include <unistd.h>

#include "store/file_store.h"
#include "support/store_suite.h"

static enum lks_status open_place(const char *place,
                                  struct lks_store **out_store,
                                  struct lks_error *error)
{
    return lks_store_file_open(place, lks_env_real(), true, out_store, error);
}

static enum lks_status open_without_syncs(const char *place,
                                          struct lks_store **out_store,
                                          struct lks_error *error)
{
    return lks_store_file_open(place, lks_env_real(), false, out_store, error);
}

static enum lks_status open_making_do(const char *place,
                                      struct lks_store **out_store,
                                      struct lks_error *error)
{
    enum lks_status status = open_place(place, out_store, error);

    if (status == LKS_OK)
        lks_store_file_make_do(*out_store);
    return status;
}

/* A name like that of a writer that was killed. */
static void leave_upload(struct lks_store *store, const char *key)
{
    struct lks_file_store *file = (struct lks_file_store *)store;
    struct lks_file_temp temp;
    int fd;

    assert_int_equal(lks_file_temp_reserve(file, key, &temp), 0);
    fd = openat(temp.folder->fd, temp.name, O_CREAT | O_EXCL | O_WRONLY, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "begun", 5), 5);
    close(fd);
    temp.name[0] = '\0';
    lks_file_temp_done(file, &temp);
}

int main(void)
{
    struct store_backend backend = {
        .place_make = store_place_make,
        .place_remove = store_place_remove,
        .leave_upload = leave_upload,
        .name_count = 50,
        .thread_count = 8,
        .large_size = (9u << 20) + 3,
    };
    int failed_count = 0;

    backend.name = "file";
    backend.open = open_place;
    failed_count += store_suite_run(&backend);

    backend.name = "file without O_TMPFILE and openat2";
    backend.open = open_making_do;
    failed_count += store_suite_run(&backend);

    /* Another file system, and other answers to the same mistakes. */
    backend.name = "file on a disk with durability=none";
    backend.place_make = store_place_make_on_disk;
    backend.open = open_without_syncs;
    failed_count += store_suite_run(&backend);
    return failed_count;
}
