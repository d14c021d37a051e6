/* The store in a folder among what else can be in a folder: links, other
 * people's files, folders that come and go. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/store_world.h"

static void write_file(const char *folder, const char *name)
{
    char path[STORE_PATH_SIZE];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("outside", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_listed(struct lks_store *store, const char *const *keys)
{
    struct lks_listed listed[16];
    struct lks_error error;
    size_t count;
    size_t i;

    assert_status(LKS_OK, lks_store_list(store, "", "", 16, listed, &count,
                                         NULL, &error));
    for (i = 0; i < count && keys[i] != NULL; i++)
        assert_string_equal(listed[i].key, keys[i]);
    assert_int_equal(i, count);
    assert_null(keys[i]);
}

static void a_link_to_a_file_is_no_object(void **state)
{
    static const char *const keys[] = {"folder/object", NULL};
    struct world *world = *state;
    struct lks_part part = {.data = "new", .size = 3};
    char target[STORE_PATH_SIZE];
    char link_path[STORE_PATH_SIZE];
    struct lks_error error;
    struct stat stat;
    size_t size;
    char byte;

    write_file(world->outside, "secret");
    snprintf(target, sizeof(target), "%s/secret", world->outside);
    store_world_path(world, "link", link_path);
    assert_int_equal(symlink(target, link_path), 0);

    assert_status(LKS_CORRUPT, lks_store_get(world->store, "link", 0, &byte, 1,
                                             &size, NULL, &error));
    assert_message_has("symbolic link");
    assert_status(LKS_CORRUPT,
                  lks_store_stat(world->store, "link", NULL, &error));
    assert_status(LKS_CORRUPT, lks_store_create(world->store, "link", &part, 1,
                                                NULL, &error));
    expect_listed(world->store, keys);

    /* What is overwritten is the link, and not what it leads to. */
    suite_put(world->store, "link", "now an object");
    suite_expect(world->store, "link", "now an object");
    assert_int_equal(lstat(target, &stat), 0);
    assert_int_equal(stat.st_size, strlen("outside"));
    suite_remove(world->store, "link");
    assert_int_equal(symlink(target, link_path), 0);
    suite_remove(world->store, "link");
    assert_int_equal(lstat(target, &stat), 0);
}

static void a_link_to_a_folder_leads_nowhere(void **state)
{
    static const char *const keys[] = {"folder/object", NULL};
    static const char *const links[] = {"link", "folder/link"};
    struct world *world = *state;
    struct lks_part part = {.data = "new", .size = 3};
    struct lks_error error;
    size_t size;
    char byte;

    write_file(world->outside, "secret");
    for (size_t i = 0; i < 2; i++) {
        char link_path[STORE_PATH_SIZE];
        char key[64];
        const char *name = key;

        store_world_path(world, links[i], link_path);
        assert_int_equal(symlink(world->outside, link_path), 0);
        snprintf(key, sizeof(key), "%s/secret", links[i]);
        assert_status(LKS_CORRUPT, lks_store_get(world->store, key, 0, &byte, 1,
                                                 &size, NULL, &error));
        assert_status(LKS_CORRUPT, lks_store_create(world->store, key, &part, 1,
                                                    NULL, &error));
        assert_status(LKS_CORRUPT,
                      lks_store_put(world->store, key, &part, 1, NULL, &error));
        /* Nothing of ours is there: removed or refused is all the same. */
        lks_store_remove(world->store, &name, 1, NULL, NULL);
        snprintf(key, sizeof(key), "%s/new/deeper", links[i]);
        assert_status(LKS_CORRUPT, lks_store_create(world->store, key, &part, 1,
                                                    NULL, &error));
    }
    expect_listed(world->store, keys);
    assert_int_equal(store_place_file_count(world->outside), 1);
    assert_int_equal(store_place_folder_count(world->outside), 0);
}

static void the_stores_own_folder_may_be_a_link(void **state)
{
    struct world *world = *state;
    char link_path[STORE_PATH_SIZE];
    struct lks_store *store;
    struct lks_error error;

    snprintf(link_path, sizeof(link_path), "%s/link", world->place);
    assert_int_equal(symlink(world->inside, link_path), 0);
    assert_status(LKS_OK, lks_store_file_open(link_path, lks_env_real(), true,
                                              &store, &error));
    suite_expect(store, "folder/object", "inside");
    suite_create(store, "folder/new", "by the link");
    suite_expect(world->store, "folder/new", "by the link");
    lks_store_close(store);
}

