/*
 * The store in a folder when system calls fail, do half of what they were told,
 * or lose their answers as they do on NFS; and the order of its syncs.
 *
 * The calls below take the place of the C library's in this program.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/file_store.h"
#include "support/store_world.h"

#define EVENTS_MAX 64u

enum call_kind { LINK, RENAME, SYNC_FILE, SYNC_FOLDER, WRITE, READ, KINDS };

static struct {
    char kinds[EVENTS_MAX + 1]; /* L R F D, as they happened */
    ino_t inodes[EVENTS_MAX];   /* of what was synced */
    size_t count;
    int fail[KINDS];      /* the errno value of each such call */
    bool is_done[KINDS];  /* and it is done all the same */
    bool no_empty_path;   /* linkat() needs /proc */
    bool no_proc;         /* and there is none */
    size_t size_max;      /* of a read or write; 0: no limit */
    uint32_t interrupted; /* one in so many reads and writes; 0: none */
    uint32_t io_count;
    struct lks_cancel *cancel; /* set by the first read or write */
    bool no_types;             /* of a folder's entries */
} faults;

static void add_event(char kind, ino_t inode)
{
    if (faults.count == EVENTS_MAX)
        return;
    faults.inodes[faults.count] = inode;
    faults.kinds[faults.count++] = kind;
}

static int fail_with(int reason)
{
    errno = reason;
    return -1;
}

