/*
 * Removing a folder with all that is in it: what a bench made on a file store.
 *
 * A stream that is dropped leaves its descriptor and its last manifest for
 * ever; where the store is a folder, a bench can clean up better.
 */
#include "bench_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#define OPEN_FOLDERS 16

static int remove_entry(const char *path,
                        const struct stat *stat,
                        int kind,
                        struct FTW *where)
{
    (void)stat;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Its path; NULL if it is no file store's. */
static const char *folder_path(const char *url)
{
    static const char scheme[] = "file://";

    if (strncmp(url, scheme, strlen(scheme)) == 0)
        return url + strlen(scheme);
    return strstr(url, "://") != NULL ? NULL : url;
}

bool bench_folder_is(const char *url)
{
    return folder_path(url) != NULL;
}

bool bench_folder_remove(const char *url)
{
    const char *path = folder_path(url);

    if (path == NULL)
        return false;
    /* Depth first, and never through a symbolic link. */
    return nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0 ||
           errno == ENOENT;
}
