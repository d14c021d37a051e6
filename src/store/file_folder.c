/*
 * The folders of a file store: reaching a path without leaving the store, and
 * holding the folders that are written into.
 *
 * A symbolic link in the store's folder could lead a key anywhere, so none is
 * followed: one openat2() says that to the kernel, or a walk from folder to
 * folder where there is no such call. The store's own folder may well be
 * reached through links.
 *
 * A file is durable when the folder that names it was synced, and that folder's
 * own name in its parent, up to the store's. Somebody else may have made them a
 * moment ago and not synced them yet. So whoever opens a folder for writing
 * syncs all that lead to it, whoever made them, and keeps it open: this is paid
 * once per folder, not per object.
 */
#include "store/file_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int lks_file_sync(struct lks_file_store *file, int fd)
{
    if (!file->durable)
        return 0;
    while (fsync(fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

int lks_file_sync_folder(struct lks_file_store *file, int fd)
{
    int reason = lks_file_sync(file, fd);

    /* Some file systems have no such call for folders, nor a need for it. */
    if (reason == EINVAL || reason == ENOTSUP)
        return 0;
    return reason;
}

const char *lks_file_split(const char *key, char folder[LKS_KEY_SIZE_MAX + 1])
{
    const char *slash = strrchr(key, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - key);

    memcpy(folder, key, size);
    folder[size] = '\0';
    return slash == NULL ? key : slash + 1;
}

/* Opens one more segment. A link gives ELOOP, as from openat2(). */
static int open_at(int folder_fd, const char *name, int flags)
{
    int fd = openat(folder_fd, name, flags | O_NOFOLLOW | O_CLOEXEC);
    struct stat stat;

    if (fd >= 0 || errno != ENOTDIR)
        return fd;
    if (fstatat(folder_fd, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(stat.st_mode))
        errno = ELOOP;
    else
        errno = ENOTDIR;
    return -1;
}

/* Cuts the first segment off `*path`, into `segment`. */
static void next_segment(const char **path, char segment[LKS_KEY_SIZE_MAX + 1])
{
    size_t size = strcspn(*path, "/");

    memcpy(segment, *path, size);
    segment[size] = '\0';
    *path += size;
    if (**path == '/')
        (*path)++;
}

static void close_unless(int fd, int kept_fd)
{
    int reason = errno;

    if (fd != kept_fd)
        close(fd);
    errno = reason;
}

static int open_by_walk(int root_fd, const char *path, int flags)
{
    char segment[LKS_KEY_SIZE_MAX + 1];
    int fd = root_fd;

    while (fd >= 0) {
        int folder_fd = fd;
        bool last;

        next_segment(&path, segment);
        last = *path == '\0';
        fd = open_at(folder_fd, segment, last ? flags : O_PATH | O_DIRECTORY);
        close_unless(folder_fd, root_fd);
        if (last)
            break;
    }
    return fd;
}

static bool says_no_openat2(int reason)
{
    /* EPERM: some sandboxes answer so to calls that they do not know. */
    return reason == ENOSYS || reason == EPERM || reason == E2BIG ||
           reason == EINVAL;
}

/* The store's folder, which another process may have made by now. */
static int root_fd_of(struct lks_file_store *file)
{
    int fd = atomic_load(&file->root_fd);
    int none = -1;

    if (fd >= 0)
        return fd;
    fd = open(file->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (atomic_compare_exchange_strong(&file->root_fd, &none, fd))
        return fd;
    close(fd);
    return none;
}

int lks_file_open_below(struct lks_file_store *file,
                        const char *path,
                        int flags)
{
    struct open_how how = {
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    int root_fd = root_fd_of(file);
    long fd;

    if (root_fd < 0)
        return -1;
    if (path[0] == '\0')
        path = ".";

    /* What is not a plain file must not make us wait, nor be our terminal. */
    flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    how.flags = (unsigned int)flags;
    if (!atomic_load(&file->lacks_openat2)) {
        do
            fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
        while (fd < 0 && (errno == EINTR || errno == EAGAIN));
        if (fd >= 0 || !says_no_openat2(errno))
            return (int)fd;
        atomic_store(&file->lacks_openat2, true);
    }
    return open_by_walk(root_fd, path, flags);
}

/* Makes one folder and syncs what names it. */
static int make_folder(struct lks_file_store *file, const char *path)
{
    char parent[PATH_MAX] = "/";
    size_t parent_size = (size_t)(strrchr(path, '/') - path);
    int reason;
    int fd;

    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? 0 : errno;
    if (parent_size > 0)
        memcpy(parent, path, parent_size);
    fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    reason = lks_file_sync_folder(file, fd);
    close(fd);
    return reason;
}

/* Makes the store's folder and those that lead to it. */
static int make_root(struct lks_file_store *file)
{
    char path[PATH_MAX];
    size_t size = strlen(file->path);
    int reason = 0;

    memcpy(path, file->path, size + 1);
    for (size_t at = 1; at <= size && reason == 0; at++) {
        char end = path[at];

        if (end != '/' && end != '\0')
            continue;
        path[at] = '\0';
        reason = make_folder(file, path);
        path[at] = end;
    }
    return reason;
}

/* The store's folder, to write into it. */
static int root_fd_made(struct lks_file_store *file)
{
    int root_fd = root_fd_of(file);
    int parent_fd;
    int reason;

    if (root_fd < 0 && errno == ENOENT) {
        reason = make_root(file);
        if (reason != 0) {
            errno = reason;
            return -1;
        }
        root_fd = root_fd_of(file);
    }
    if (root_fd < 0 || atomic_load(&file->root_is_synced))
        return root_fd;

    /* Its own name may be new, by another process. The parent may be none of
     * our business; then it is older. */
    parent_fd = openat(root_fd, "..", FOLDER_FLAGS);
    if (parent_fd >= 0) {
        lks_file_sync_folder(file, parent_fd);
        close(parent_fd);
    }
    atomic_store(&file->root_is_synced, true);
    return root_fd;
}

/* Opens a folder below another, made if need be; syncs its name. */
static int open_or_make(struct lks_file_store *file,
                        int parent_fd,
                        const char *name)
{
    int fd = open_at(parent_fd, name, O_RDONLY | O_DIRECTORY);
    int reason;

    if (fd < 0 && errno == ENOENT) {
        if (mkdirat(parent_fd, name, 0777) != 0 && errno != EEXIST)
            return -1;
        fd = open_at(parent_fd, name, O_RDONLY | O_DIRECTORY);
    }
    if (fd < 0)
        return -1;
    reason = lks_file_sync_folder(file, parent_fd);
    if (reason == 0)
        return fd;
    close(fd);
    errno = reason;
    return -1;
}

static int open_for_writing(struct lks_file_store *file, const char *path)
{
    char segment[LKS_KEY_SIZE_MAX + 1];
    int root_fd = root_fd_made(file);
    int fd = root_fd;

    if (root_fd >= 0 && path[0] == '\0')
        return openat(root_fd, ".", FOLDER_FLAGS);
    while (fd >= 0 && *path != '\0') {
        int parent_fd = fd;

        next_segment(&path, segment);
        fd = open_or_make(file, parent_fd, segment);
        close_unless(parent_fd, root_fd);
    }
    return fd;
}

static void folder_close(struct lks_file_folder *folder)
{
    close(folder->fd);
    lks_free(folder);
}

static struct lks_file_folder *find_locked(struct lks_file_store *file,
                                           const char *path)
{
    for (size_t i = 0; i < LKS_FILE_FOLDERS_MAX; i++) {
        struct lks_file_folder *folder = file->locked.folders[i];

        if (folder != NULL && strcmp(folder->path, path) == 0) {
            folder->locked.holders++;
            folder->locked.last_use = ++file->locked.use_count;
            return folder;
        }
    }
    return NULL;
}

/* Gives the folder a place among those held open, unless all are in use.
 * Returns the one that had the place, if any, to be closed. */
static struct lks_file_folder *keep_locked(struct lks_file_store *file,
                                           struct lks_file_folder *folder)
{
    struct lks_file_folder **place = NULL;
    struct lks_file_folder *former;

    for (size_t i = 0; i < LKS_FILE_FOLDERS_MAX; i++) {
        struct lks_file_folder **at = &file->locked.folders[i];

        if (*at == NULL) {
            place = at;
            break;
        }
        if ((*at)->locked.holders == 0 &&
            (place == NULL ||
             (*at)->locked.last_use < (*place)->locked.last_use))
            place = at;
    }
    if (place == NULL)
        return NULL;
    former = *place;
    folder->locked.cached = true;
    folder->locked.last_use = ++file->locked.use_count;
    *place = folder;
    return former;
}

int lks_file_folder_hold(struct lks_file_store *file,
                         const char *path,
                         struct lks_file_folder **out_folder)
{
    struct lks_file_folder *folder;
    struct lks_file_folder *former;

    lks_monitor_enter(file->store.env, file->monitor);
    folder = find_locked(file, path);
    lks_monitor_leave(file->store.env, file->monitor);
    if (folder != NULL) {
        *out_folder = folder;
        return 0;
    }

    folder = lks_alloc_zero(1, sizeof(*folder));
    if (folder == NULL)
        return ENOMEM;
    memcpy(folder->path, path, strlen(path) + 1);
    folder->locked.holders = 1;
    folder->fd = open_for_writing(file, path);
    if (folder->fd < 0) {
        int reason = errno;

        lks_free(folder);
        return reason;
    }

    /* Two threads may both have opened it. Then it is held twice, which costs
     * a place and no more. */
    lks_monitor_enter(file->store.env, file->monitor);
    former = keep_locked(file, folder);
    lks_monitor_leave(file->store.env, file->monitor);
    if (former != NULL)
        folder_close(former);
    *out_folder = folder;
    return 0;
}

void lks_file_folder_release(struct lks_file_store *file,
                             struct lks_file_folder *folder,
                             bool gone)
{
    bool unused;

    if (folder == NULL)
        return;
    lks_monitor_enter(file->store.env, file->monitor);
    for (size_t i = 0; gone && i < LKS_FILE_FOLDERS_MAX; i++) {
        if (file->locked.folders[i] == folder) {
            file->locked.folders[i] = NULL;
            folder->locked.cached = false;
        }
    }
    folder->locked.holders--;
    unused = folder->locked.holders == 0 && !folder->locked.cached;
    lks_monitor_leave(file->store.env, file->monitor);
    if (unused)
        folder_close(folder);
}

void lks_file_folders_close(struct lks_file_store *file)
{
    for (size_t i = 0; i < LKS_FILE_FOLDERS_MAX; i++) {
        if (file->locked.folders[i] != NULL) {
            assert(file->locked.folders[i]->locked.holders == 0);
            folder_close(file->locked.folders[i]);
        }
    }
}

static bool is_gone(int fd)
{
    struct stat stat;

    return fstat(fd, &stat) == 0 && stat.st_nlink == 0;
}

bool lks_file_folder_is_gone(const struct lks_file_folder *folder)
{
    return is_gone(folder->fd);
}

bool lks_file_root_is_gone(struct lks_file_store *file)
{
    return is_gone(atomic_load(&file->root_fd));
}
