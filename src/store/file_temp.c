/*
 * Temporary names of a file store: for file systems that cannot make a file
 * without a name, and for the moment before a rename. They lie in a folder that
 * is no key. A writer that was killed leaves its name there: an unfinished
 * upload, which tells its key, so that whoever can prove that nobody waits for
 * the object aborts it. And the first who needs the folder removes what is too
 * old to be anybody's.
 */
#include "store/file_store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

#define KEY_MARK '+' /* in no key */

void lks_file_temp_init(struct lks_file_temp *temp)
{
    temp->folder = NULL;
    temp->name[0] = '\0';
}

static void remove_if_older(int folder_fd, const char *name, int64_t time_ms)
{
    struct stat stat;

    if (fstatat(folder_fd, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(stat.st_mode) && lks_file_time_ms(stat.st_ctim) < time_ms)
        unlinkat(folder_fd, name, 0);
}

static void sweep(int folder_fd, int64_t age_ms)
{
    struct dirent *entry;
    struct stat stat;
    DIR *folder;
    int fd;

    /* Making the first name has just moved the folder's time on. */
    if (fstat(folder_fd, &stat) != 0)
        return;
    fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    folder = fdopendir(fd);
    if (folder == NULL) {
        close(fd);
        return;
    }
    while ((entry = readdir(folder)) != NULL)
        remove_if_older(folder_fd, entry->d_name,
                        lks_file_time_ms(stat.st_ctim) - age_ms);
    closedir(folder);
}

/* The digits, KEY_MARK, and the key with KEY_MARK for each '/'. */
static void add_key(const char *key, char name[NAME_MAX + 1])
{
    size_t size = strlen(name);

    if (key[0] == '\0' || size + 1 + strlen(key) > NAME_MAX)
        return;
    name[size++] = KEY_MARK;
    for (; *key != '\0'; key++)
        name[size++] = *key == '/' ? KEY_MARK : *key;
    name[size] = '\0';
}

/* False for a name that tells no key. */
static bool read_key(const char *name, char key[LKS_KEY_SIZE_MAX + 1])
{
    const char *mark = strchr(name, KEY_MARK);

    if (mark == NULL)
        return false;
    snprintf(key, LKS_KEY_SIZE_MAX + 1, "%s", mark + 1);
    for (; *key != '\0'; key++) {
        if (*key == KEY_MARK)
            *key = '/';
    }
    return true;
}

int lks_file_temp_reserve(struct lks_file_store *file,
                          const char *key,
                          struct lks_file_temp *temp)
{
    uint8_t random[LKS_FILE_TEMP_RANDOM_SIZE];
    int reason;

    reason = lks_file_folder_hold(file, LKS_FILE_TEMP_FOLDER, &temp->folder);
    if (reason != 0)
        return reason;
    lks_env_random(file->store.env, random, sizeof(random));
    lks_hex_encode(random, sizeof(random), temp->name);
    add_key(key, temp->name);
    return 0;
}

void lks_file_temp_done(struct lks_file_store *file, struct lks_file_temp *temp)
{
    if (temp->folder == NULL)
        return;
    if (temp->name[0] != '\0')
        unlinkat(temp->folder->fd, temp->name, 0);
    if (!atomic_exchange(&file->temp_is_swept, true))
        sweep(temp->folder->fd, file->temp_age_ms);
    lks_file_folder_release(file, temp->folder,
                            lks_file_folder_is_gone(temp->folder));
    lks_file_temp_init(temp);
}

/* ------------------------------------------------- unfinished, and found -- */

static int compare(const struct lks_upload *a, const struct lks_upload *b)
{
    int order = strcmp(a->key, b->key);

    return order != 0 ? order : strcmp(a->id, b->id);
}

/* Puts it in its place among the first `max` in order. */
static void insert(struct lks_upload *uploads,
                   size_t max,
                   size_t *count,
                   const struct lks_upload *upload)
{
    size_t place = *count;

    while (place > 0 && compare(upload, &uploads[place - 1]) < 0)
        place--;
    if (place == max)
        return;
    if (*count < max)
        (*count)++;
    memmove(&uploads[place + 1], &uploads[place],
            (*count - place - 1) * sizeof(*uploads));
    uploads[place] = *upload;
}

/* NULL with ENOENT if nobody ever needed a temporary name. */
static DIR *open_folder(struct lks_file_store *file)
{
    int fd =
        lks_file_open_below(file, LKS_FILE_TEMP_FOLDER, O_RDONLY | O_DIRECTORY);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && folder == NULL)
        close(fd);
    return folder;
}

enum lks_status lks_file_uploads(struct lks_store *store,
                                 const char *prefix,
                                 const struct lks_upload *after,
                                 size_t max,
                                 struct lks_upload *uploads,
                                 size_t *out_count,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct lks_file_store *file = (struct lks_file_store *)store;
    DIR *folder = open_folder(file);
    struct dirent *entry;
    size_t count = 0;

    call->request_count = 1;
    lks_file_date(file, call);
    if (folder == NULL && errno != ENOENT)
        return lks_file_fail(errno, error);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct lks_upload upload;

        if (!read_key(entry->d_name, upload.key) ||
            strncmp(upload.key, prefix, strlen(prefix)) != 0 ||
            !lks_key_is_valid(upload.key))
            continue;
        snprintf(upload.id, sizeof(upload.id), "%s", entry->d_name);
        if (after == NULL || compare(after, &upload) < 0)
            insert(uploads, max, &count, &upload);
    }
    if (folder != NULL)
        closedir(folder);
    *out_count = count;
    return LKS_OK;
}

enum lks_status lks_file_abort(struct lks_store *store,
                               const struct lks_upload *upload,
                               struct lks_call *call,
                               struct lks_error *error)
{
    struct lks_file_store *file = (struct lks_file_store *)store;
    int fd =
        lks_file_open_below(file, LKS_FILE_TEMP_FOLDER, O_RDONLY | O_DIRECTORY);
    int reason = fd < 0 ? errno : 0;

    assert(strchr(upload->id, '/') == NULL);

    call->request_count = 1;
    if (fd >= 0 && unlinkat(fd, upload->id, 0) != 0)
        reason = errno;
    if (fd >= 0)
        close(fd);
    return reason == 0 || reason == ENOENT ? LKS_OK
                                           : lks_file_fail(reason, error);
}
