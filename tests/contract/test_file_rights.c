/* The store in a folder that somebody may only read, that two users share, or
 * that is on a full or read-only disk. Most of it needs root, and is skipped
 * without. */
#include <grp.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/store_world.h"

#define NOBODY 65534u

/* Runs `run` in a child that is another user; true if it could. */
static bool as_nobody(struct world *world,
                      int (*run)(const struct world *world))
{
    int result = -1;
    pid_t child;

    if (geteuid() != 0)
        return false;
    child = fork();
    if (child == 0) {
        umask(0022);
        if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 ||
            setuid(NOBODY) != 0)
            _exit(99);
        _exit(run(world));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 99)
        return false;
    if (WEXITSTATUS(result) != 0)
        fail_msg("step %d of the other user failed", WEXITSTATUS(result));
    return true;
}

static int read_only_user(const struct world *world)
{
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_call call = LKS_CALL_INIT;
    const char *key = "folder/object";
    struct lks_store *store;
    struct lks_listed listed;
    struct lks_error error;
    size_t count;
    char data[8];

    call.want_date = true;
    if (lks_store_file_open(world->inside, lks_env_real(), true, &store,
                            &error) != LKS_OK)
        return 1;
    if (lks_store_get_exact(store, key, 0, data, 6, &call, &error) != LKS_OK)
        return 2;
    /* Who may not write has no file to be dated; the clock is the same. */
    if (call.date_ms == INT64_MIN)
        return 3;
    if (lks_store_list(store, "", "", 1, &listed, &count, NULL, &error) !=
            LKS_OK ||
        count != 1)
        return 4;
    if (lks_store_create(store, "folder/new", &part, 1, NULL, &error) !=
            LKS_DENIED ||
        strstr(error.message, "permission") == NULL)
        return 5;
    if (lks_store_create(store, "new/new", &part, 1, NULL, &error) !=
        LKS_DENIED)
        return 6;
    if (lks_store_put(store, key, &part, 1, NULL, &error) != LKS_DENIED)
        return 7;
    if (lks_store_remove(store, &key, 1, NULL, &error) != LKS_DENIED)
        return 8;
    if (lks_store_check(store, NULL, NULL, NULL, &error) != LKS_DENIED)
        return 9;
    lks_store_close(store);
    return 0;
}

static void who_may_only_read_reads_and_is_denied_the_rest(void **state)
{
    struct world *world = *state;
    size_t file_count = store_place_file_count(world->inside);

    if (!as_nobody(world, read_only_user))
        skip();
    suite_expect(world->store, "folder/object", "inside");
    assert_int_equal(store_place_file_count(world->inside), file_count);
}

static int locked_out_user(const struct world *world)
{
    struct lks_store *store;
    struct lks_error error;

    if (lks_store_file_open(world->inside, lks_env_real(), true, &store,
                            &error) != LKS_DENIED)
        return 1;
    return strstr(error.message, world->inside) != NULL ? 0 : 2;
}

static void who_may_not_even_read_is_told_at_once(void **state)
{
    struct world *world = *state;

    assert_int_equal(chmod(world->inside, 0700), 0);
    if (!as_nobody(world, locked_out_user))
        skip();
}

static int writing_user(const struct world *world)
{
    struct lks_part part = {.data = "nobody's", .size = 8};
    const char *key = "folder/object";
    struct lks_store *store;
    struct lks_error error;

    if (lks_store_file_open(world->inside, lks_env_real(), true, &store,
                            &error) != LKS_OK)
        return 1;
    if (lks_store_create(store, "folder/new", &part, 1, NULL, &error) != LKS_OK)
        return 2;
    if (lks_store_remove(store, &key, 1, NULL, &error) != LKS_OK)
        return 3;
    if (lks_store_create(store, key, &part, 1, NULL, &error) != LKS_OK)
        return 4;
    if (lks_store_put(store, "folder/roots", &part, 1, NULL, &error) != LKS_OK)
        return 5;
    lks_store_close(store);
    return 0;
}