int fsync(int fd)
{
    struct stat stat;
    bool is_folder;
    int reason;

    if (fstat(fd, &stat) != 0)
        return -1;
    is_folder = S_ISDIR(stat.st_mode);
    add_event(is_folder ? 'D' : 'F', stat.st_ino);
    reason = faults.fail[is_folder ? SYNC_FOLDER : SYNC_FILE];
    return reason != 0 ? fail_with(reason) : (int)syscall(SYS_fsync, fd);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    int result = 0;

    if (faults.no_empty_path && (flags & AT_EMPTY_PATH) != 0)
        return fail_with(ENOENT);
    if (faults.no_proc && strncmp(from, "/proc", 5) == 0)
        return fail_with(ENOENT);
    add_event('L', 0);
    if (faults.fail[LINK] == 0 || faults.is_done[LINK])
        result = (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    if (result == 0 && faults.fail[LINK] != 0)
        return fail_with(faults.fail[LINK]);
    return result;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    int result = 0;

    add_event('R', 0);
    if (faults.fail[RENAME] == 0 || faults.is_done[RENAME])
        result = (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
    if (result == 0 && faults.fail[RENAME] != 0)
        return fail_with(faults.fail[RENAME]);
    return result;
}

static bool is_interrupted(void)
{
    if (faults.cancel != NULL)
        lks_cancel_set(faults.cancel);
    return faults.interrupted != 0 &&
           ++faults.io_count % faults.interrupted == 0;
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset)
{
    struct iovec first = vectors[0];

    if (faults.fail[WRITE] != 0)
        return fail_with(faults.fail[WRITE]);
    if (is_interrupted())
        return fail_with(EINTR);
    if (faults.size_max == 0)
        return syscall(SYS_pwritev, fd, vectors, count, offset, 0);
    if (first.iov_len > faults.size_max)
        first.iov_len = faults.size_max;
    return syscall(SYS_pwritev, fd, &first, 1, offset, 0);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    if (faults.fail[READ] != 0)
        return fail_with(faults.fail[READ]);
    if (is_interrupted())
        return fail_with(EINTR);
    if (faults.size_max != 0 && size > faults.size_max)
        size = faults.size_max;
    return syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t getdents64(int fd, void *data, size_t size)
{
    long result = syscall(SYS_getdents64, fd, data, size);

    for (long at = 0; faults.no_types && at < result;) {
        struct dirent64 *entry = (void *)((char *)data + at);

        entry->d_type = DT_UNKNOWN;
        at += entry->d_reclen;
    }
    return result;
}

static void no_faults(void)
{
    memset(&faults, 0, sizeof(faults));
}

static int set_up(void **state)
{
    int result;

    no_faults();
    result = store_world_set_up(state);
    no_faults();
    return result;
}

static int tear_down(void **state)
{
    no_faults();
    return store_world_tear_down(state);
}

static ino_t inode_of(const struct world *world, const char *name)
{
    char path[STORE_PATH_SIZE];
    struct stat stat;

    store_world_path(world, name, path);
    assert_int_equal(lstat(path, &stat), 0);
    return stat.st_ino;
}

static enum lks_status create(struct world *world,
                              const char *key,
                              struct lks_error *error)
{
    struct lks_part part = {.data = "created", .size = 7};

    return lks_store_create(world->store, key, &part, 1, NULL, error);
}

static enum lks_status put(struct world *world,
                           const char *key,
                           struct lks_error *error)
{
    struct lks_part part = {.data = "put", .size = 3};

    return lks_store_put(world->store, key, &part, 1, NULL, error);
}

/* Only what was there at the beginning is there. */
static void expect_nothing_left(struct world *world, const char *key)
{
    no_faults();
    suite_expect_missing(world->store, key);
    assert_int_equal(store_place_file_count(world->inside), 1);
}

static void bytes_are_synced_before_the_name_and_its_folder_after(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    assert_status(LKS_OK, create(world, "folder/second", &error));
    assert_string_equal(faults.kinds, "FLD");
    assert_true(faults.inodes[0] == inode_of(world, "folder/second"));
    assert_true(faults.inodes[2] == inode_of(world, "folder"));
}

static void an_overwriting_rename_is_synced_too(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    suite_put(world->store, "folder/object", "the temporary folder is there");
    no_faults();
    assert_status(LKS_OK, put(world, "folder/object", &error));
    assert_non_null(strchr(faults.kinds, 'R'));
    assert_int_equal(faults.kinds[0], 'F');
    assert_int_equal(faults.kinds[faults.count - 1], 'D');
    assert_true(faults.inodes[faults.count - 1] == inode_of(world, "folder"));
}

static void new_folders_are_synced_into_their_parents(void **state)
{
    struct world *world = *state;
    char before_link[EVENTS_MAX + 1];
    struct lks_error error;

    assert_status(LKS_OK, create(world, "a/b/c", &error));
    snprintf(before_link, sizeof(before_link), "%s", faults.kinds);
    *strchr(before_link, 'L') = '\0';
    assert_string_equal(before_link, "DDF");
    assert_true(faults.inodes[0] == inode_of(world, "."));
    assert_true(faults.inodes[1] == inode_of(world, "a"));
    assert_true(faults.inodes[faults.count - 1] == inode_of(world, "a/b"));
}

static void folders_that_another_made_are_synced_once(void **state)
{
    struct world *world = *state;
    struct lks_store *other = store_world_open(world, world->inside);

    /* Whoever made "folder" may not have synced it yet. */
    suite_create(other, "folder/1", "x");
    assert_int_equal(strncmp(faults.kinds, "DDFLD", 5), 0);
    assert_true(faults.inodes[0] == inode_of(world, ".."));
    assert_true(faults.inodes[1] == inode_of(world, "."));
    no_faults();
    suite_create(other, "folder/2", "x");
    assert_string_equal(faults.kinds, "FLD");
    lks_store_close(other);
}

static void a_new_store_is_synced_into_its_parents(void **state)
{
    struct world *world = *state;
    char path[STORE_PATH_SIZE];
    struct lks_store *other;

    snprintf(path, sizeof(path), "%s/not/yet", world->place);
    other = store_world_open(world, path);
    suite_create(other, "object", "x");
    assert_true(faults.inodes[0] == inode_of(world, ".."));
    assert_true(faults.inodes[1] == inode_of(world, "../not"));
    lks_store_close(other);
}

static void removing_is_synced(void **state)
{
    struct world *world = *state;

    suite_create(world->store, "folder/second", "x");
    no_faults();
    suite_remove(world->store, "folder/second");
    assert_string_equal(faults.kinds, "D");
    assert_true(faults.inodes[0] == inode_of(world, "folder"));
    no_faults();
    suite_remove(world->store, "folder/object");
    assert_string_equal(faults.kinds, "D");
    assert_true(faults.inodes[0] == inode_of(world, "."));
}

static void without_durability_nothing_is_synced(void **state)
{
    struct world *world = *state;
    struct lks_store *store;
    struct lks_error error;

    assert_status(LKS_OK, lks_store_file_open(world->inside, lks_env_real(),
                                              false, &store, &error));
    suite_create(store, "a/b", "x");
    suite_put(store, "a/b", "y");
    suite_remove(store, "a/b");
    assert_null(strchr(faults.kinds, 'D'));
    assert_null(strchr(faults.kinds, 'F'));
    lks_store_close(store);
}

static void a_create_that_lost_already_costs_no_sync(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    assert_status(LKS_EXISTS, create(world, "folder/object", &error));
    assert_string_equal(faults.kinds, "");
}

static void bytes_that_cannot_be_synced_get_no_name(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    faults.fail[SYNC_FILE] = EIO;
    assert_status(LKS_UNAVAILABLE, create(world, "folder/new", &error));
    assert_status(LKS_UNAVAILABLE, put(world, "folder/new", &error));
    expect_nothing_left(world, "folder/new");
}

static void a_name_that_cannot_be_synced_is_unsure(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    faults.fail[SYNC_FOLDER] = EIO;
    assert_status(LKS_UNSURE, create(world, "folder/new", &error));
    no_faults();
    suite_expect(world->store, "folder/new", "created");
}

static void a_file_system_that_cannot_sync_folders_is_taken_as_it_is(void **s)
{
    struct world *world = *s;
    struct lks_error error;

    faults.fail[SYNC_FOLDER] = EINVAL;
    assert_status(LKS_OK, create(world, "folder/new", &error));
}

static void ones_own_file_is_known_after_a_lost_answer(void **state)
{
    static const int reasons[] = {EEXIST, EIO, ETIMEDOUT, ESTALE, ENOENT};
    struct world *world = *state;
    struct lks_error error;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        char key[32];

        snprintf(key, sizeof(key), "folder/new%zu", i);
        faults.fail[LINK] = reasons[i];
        faults.is_done[LINK] = true;
        assert_status(LKS_OK, create(world, key, &error));
        suite_expect(world->store, key, "created");
    }
    faults.fail[LINK] = EEXIST;
    assert_status(LKS_EXISTS, create(world, "folder/object", &error));

    no_faults();
    faults.fail[RENAME] = ENOENT;
    faults.is_done[RENAME] = true;
    assert_status(LKS_OK, put(world, "folder/object", &error));
    suite_expect(world->store, "folder/object", "put");
}

static void a_name_that_was_asked_for_in_vain_is_unsure(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    faults.fail[LINK] = EIO;
    assert_status(LKS_UNSURE, create(world, "folder/new", &error));
    faults.fail[RENAME] = ETIMEDOUT;
    assert_status(LKS_UNSURE, put(world, "folder/new", &error));
    expect_nothing_left(world, "folder/new");
}

static void what_certainly_failed_is_not_unsure(void **state)
{
    static const struct {
        int reason;
        enum lks_status status;
    } cases[] = {
        {ENOSPC, LKS_UNAVAILABLE}, {EDQUOT, LKS_UNAVAILABLE},
        {EACCES, LKS_DENIED},      {EROFS, LKS_DENIED},
        {EPERM, LKS_UNSUPPORTED},  {EOPNOTSUPP, LKS_UNSUPPORTED},
        {EMLINK, LKS_UNSUPPORTED}, {EXDEV, LKS_UNSUPPORTED},
        {ENOMEM, LKS_NO_MEMORY},
    };
    struct world *world = *state;
    struct lks_error error;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        faults.fail[LINK] = cases[i].reason;
        faults.fail[RENAME] = cases[i].reason;
        assert_status(cases[i].status, create(world, "folder/new", &error));
        assert_status(cases[i].status, put(world, "folder/new", &error));
    }
    expect_nothing_left(world, "folder/new");
}

static void a_disk_that_fills_up_leaves_nothing(void **state)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EIO, EFBIG};
    struct world *world = *state;
    struct lks_error error;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        faults.fail[WRITE] = reasons[i];
        assert_status(LKS_UNAVAILABLE, create(world, "folder/new", &error));
        assert_status(LKS_UNAVAILABLE, put(world, "folder/object", &error));
    }
    expect_nothing_left(world, "folder/new");
    suite_expect(world->store, "folder/object", "inside");
}

