/*
 * Writing an object of a file store: all of it into a file without a name, then
 * the name, so that nobody ever sees a part.
 *
 * link() gives a name only if it is free, whoever else tries: that is the
 * create of store.h. What is overwritten by put is renamed over. The bytes are
 * synced before the name and the folder after it. Everybody can see the object
 * in between, when a crash could still take it back; the writer cannot have
 * been told, so nothing acknowledged is lost.
 */
#include "store/file_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The reason for beginning anew, by temporary names. */
#define ANEW (-1)

struct file_write {
    struct lks_file_store *file;
    const char *key;
    char path[LKS_KEY_SIZE_MAX + 1]; /* of the folder that gets the object */
    const char *name;
    bool only_if_absent;
    const struct lks_cancel *cancel;

    struct lks_file_folder *folder;
    int fd;                    /* the new file */
    struct lks_file_temp temp; /* its name until it gets the right one */
    bool was_tried; /* the name was asked for: it may be there, if unlikely */
};

/* What lies under the object's name, by the errno value that says it best: 0
 * for our own file, EEXIST for another's, ENOENT for nothing. */
static int look(const struct file_write *write)
{
    struct stat present;
    struct stat mine;

    if (fstatat(write->folder->fd, write->name, &present,
                AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (write->fd >= 0 && fstat(write->fd, &mine) == 0 &&
        mine.st_ino == present.st_ino && mine.st_dev == present.st_dev)
        return 0;
    if (S_ISREG(present.st_mode))
        return EEXIST;
    return S_ISDIR(present.st_mode) ? EISDIR : ELOOP;
}

/* Lets go of the folder if it was removed: EAGAIN, or `reason` if it is still
 * there. */
static int let_go(struct file_write *write, int reason)
{
    if (!lks_file_folder_is_gone(write->folder))
        return reason;
    lks_file_folder_release(write->file, write->folder, true);
    write->folder = NULL;
    return EAGAIN;
}

/* The same for the folder of temporary names. */
static int temp_reason(const struct lks_file_temp *temp, int reason)
{
    return lks_file_folder_is_gone(temp->folder) ? EAGAIN : reason;
}

static bool says_no_tmpfile(int reason)
{
    return reason == EOPNOTSUPP || reason == EISDIR || reason == EINVAL;
}

static int open_once(struct file_write *write)
{
    struct lks_file_store *file = write->file;
    int reason;

    if (!atomic_load(&file->lacks_tmpfile)) {
        write->fd = openat(write->folder->fd, ".",
                           O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
        if (write->fd >= 0)
            return 0;
        /* Of a folder that is gone, ext4 says EPERM and others ENOENT. */
        if (!says_no_tmpfile(errno))
            return let_go(write, errno);
        atomic_store(&file->lacks_tmpfile, true);
    }

    reason = lks_file_temp_reserve(file, write->key, &write->temp);
    if (reason != 0)
        return reason;
    write->fd = openat(write->temp.folder->fd, write->temp.name,
                       O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (write->fd >= 0)
        return 0;
    reason = temp_reason(&write->temp, errno);
    write->temp.name[0] = '\0';
    lks_file_temp_done(file, &write->temp);
    return reason;
}

/* The next vectors from `*part` on, of which `*skip` bytes are done. */
static int fill_vectors(const struct lks_part *parts,
                        size_t part_count,
                        size_t part,
                        size_t skip,
                        struct iovec vectors[LKS_FILE_VECTORS_MAX])
{
    size_t room = LKS_FILE_CHUNK_SIZE;
    int count = 0;

    for (; part < part_count && room > 0; part++, skip = 0) {
        size_t size = parts[part].size - skip;

        if (count == LKS_FILE_VECTORS_MAX)
            break;
        if (size == 0)
            continue;
        if (size > room)
            size = room;
        vectors[count].iov_base =
            (void *)((const uint8_t *)parts[part].data + skip);
        vectors[count].iov_len = size;
        count++;
        room -= size;
    }
    return count;
}

static int write_parts(struct file_write *write,
                       const struct lks_part *parts,
                       size_t part_count)
{
    struct iovec vectors[LKS_FILE_VECTORS_MAX];
    off_t offset = 0;
    size_t part = 0;
    size_t skip = 0;

    for (;;) {
        int count = fill_vectors(parts, part_count, part, skip, vectors);
        ssize_t size;

        if (count == 0)
            return 0;
        if (lks_cancelled(write->cancel))
            return ECANCELED;
        size = pwritev(write->fd, vectors, count, offset);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return size < 0 ? errno : EIO;
        /* The disk may begin while the rest is copied; no answer matters. */
        if (write->file->durable && size == LKS_FILE_CHUNK_SIZE)
            sync_file_range(write->fd, offset, size, SYNC_FILE_RANGE_WRITE);

        offset += size;
        skip += (size_t)size;
        while (part < part_count && skip >= parts[part].size) {
            skip -= parts[part].size;
            part++;
        }
    }
}

/* Links a file without a name, in one of two ways. ANEW if this machine allows
 * neither. */
static int link_nameless(struct file_write *write,
                         int folder_fd,
                         const char *name)
{
    char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
    struct lks_file_store *file = write->file;
    int reason = ENOENT;

    if (!atomic_load(&file->lacks_empty_path)) {
        if (linkat(write->fd, "", folder_fd, name, AT_EMPTY_PATH) == 0)
            return 0;
        /* ENOENT: the folder is gone, or this is not allowed to us. */
        reason = errno;
        if (reason != ENOENT)
            return reason;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", write->fd);
    if (linkat(AT_FDCWD, path, folder_fd, name, AT_SYMLINK_FOLLOW) == 0)
        reason = 0;
    else
        reason = errno;
    if (reason != ENOENT)
        atomic_store(&file->lacks_empty_path, true);
    return reason;
}

static int link_to(struct file_write *write, int folder_fd, const char *name)
{
    if (write->temp.folder == NULL)
        return link_nameless(write, folder_fd, name);
    if (linkat(write->temp.folder->fd, write->temp.name, folder_fd, name, 0) ==
        0)
        return 0;
    return errno;
}

/* Renames the file over the one that is there. */
static int replace(struct file_write *write)
{
    if (write->temp.folder == NULL) {
        struct lks_file_temp temp;
        int reason;

        lks_file_temp_init(&temp);
        reason = lks_file_temp_reserve(write->file, write->key, &temp);
        if (reason == 0)
            reason = link_to(write, temp.folder->fd, temp.name);
        if (reason != 0) {
            if (temp.folder != NULL)
                reason = temp_reason(&temp, reason);
            temp.name[0] = '\0';
            lks_file_temp_done(write->file, &temp);
            return reason;
        }
        write->temp = temp;
    }
    if (renameat(write->temp.folder->fd, write->temp.name, write->folder->fd,
                 write->name) != 0)
        return errno;
    write->temp.name[0] = '\0';
    return 0;
}

static int publish_once(struct file_write *write)
{
    int reason = EEXIST;
    int present;

    /* A put links as well: most of them overwrite nothing. */
    if (write->only_if_absent || write->temp.folder == NULL)
        reason = link_to(write, write->folder->fd, write->name);
    if (reason == EEXIST && !write->only_if_absent)
        reason = replace(write);
    if (reason == 0 || reason == EAGAIN)
        return reason;

    /* Only now look. An NFS client may have repeated a request whose answer was
     * lost, and then met its own file. */
    present = look(write);
    if (present == 0)
        return 0;
    if (present == EISDIR && (reason == EEXIST || reason == EISDIR)) {
        /* An empty folder is no key, and may be in a key's way. */
        if (unlinkat(write->folder->fd, write->name, AT_REMOVEDIR) == 0 ||
            errno == ENOENT)
            return EAGAIN;
        return EISDIR;
    }
    if (reason == EEXIST)
        return present == ENOENT ? EAGAIN : present;
    reason = let_go(write, reason);
    if (reason == ENOENT && write->temp.folder == NULL) {
        atomic_store(&write->file->lacks_tmpfile, true);
        return ANEW;
    }
    return reason;
}

/*
 * Waits a while before the next try. Between a folder's making and its first
 * name a remove() can take it, and one that does so all the time does so each
 * time, since the kernel serves both in turn. And a folder that is about to go
 * can be opened for as long as the journal of the file system takes.
 */
static void pause_before(const struct file_write *write, uint32_t try_index)
{
    uint64_t nap_ns = LKS_FILE_NAP_NS;

    for (uint32_t i = LKS_FILE_TRIES_HASTY; i < try_index; i++)
        nap_ns *= nap_ns < LKS_FILE_NAP_MAX_NS ? 2 : 1;
    lks_env_sleep_ns(write->file->store.env, nap_ns);
}

/* Calls `step`, with the folder held, until it has not lost a race against
 * somebody's remove(). */
static int persist(struct file_write *write,
                   int (*step)(struct file_write *write))
{
    int reason = EAGAIN;

    for (uint32_t i = 0; i < LKS_FILE_TRIES_MAX && reason == EAGAIN; i++) {
        if (i >= LKS_FILE_TRIES_HASTY) {
            if (lks_file_root_is_gone(write->file))
                return ENOENT;
            pause_before(write, i);
        }
        if (lks_cancelled(write->cancel))
            return ECANCELED;
        reason = 0;
        if (write->folder == NULL)
            reason =
                lks_file_folder_hold(write->file, write->path, &write->folder);
        if (reason == ENOENT)
            reason = EAGAIN; /* a folder on the way was removed */
        if (reason == 0)
            reason = step(write);
    }
    return reason;
}

/* A race that is lost already need not cost a sync. */
static int look_before(struct file_write *write)
{
    if (write->only_if_absent && write->file->durable && look(write) == EEXIST)
        return EEXIST;
    return 0;
}

static int write_object(struct file_write *write,
                        const struct lks_part *parts,
                        size_t part_count)
{
    struct lks_file_store *file = write->file;
    int reason;

    reason = persist(write, look_before);
    if (reason == 0)
        reason = persist(write, open_once);
    if (reason == 0)
        reason = write_parts(write, parts, part_count);
    if (reason == 0)
        reason = lks_file_sync(file, write->fd);
    if (reason == 0 && lks_cancelled(write->cancel))
        reason = ECANCELED;
    if (reason != 0)
        return reason;

    write->was_tried = true;
    reason = persist(write, publish_once);
    if (reason == 0 && lks_file_sync_folder(file, write->folder->fd) != 0)
        reason = EIO; /* it is there, and may be gone after a crash */
    return reason;
}

static enum lks_status fail(const struct file_write *write,
                            int reason,
                            struct lks_error *error)
{
    switch (reason) {
    case EEXIST:
        return lks_error_set(error, LKS_EXISTS, "the object exists");
    case ENOTDIR:
    case EISDIR:
        return lks_error_set(error, LKS_INVALID,
                             "in a folder, no key may continue another one "
                             "that exists");
    case ENOENT:
        return lks_error_set(error, LKS_UNAVAILABLE,
                             "the store's folder or its temporary files were "
                             "removed by somebody");
    case EAGAIN:
        return lks_error_set(error, LKS_UNAVAILABLE,
                             "its folder cannot be made, or is removed "
                             "again and again");
    case EMLINK:
    case EOPNOTSUPP:
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "this file system has no hard links");
    case EPERM:
        if (write->was_tried)
            return lks_error_set(error, LKS_UNSUPPORTED,
                                 "this file system has no hard links, or the "
                                 "folder is immutable");
        return lks_file_fail(reason, error);
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EACCES:
    case ENOMEM:
    case ECANCELED:
    case ENAMETOOLONG:
    case EXDEV:
    case ELOOP:
        return lks_file_fail(reason, error);
    default:
        return lks_error_set(error,
                             write->was_tried ? LKS_UNSURE : LKS_UNAVAILABLE,
                             "%s", strerror(reason));
    }
}

/* What a write leaves: the object or nothing. */
static void done(struct file_write *write)
{
    if (write->fd >= 0)
        close(write->fd);
    lks_file_temp_done(write->file, &write->temp);
    lks_file_folder_release(write->file, write->folder, false);
    write->fd = -1;
    write->folder = NULL;
}

/* The store's clock as it answered. After a create it is the object's own. */
static void date(const struct file_write *write,
                 bool linked,
                 struct lks_call *call)
{
    struct stat stat;

    if (call->want_date && linked && fstat(write->fd, &stat) == 0)
        call->date_ms = lks_file_time_ms(stat.st_ctim);
    else
        lks_file_date(write->file, call);
}

enum lks_status lks_file_put(struct lks_store *store,
                             const char *key,
                             const struct lks_part *parts,
                             size_t part_count,
                             bool only_if_absent,
                             struct lks_call *call,
                             struct lks_error *error)
{
    struct file_write write = {
        .file = (struct lks_file_store *)store,
        .key = key,
        .only_if_absent = only_if_absent,
        .cancel = call->cancel,
        .fd = -1,
    };
    int reason;

    write.name = lks_file_split(key, write.path);
    lks_file_temp_init(&write.temp);

    reason = write_object(&write, parts, part_count);
    if (reason == ANEW) {
        done(&write);
        reason = write_object(&write, parts, part_count);
    }
    call->request_count = 1;
    date(&write, reason == 0 && only_if_absent, call);
    done(&write);
    return reason == 0 ? LKS_OK : fail(&write, reason, error);
}