static void a_pipe_does_not_make_a_reader_wait(void **state)
{
    struct world *world = *state;
    char path[STORE_PATH_SIZE];
    struct lks_error error;
    size_t size;
    char byte;

    store_world_path(world, "pipe", path);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_status(LKS_CORRUPT, lks_store_get(world->store, "pipe", 0, &byte, 1,
                                             &size, NULL, &error));
}

static void other_peoples_files_are_not_listed(void **state)
{
    static const char *const names[] = {
        ".hidden", "lost+found", "a copy", "object~", "#object#", "\xc3\xa4",
    };
    static const char *const keys[] = {"folder/object", "listed", NULL};
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[STORE_PATH_SIZE];

        write_file(world->inside, names[i]);
        snprintf(path, sizeof(path), "%s/folder/%s", world->inside, names[i]);
        assert_int_equal(mkdir(path, 0777), 0);
        write_file(path, "below");
    }
    write_file(world->inside, "listed");
    expect_listed(world->store, keys);
}

static void folders_go_with_their_last_object(void **state)
{
    struct world *world = *state;

    suite_create(world->store, "a/b/c/1", "x");
    suite_create(world->store, "a/b/d/2", "x");
    suite_remove(world->store, "a/b/c/1");
    assert_int_equal(store_place_folder_count(world->inside) -
                         world->make_do, /* .tmp */
                     4);
    suite_remove(world->store, "a/b/d/2");
    suite_remove(world->store, "folder/object");
    assert_int_equal(store_place_folder_count(world->inside) - world->make_do,
                     0);
}

static void an_empty_folder_is_not_in_the_way_of_an_object(void **state)
{
    struct world *world = *state;
    char path[STORE_PATH_SIZE];

    store_world_path(world, "a", path);
    assert_int_equal(mkdir(path, 0777), 0);
    suite_create(world->store, "a", "created");
    suite_expect(world->store, "a", "created");
    store_world_path(world, "b", path);
    assert_int_equal(mkdir(path, 0777), 0);
    suite_put(world->store, "b", "put");
    suite_expect(world->store, "b", "put");
}

static void a_key_that_continues_another_is_refused(void **state)
{
    struct world *world = *state;
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_error error;

    assert_status(LKS_INVALID, lks_store_create(world->store, "folder", &part,
                                                1, NULL, &error));
    assert_status(LKS_INVALID, lks_store_put(world->store, "folder", &part, 1,
                                             NULL, &error));
    assert_status(LKS_INVALID,
                  lks_store_create(world->store, "folder/object/below", &part,
                                   1, NULL, &error));
    assert_message_has("continue another");
    suite_expect(world->store, "folder/object", "inside");
}

static void a_segment_longer_than_a_name_is_refused(void **state)
{
    struct world *world = *state;
    struct lks_part part = {.data = "x", .size = 1};
    char key[LKS_KEY_SIZE_MAX + 1];
    struct lks_error error;

    memset(key, 'k', LKS_KEY_SIZE_MAX);
    key[LKS_KEY_SIZE_MAX] = '\0';
    assert_status(LKS_INVALID,
                  lks_store_create(world->store, key, &part, 1, NULL, &error));
    suite_expect_missing(world->store, key);
    suite_remove(world->store, key);
}

static void reading_makes_no_folder_and_writing_makes_all(void **state)
{
    struct world *world = *state;
    char path[STORE_PATH_SIZE];
    struct lks_listed listed;
    struct lks_store *reader;
    struct lks_store *writer;
    struct lks_error error;
    size_t count = 9;

    snprintf(path, sizeof(path), "%s/not/yet/there", world->place);
    assert_status(LKS_OK, lks_store_file_open(path, lks_env_real(), true,
                                              &reader, &error));
    assert_status(LKS_OK, lks_store_file_open(path, lks_env_real(), true,
                                              &writer, &error));
    suite_expect_missing(reader, "a");
    suite_remove(reader, "a");
    assert_status(LKS_OK, lks_store_list(reader, "", "", 1, &listed, &count,
                                         NULL, &error));
    assert_int_equal(count, 0);
    assert_int_equal(access(path, F_OK), -1);
    suite_create(writer, "a", "made");
    suite_expect(reader, "a", "made");
    lks_store_close(writer);
    lks_store_close(reader);
}

