/*
 * Removing objects of a file store, and the folders that they leave empty. A
 * writer that needs such a folder at that moment makes it again.
 */
#include "store/file_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The folder that the keys at hand are in. */
struct removal {
    struct lks_file_store *file;
    char path[LKS_KEY_SIZE_MAX + 1];
    int fd; /* -1: there is none such, or none was opened yet */
    bool is_open;
};

static int enter_folder(struct removal *removal, const char *path)
{
    memcpy(removal->path, path, strlen(path) + 1);
    removal->is_open = true;
    removal->fd =
        lks_file_open_below(removal->file, path, O_RDONLY | O_DIRECTORY);
    if (removal->fd >= 0 || errno == ENOENT || errno == ENOTDIR ||
        errno == ENAMETOOLONG)
        return 0;
    return errno;
}

/* Removes the folder if it is empty, and so on upwards; the removal is then in
 * the first that remains. */
static void climb(struct removal *removal)
{
    while (removal->path[0] != '\0') {
        char parent[LKS_KEY_SIZE_MAX + 1];
        const char *name = lks_file_split(removal->path, parent);
        int parent_fd =
            lks_file_open_below(removal->file, parent, O_RDONLY | O_DIRECTORY);

        if (parent_fd < 0)
            return;
        /* Most often it is not empty. Whatever the reason, it may stay. */
        if (unlinkat(parent_fd, name, AT_REMOVEDIR) != 0) {
            close(parent_fd);
            return;
        }
        close(removal->fd);
        removal->fd = parent_fd;
        memcpy(removal->path, parent, sizeof(parent));
    }
}

static int leave_folder(struct removal *removal)
{
    int reason = 0;

    if (removal->fd >= 0) {
        climb(removal);
        reason = lks_file_sync_folder(removal->file, removal->fd);
        close(removal->fd);
    }
    removal->fd = -1;
    removal->is_open = false;
    return reason;
}

static int remove_key(struct removal *removal, const char *key)
{
    char path[LKS_KEY_SIZE_MAX + 1];
    const char *name = lks_file_split(key, path);
    int reason = 0;

    if (removal->is_open && strcmp(path, removal->path) != 0)
        reason = leave_folder(removal);
    if (reason == 0 && !removal->is_open)
        reason = enter_folder(removal, path);
    if (reason != 0 || removal->fd < 0)
        return reason;
    /* EISDIR: a folder is no object. */
    if (unlinkat(removal->fd, name, 0) == 0 || errno == ENOENT ||
        errno == EISDIR || errno == ENAMETOOLONG)
        return 0;
    return errno;
}

enum lks_status lks_file_remove(struct lks_store *store,
                                const char *const *keys,
                                size_t key_count,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct removal removal = {
        .file = (struct lks_file_store *)store,
        .fd = -1,
    };
    int left_reason;
    int reason = 0;

    for (size_t i = 0; i < key_count && reason == 0; i++) {
        if (lks_cancelled(call->cancel))
            reason = ECANCELED;
        else
            reason = remove_key(&removal, keys[i]);
    }
    left_reason = leave_folder(&removal);
    if (reason == 0)
        reason = left_reason;

    call->request_count = 1;
    lks_file_date(removal.file, call);
    return reason == 0 ? LKS_OK : lks_file_fail(reason, error);
}
