/*
 * What the files of the file store share. Nobody else includes this but tests.
 *
 * Functions that return int give 0 or an errno value; those that return a file
 * descriptor give -1 and leave errno.
 */
#ifndef LKS_STORE_FILE_STORE_H
#define LKS_STORE_FILE_STORE_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "store/store.h"

#define LKS_FILE_FOLDERS_MAX 32u /* folders held open for writing */
#define LKS_FILE_TRIES_MAX 100u  /* lost races that a call puts up with */
#define LKS_FILE_TRIES_HASTY 3u  /* those before it pauses between them */

/* A pause; each is twice the one before. */
#define LKS_FILE_NAP_NS (LKS_NS_PER_MS / 10)
#define LKS_FILE_NAP_MAX_NS (10 * LKS_NS_PER_MS)

/* What one system call reads or writes at most, and from how many parts. */
#define LKS_FILE_CHUNK_SIZE (4u << 20)
#define LKS_FILE_VECTORS_MAX 64u

/* Where temporary names are (no key has a '.' first), and for how long somebody
 * may still be writing to one. */
#define LKS_FILE_TEMP_FOLDER ".tmp"
#define LKS_FILE_TEMP_AGE_MS INT64_C(86400000)

/* A folder that objects are written into. */
struct lks_file_folder {
    int fd;
    char path[LKS_KEY_SIZE_MAX + 1]; /* "" is the store's own folder */
    struct {                         /* by the store's monitor */
        uint32_t holders;
        uint64_t last_use;
        bool cached;
    } locked;
};

struct lks_file_store {
    struct lks_store store;
    char path[PATH_MAX]; /* absolute */
    bool durable;
    int64_t temp_age_ms; /* LKS_FILE_TEMP_AGE_MS, but for tests */
    atomic_int root_fd;  /* -1 until the folder is there */
    atomic_int clock_fd; /* a nameless file, for its times; -1 until needed */
    atomic_bool root_is_synced;
    atomic_bool temp_is_swept;

    /* What the file system or the kernel turned out not to have. */
    atomic_bool lacks_tmpfile;
    atomic_bool lacks_empty_path; /* of linkat() */
    atomic_bool lacks_openat2;

    struct lks_monitor *monitor;
    struct {
        struct lks_file_folder *folders[LKS_FILE_FOLDERS_MAX];
        uint64_t use_count;
    } locked;
};

/* For tests: as on a file system without O_TMPFILE, a kernel without openat2.
 * Call it before the store is used. */
void lks_store_file_make_do(struct lks_store *store);

/* -------------------------------------------------------- file_folder.c -- */

/* Opens what `path` names below the store's folder, through no symbolic link
 * (ELOOP). */
int lks_file_open_below(struct lks_file_store *file,
                        const char *path,
                        int flags);

/* The folder of a key, and the key's last segment. */
const char *lks_file_split(const char *key, char folder[LKS_KEY_SIZE_MAX + 1]);

/* Holds a folder, made if need be, with everything that leads to it durable.
 * ENOENT: a remove() took a folder on the way that was empty. */
int lks_file_folder_hold(struct lks_file_store *file,
                         const char *path,
                         struct lks_file_folder **out_folder);

/* `gone`: it was removed, and is not to be handed out again. */
void lks_file_folder_release(struct lks_file_store *file,
                             struct lks_file_folder *folder,
                             bool gone);
void lks_file_folders_close(struct lks_file_store *file);

/* fsync, unless the store is opened without durability. */
int lks_file_sync(struct lks_file_store *file, int fd);
int lks_file_sync_folder(struct lks_file_store *file, int fd);

/* Whether it was removed; the same of the store's own. */
bool lks_file_folder_is_gone(const struct lks_file_folder *folder);
bool lks_file_root_is_gone(struct lks_file_store *file);

/* ----------------------------------------------------------- file_temp.c -- */

#define LKS_FILE_TEMP_RANDOM_SIZE 16u

/* A name in the folder of temporary names, which nobody else has. It begins
 * with random digits, and tells the key that it is for, if that fits. */
struct lks_file_temp {
    struct lks_file_folder *folder;
    char name[NAME_MAX + 1]; /* "" for none */
};

void lks_file_temp_init(struct lks_file_temp *temp);

/* `key` may be "": the file is for no object. */
int lks_file_temp_reserve(struct lks_file_store *file,
                          const char *key,
                          struct lks_file_temp *temp);

/* Removes the name if it was not set to "" since. */
void lks_file_temp_done(struct lks_file_store *file,
                        struct lks_file_temp *temp);

/* The names that are there, as unfinished uploads. */
enum lks_status lks_file_uploads(struct lks_store *store,
                                 const char *prefix,
                                 const struct lks_upload *after,
                                 size_t max,
                                 struct lks_upload *uploads,
                                 size_t *out_count,
                                 struct lks_call *call,
                                 struct lks_error *error);
enum lks_status lks_file_abort(struct lks_store *store,
                               const struct lks_upload *upload,
                               struct lks_call *call,
                               struct lks_error *error);

/* --------------------------------------------------------- store_file.c -- */

int64_t lks_file_time_ms(struct timespec time);

/* Sets date_ms if it is wanted and can be had. */
void lks_file_date(struct lks_file_store *file, struct lks_call *call);

/* The status and the words for an errno value. */
enum lks_status lks_file_fail(int reason, struct lks_error *error);

/* ------------------------------------------------------------- the rest -- */

enum lks_status lks_file_put(struct lks_store *store,
                             const char *key,
                             const struct lks_part *parts,
                             size_t part_count,
                             bool only_if_absent,
                             struct lks_call *call,
                             struct lks_error *error);
enum lks_status lks_file_list(struct lks_store *store,
                              const char *prefix,
                              const char *after,
                              size_t max,
                              struct lks_listed *listed,
                              size_t *out_count,
                              struct lks_call *call,
                              struct lks_error *error);
enum lks_status lks_file_remove(struct lks_store *store,
                                const char *const *keys,
                                size_t key_count,
                                struct lks_call *call,
                                struct lks_error *error);

#endif
