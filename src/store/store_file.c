/*
 * The store in a folder: an object is a file, its key the path below. Here are
 * opening, reading and the clock; file_write.c, file_list.c and file_remove.c
 * have the other calls.
 *
 * The times that count are the file system's: an object's age is its ctime,
 * which link() sets when the object appears, while mtime may be much older; the
 * store's clock is the ctime of a file that is touched when it is asked.
 */
#include "store/file_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"

#define XFS_MAGIC 0x58465342
#define ZFS_MAGIC 0x2fc12fc1

int64_t lks_file_time_ms(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / (long)LKS_NS_PER_MS;
}

enum lks_status lks_file_fail(int reason, struct lks_error *error)
{
    switch (reason) {
    case ENOENT:
    case ENOTDIR:
        return lks_error_set(error, LKS_NOT_FOUND, "no such object");
    case ENOSPC:
        return lks_error_set(error, LKS_UNAVAILABLE, "the disk is full");
    case EDQUOT:
        return lks_error_set(error, LKS_UNAVAILABLE, "the quota is used up");
    case EROFS:
        return lks_error_set(error, LKS_DENIED,
                             "the file system is mounted read-only");
    case EACCES:
    case EPERM:
        return lks_error_set(error, LKS_DENIED,
                             "permission denied for user %ld: it takes rights "
                             "to this folder, or its owner",
                             (long)geteuid());
    case ENOMEM:
        return lks_error_no_memory(error);
    case ECANCELED:
        return lks_error_set(error, LKS_CANCELLED, "cancelled");
    case ENAMETOOLONG:
        return lks_error_set(error, LKS_INVALID,
                             "a part of the key is longer than this file "
                             "system's names may be");
    case EXDEV:
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the store spans several file systems");
    case ELOOP:
    case ENXIO:
    case ENODEV:
        return lks_error_set(error, LKS_CORRUPT,
                             "what lies there is no plain file but a symbolic "
                             "link or the like, which is not followed");
    default:
        return lks_error_set(error, LKS_UNAVAILABLE, "%s", strerror(reason));
    }
}

/* Why the store's own folder cannot be opened; LKS_OK if it may be made yet. */
static enum lks_status refuse_root(const char *path,
                                   int reason,
                                   struct lks_error *error)
{
    enum lks_status status = LKS_OK;
    struct stat stat;

    if (reason == ENOTDIR)
        status = lks_error_set(error, LKS_INVALID, "not a folder");
    else if (reason == ENAMETOOLONG)
        status = lks_error_set(error, LKS_INVALID,
                               "this path, or a name in it, is longer than the "
                               "system allows");
    else if (reason != ENOENT)
        status = lks_file_fail(reason, error);
    else if (lstat(path, &stat) == 0 && S_ISLNK(stat.st_mode))
        status = lks_error_set(error, LKS_INVALID,
                               "a symbolic link to something that is not "
                               "there: make that folder, or remove the link");
    if (status == LKS_OK)
        return status;
    return lks_error_prefix(error, status, "open folder %.200s", path);
}