static void two_users_share_a_folder_that_both_may_write(void **state)
{
    static const char *const folders[] = {"", "folder", ".tmp"};
    struct world *world = *state;

    suite_put(world->store, "folder/roots", "root's");
    suite_put(world->store, "folder/roots", "root's again");
    for (size_t i = 0; i < 3; i++) {
        char path[STORE_PATH_SIZE];

        store_world_path(world, folders[i], path);
        assert_int_equal(chmod(path, 0777), 0);
    }
    if (!as_nobody(world, writing_user))
        skip();
    suite_expect(world->store, "folder/new", "nobody's");
    suite_expect(world->store, "folder/object", "nobody's");
    suite_expect(world->store, "folder/roots", "nobody's");
    suite_put(world->store, "folder/new", "root's");
    suite_remove(world->store, "folder/object");
}

static void a_full_disk_leaves_nothing_half_written(void **state)
{
    struct world *world = *state;
    static uint8_t data[3 << 20];
    struct lks_part part = {.data = data, .size = sizeof(data)};
    struct lks_store *store;
    struct lks_error error;

    if (mount("none", world->outside, "tmpfs", 0, "size=2m") != 0)
        skip();
    assert_status(LKS_OK, lks_store_file_open(world->outside, lks_env_real(),
                                              true, &store, &error));
    if (world->make_do)
        lks_store_file_make_do(store);
    suite_create(store, "small", "fits");
    assert_status(LKS_UNAVAILABLE,
                  lks_store_create(store, "a/large", &part, 1, NULL, &error));
    assert_message_has("disk is full");
    assert_status(LKS_UNAVAILABLE,
                  lks_store_put(store, "small", &part, 1, NULL, &error));
    suite_expect(store, "small", "fits");
    suite_expect_missing(store, "a/large");
    assert_int_equal(store_place_file_count(world->outside), 1);

    /* What it took is free again. */
    part.size = 1 << 20;
    assert_status(LKS_OK,
                  lks_store_create(store, "a/large", &part, 1, NULL, &error));
    lks_store_close(store);
    assert_int_equal(umount(world->outside), 0);
}

static void a_read_only_file_system_denies_writes(void **state)
{
    struct world *world = *state;
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_call call = LKS_CALL_INIT;
    struct lks_store *store;
    struct lks_error error;

    if (mount("none", world->outside, "tmpfs", 0, "size=2m") != 0)
        skip();
    assert_status(LKS_OK, lks_store_file_open(world->outside, lks_env_real(),
                                              true, &store, &error));
    suite_create(store, "small", "fits");
    lks_store_close(store);
    assert_int_equal(mount("none", world->outside, "tmpfs",
                           MS_REMOUNT | MS_RDONLY, "size=2m"),
                     0);
    assert_status(LKS_OK, lks_store_file_open(world->outside, lks_env_real(),
                                              true, &store, &error));
    call.want_date = true;
    assert_status(LKS_OK, lks_store_stat(store, "small", &call, &error));
    assert_true(call.date_ms != INT64_MIN);
    assert_status(LKS_DENIED,
                  lks_store_create(store, "new", &part, 1, NULL, &error));
    assert_message_has("read-only");
    assert_status(LKS_DENIED,
                  lks_store_put(store, "folder/new", &part, 1, NULL, &error));
    lks_store_close(store);
    assert_int_equal(umount(world->outside), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_WORLD_TESTS(who_may_only_read_reads_and_is_denied_the_rest),
        STORE_WORLD_TESTS(who_may_not_even_read_is_told_at_once),
        STORE_WORLD_TESTS(two_users_share_a_folder_that_both_may_write),
        STORE_WORLD_TESTS(a_full_disk_leaves_nothing_half_written),
        STORE_WORLD_TESTS(a_read_only_file_system_denies_writes),
    };

    return cmocka_run_group_tests_name("file, rights", tests, NULL, NULL);
}