static void a_relative_path_stays_what_it_was(void **state)
{
    struct world *world = *state;
    char before[STORE_PLACE_SIZE];
    struct lks_store *store;
    struct lks_error error;

    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(world->place), 0);
    assert_status(LKS_OK, lks_store_file_open("new/store", lks_env_real(), true,
                                              &store, &error));
    assert_int_equal(chdir("/"), 0);
    suite_create(store, "a", "where it was opened");
    suite_expect(store, "a", "where it was opened");
    assert_non_null(strstr(store->url, world->place));
    lks_store_close(store);
    assert_int_equal(chdir(before), 0);
}

static void a_file_is_no_place_for_a_store(void **state)
{
    struct world *world = *state;
    char path[STORE_PATH_SIZE];
    struct lks_store *store;
    struct lks_error error;

    store_world_path(world, "folder/object", path);
    assert_status(LKS_INVALID, lks_store_file_open(path, lks_env_real(), true,
                                                   &store, &error));
    assert_message_has("not a folder");
}

static void a_store_that_was_removed_says_so(void **state)
{
    struct world *world = *state;
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_error error;

    store_place_remove(world->inside);
    suite_expect_missing(world->store, "folder/object");
    assert_status(LKS_UNAVAILABLE, lks_store_create(world->store, "new", &part,
                                                    1, NULL, &error));
    assert_message_has("removed");
    assert_int_equal(access(world->inside, F_OK), -1);
}

static void temporary_names_go_once_they_are_old(void **state)
{
    struct world *world = *state;
    char temp_folder[STORE_PATH_SIZE];
    struct lks_store *store;

    store_world_path(world, ".tmp", temp_folder);
    mkdir(temp_folder, 0777);
    write_file(temp_folder, "young");
    suite_put(world->store, "folder/object", "overwritten");
    assert_int_equal(store_place_file_count(temp_folder), 1);

    /* A name cannot be made to look old, so the clock is made to look late:
     * nothing but the age decides. */
    store = store_world_open(world, world->inside);
    ((struct lks_file_store *)store)->temp_age_ms = -1000;
    suite_put(store, "folder/object", "overwritten again");
    assert_int_equal(store_place_file_count(temp_folder), 0);
    lks_store_close(store);
}

static void many_folders_are_written_and_few_are_held_open(void **state)
{
    struct world *world = *state;

    for (uint32_t i = 0; i < 5 * LKS_FILE_FOLDERS_MAX; i++) {
        char key[64];

        snprintf(key, sizeof(key), "many/%u/x", i % (2 * LKS_FILE_FOLDERS_MAX));
        suite_put(world->store, key, "x");
    }
    assert_true(dup(0) < 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_WORLD_TESTS(a_link_to_a_file_is_no_object),
        STORE_WORLD_TESTS(a_link_to_a_folder_leads_nowhere),
        STORE_WORLD_TESTS(the_stores_own_folder_may_be_a_link),
        STORE_WORLD_TESTS(a_pipe_does_not_make_a_reader_wait),
        STORE_WORLD_TESTS(other_peoples_files_are_not_listed),
        STORE_WORLD_TESTS(folders_go_with_their_last_object),
        STORE_WORLD_TESTS(an_empty_folder_is_not_in_the_way_of_an_object),
        STORE_WORLD_TESTS(a_key_that_continues_another_is_refused),
        STORE_WORLD_TESTS(a_segment_longer_than_a_name_is_refused),
        STORE_WORLD_TESTS(reading_makes_no_folder_and_writing_makes_all),
        STORE_WORLD_TESTS(a_relative_path_stays_what_it_was),
        STORE_WORLD_TESTS(a_file_is_no_place_for_a_store),
        STORE_WORLD_TESTS(a_store_that_was_removed_says_so),
        STORE_WORLD_TESTS(temporary_names_go_once_they_are_old),
        STORE_WORLD_TESTS(many_folders_are_written_and_few_are_held_open),
    };

    return cmocka_run_group_tests_name("file, hazards", tests, NULL, NULL);
}