static void short_and_interrupted_transfers_are_continued(void **state)
{
    enum { PARTS = 200, SIZE = 100 * 1000 };
    struct world *world = *state;
    static uint8_t data[SIZE];
    static uint8_t found[SIZE];
    struct lks_part parts[PARTS];
    struct lks_error error;
    size_t done = 0;

    suite_fill(data, SIZE, 3);
    for (size_t i = 0; i < PARTS; i++) {
        size_t size = i == PARTS - 1 ? SIZE - done : (i * 37) % 900;

        parts[i].data = data + done;
        parts[i].size = size;
        done += size;
    }
    faults.size_max = 333;
    faults.interrupted = 3;
    assert_status(LKS_OK, lks_store_create(world->store, "large", parts, PARTS,
                                           NULL, &error));
    assert_status(LKS_OK, lks_store_get_exact(world->store, "large", 0, found,
                                              SIZE, NULL, &error));
    assert_memory_equal(found, data, SIZE);
    no_faults();
    memset(found, 0, SIZE);
    assert_status(LKS_OK, lks_store_get_exact(world->store, "large", 0, found,
                                              SIZE, NULL, &error));
    assert_memory_equal(found, data, SIZE);
}

static void a_disk_that_cannot_be_read_is_unavailable(void **state)
{
    struct world *world = *state;
    struct lks_error error;
    size_t size = 7;
    char byte;

    faults.fail[READ] = EIO;
    assert_status(LKS_UNAVAILABLE,
                  lks_store_get(world->store, "folder/object", 0, &byte, 1,
                                &size, NULL, &error));
    assert_message_has("folder/object bytes 0-0");
    assert_int_equal(size, 7);
}

