/*
 * Temporary names of a file store: for file systems that cannot make a file
 * without a name, and for the moment before a rename. They lie in a folder that
 * is no key. A writer that was killed leaves its name there, so the first who
 * needs the folder removes what is too old to be anybody's.
 */
#include "store/file_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"

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

int lks_file_temp_reserve(struct lks_file_store *file,
                          struct lks_file_temp *temp)
{
    uint8_t random[(LKS_FILE_TEMP_NAME_SIZE - 1) / 2];
    int reason;

    reason = lks_file_folder_hold(file, LKS_FILE_TEMP_FOLDER, &temp->folder);
    if (reason != 0)
        return reason;
    lks_env_random(file->store.env, random, sizeof(random));
    lks_hex_encode(random, sizeof(random), temp->name);
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