/* A file that has a time of its own and no name. */
static int clock_open(struct lks_file_store *file, int root_fd)
{
    struct lks_file_temp temp;
    int fd = -1;

    if (!atomic_load(&file->lacks_tmpfile))
        fd = openat(root_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        return fd;

    lks_file_temp_init(&temp);
    if (lks_file_temp_reserve(file, "", &temp) == 0)
        fd = openat(temp.folder->fd, temp.name,
                    O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    lks_file_temp_done(file, &temp);
    return fd;
}

/* Whether the file system is this machine's, and takes its times from its
 * clock. */
static bool is_local(int root_fd)
{
    struct statfs fs;

    if (fstatfs(root_fd, &fs) != 0)
        return false;
    switch ((unsigned long)fs.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case ZFS_MAGIC:
        return true;
    default:
        return false;
    }
}

void lks_file_date(struct lks_file_store *file, struct lks_call *call)
{
    int root_fd = atomic_load(&file->root_fd);
    int fd = atomic_load(&file->clock_fd);
    struct stat stat;

    if (!call->want_date || root_fd < 0)
        return;

    if (fd < 0) {
        int none = -1;

        fd = clock_open(file, root_fd);
        if (fd >= 0 &&
            !atomic_compare_exchange_strong(&file->clock_fd, &none, fd)) {
            close(fd);
            fd = none;
        }
    }
    if (fd >= 0 && futimens(fd, NULL) == 0 && fstat(fd, &stat) == 0)
        call->date_ms = lks_file_time_ms(stat.st_ctim);
    else if (is_local(root_fd))
        /* Somebody who may only read: the same clock, asked directly. */
        call->date_ms = lks_env_wall_ms(file->store.env);
}

/* What a reply says about the object besides its bytes. */
static int describe(int fd, struct lks_call *call)
{
    uint64_t written_ns;
    struct stat stat;

    if (fstat(fd, &stat) != 0)
        return errno;
    if (S_ISDIR(stat.st_mode))
        return ENOENT; /* a folder of keys, and no key itself */
    if (!S_ISREG(stat.st_mode))
        return ELOOP;

    call->object_size = (uint64_t)stat.st_size;
    call->modified_ms = lks_file_time_ms(stat.st_ctim);
    /* mtime, not ctime: the latter moves on when a second name of the file is
     * removed, and its bytes are still the same. */
    written_ns = (uint64_t)stat.st_mtim.tv_sec * LKS_NS_PER_S +
                 (uint64_t)stat.st_mtim.tv_nsec;
    snprintf(call->etag, sizeof(call->etag),
             "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64,
             (uint64_t)stat.st_dev, (uint64_t)stat.st_ino,
             (uint64_t)stat.st_size, written_ns);
    return 0;
}

/* Reads until `size` bytes are there or the file ends. */
static int read_range(int fd,
                      uint64_t offset,
                      uint8_t *data,
                      size_t size,
                      size_t *out_size,
                      const struct lks_cancel *cancel)
{
    size_t done = 0;

    while (done < size) {
        size_t chunk = size - done;
        ssize_t count;

        if (done > 0 && lks_cancelled(cancel))
            return ECANCELED;
        if (chunk > LKS_FILE_CHUNK_SIZE)
            chunk = LKS_FILE_CHUNK_SIZE;
        count = pread(fd, data + done, chunk, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    *out_size = done;
    return 0;
}

static int get_once(struct lks_file_store *file,
                    const char *key,
                    uint64_t offset,
                    void *data,
                    size_t size,
                    size_t *out_size,
                    struct lks_call *call)
{
    int fd = lks_file_open_below(file, key, O_RDONLY);
    int reason;

    if (fd < 0)
        return errno;
    reason = describe(fd, call);
    if (reason == 0 && size > 0)
        reason = read_range(fd, offset, data, size, out_size, call->cancel);
    close(fd);
    return reason;
}

static enum lks_status file_get(struct lks_store *store,
                                const char *key,
                                uint64_t offset,
                                void *data,
                                size_t size,
                                size_t *out_size,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct lks_file_store *file = (struct lks_file_store *)store;
    uint32_t try_count = 0;
    int reason;

    /* ESTALE: on NFS, the file was removed or replaced while being read. */
    do {
        reason = get_once(file, key, offset, data, size, out_size, call);
        try_count++;
    } while (reason == ESTALE && try_count < LKS_FILE_TRIES_MAX);

    call->request_count = try_count;
    lks_file_date(file, call);
    /* No file system has such a name, so no object does. */
    if (reason == ENAMETOOLONG)
        reason = ENOENT;
    return reason == 0 ? LKS_OK : lks_file_fail(reason, error);
}

static enum lks_status file_stat(struct lks_store *store,
                                 const char *key,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    size_t none;

    return file_get(store, key, 0, NULL, 0, &none, call, error);
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void file_close(struct lks_store *store)
{
    struct lks_file_store *file = (struct lks_file_store *)store;

    lks_file_folders_close(file);
    close_if_open(atomic_load(&file->clock_fd));
    close_if_open(atomic_load(&file->root_fd));
    lks_monitor_free(store->env, file->monitor);
    lks_free(file);
}

/* A server's file system can be as slow as any network. */
static bool file_works_here(struct lks_store *store)
{
    int root_fd = atomic_load(&((struct lks_file_store *)store)->root_fd);

    return root_fd >= 0 && is_local(root_fd);
}

static const struct lks_store_ops file_ops = {
    .works_here = file_works_here,
    .get = file_get,
    .put = lks_file_put,
    .list = lks_file_list,
    .remove = lks_file_remove,
    .stat = file_stat,
    .uploads = lks_file_uploads,
    .abort = lks_file_abort,
    .close = file_close,
};

/* The working folder may change while the store is open. */
static enum lks_status absolute(const char *path,
                                char out[PATH_MAX],
                                struct lks_error *error)
{
    char folder[PATH_MAX];
    int size;

    if (path[0] == '/')
        size = snprintf(out, PATH_MAX, "%s", path);
    else if (getcwd(folder, sizeof(folder)) != NULL)
        size = snprintf(out, PATH_MAX, "%s/%s",
                        strcmp(folder, "/") == 0 ? "" : folder, path);
    else
        return lks_error_set(error, LKS_UNAVAILABLE,
                             "the working folder is gone, and '%.200s' is "
                             "relative to it",
                             path);
    if (size >= PATH_MAX)
        return lks_error_set(error, LKS_INVALID, "'%.200s' is too long a path",
                             path);
    return LKS_OK;
}

void lks_store_file_make_do(struct lks_store *store)
{
    struct lks_file_store *file = (struct lks_file_store *)store;

    atomic_store(&file->lacks_tmpfile, true);
    atomic_store(&file->lacks_openat2, true);
}

enum lks_status lks_store_file_open(const char *path,
                                    const struct lks_env *env,
                                    bool durable,
                                    struct lks_store **out_store,
                                    struct lks_error *error)
{
    struct lks_file_store *file = lks_alloc_zero(1, sizeof(*file));
    enum lks_status status;
    int root_fd;

    if (file == NULL)
        return lks_error_no_memory(error);

    atomic_init(&file->root_fd, -1);
    atomic_init(&file->clock_fd, -1);
    file->durable = durable;
    file->temp_age_ms = LKS_FILE_TEMP_AGE_MS;
    status = absolute(path, file->path, error);
    if (status != LKS_OK)
        goto done;

    /* It may not be there yet: the first write makes it. */
    root_fd = open(file->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        status = refuse_root(file->path, errno, error);
    if (status != LKS_OK)
        goto done;
    atomic_store(&file->root_fd, root_fd);
    status = lks_monitor_new(env, &file->monitor, error);
    if (status != LKS_OK) {
        close_if_open(root_fd);
        goto done;
    }
    lks_store_init(&file->store, &file_ops, env, "file://%s", file->path);
    *out_store = &file->store;
    file = NULL;

done:
    lks_free(file);
    return status;
}