static void a_nameless_file_gets_its_name_one_way_or_another(void **state)
{
    struct world *world = *state;
    struct lks_error error;

    faults.no_empty_path = true;
    assert_status(LKS_OK, create(world, "folder/by-proc", &error));
    assert_status(LKS_OK, put(world, "folder/by-proc", &error));
    suite_expect(world->store, "folder/by-proc", "put");

    faults.no_proc = true;
    assert_status(LKS_OK, create(world, "folder/by-name", &error));
    assert_status(LKS_OK, put(world, "folder/by-name", &error));
    suite_expect(world->store, "folder/by-name", "put");
    assert_int_equal(store_place_file_count(world->inside), 3);
}

static void a_large_transfer_can_be_cancelled_on_the_way(void **state)
{
    enum { SIZE = 3 * LKS_FILE_CHUNK_SIZE };
    struct world *world = *state;
    uint8_t *data = calloc(1, SIZE);
    struct lks_part part = {.data = data, .size = SIZE};
    struct lks_call call = LKS_CALL_INIT;
    struct lks_cancel cancel;
    struct lks_error error;
    size_t size = 7;

    lks_cancel_init(&cancel);
    call.cancel = &cancel;
    faults.cancel = &cancel;
    assert_status(LKS_CANCELLED, lks_store_create(world->store, "large", &part,
                                                  1, &call, &error));
    expect_nothing_left(world, "large");

    assert_status(LKS_OK, lks_store_create(world->store, "large", &part, 1,
                                           NULL, &error));
    lks_cancel_init(&cancel);
    faults.cancel = &cancel;
    assert_status(LKS_CANCELLED, lks_store_get(world->store, "large", 0, data,
                                               SIZE, &size, &call, &error));
    assert_int_equal(size, 7);
    free(data);
}

static void a_write_that_is_done_but_for_its_name_can_be_cancelled(void **state)
{
    struct world *world = *state;
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_call call = LKS_CALL_INIT;
    struct lks_cancel cancel;
    struct lks_error error;

    lks_cancel_init(&cancel);
    call.cancel = &cancel;
    faults.cancel = &cancel;
    assert_status(LKS_CANCELLED, lks_store_create(world->store, "new", &part, 1,
                                                  &call, &error));
    expect_nothing_left(world, "new");
}

static void folders_that_do_not_tell_types_are_listed_too(void **state)
{
    struct world *world = *state;
    struct lks_listed listed[4];
    char path[STORE_PATH_SIZE];
    struct lks_error error;
    size_t count;

    store_world_path(world, "link", path);
    assert_int_equal(symlink(world->outside, path), 0);
    suite_create(world->store, "object", "x");
    faults.no_types = true;
    assert_status(LKS_OK, lks_store_list(world->store, "", "", 4, listed,
                                         &count, NULL, &error));
    assert_int_equal(count, 2);
    assert_string_equal(listed[0].key, "folder/object");
    assert_string_equal(listed[1].key, "object");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(bytes_are_synced_before_the_name_and_its_folder_after),
        TEST(an_overwriting_rename_is_synced_too),
        TEST(new_folders_are_synced_into_their_parents),
        TEST(folders_that_another_made_are_synced_once),
        TEST(a_new_store_is_synced_into_its_parents),
        TEST(removing_is_synced),
        TEST(without_durability_nothing_is_synced),
        TEST(a_create_that_lost_already_costs_no_sync),
        TEST(bytes_that_cannot_be_synced_get_no_name),
        TEST(a_name_that_cannot_be_synced_is_unsure),
        TEST(a_file_system_that_cannot_sync_folders_is_taken_as_it_is),
        TEST(ones_own_file_is_known_after_a_lost_answer),
        TEST(a_name_that_was_asked_for_in_vain_is_unsure),
        TEST(what_certainly_failed_is_not_unsure),
        TEST(a_disk_that_fills_up_leaves_nothing),
        TEST(short_and_interrupted_transfers_are_continued),
        TEST(a_disk_that_cannot_be_read_is_unavailable),
        TEST(a_nameless_file_gets_its_name_one_way_or_another),
        TEST(a_large_transfer_can_be_cancelled_on_the_way),
        TEST(a_write_that_is_done_but_for_its_name_can_be_cancelled),
        TEST(folders_that_do_not_tell_types_are_listed_too),
    };

    return cmocka_run_group_tests_name("file, faults", tests, NULL, NULL);
}
