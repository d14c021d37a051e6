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

bool bench_folder_remove(const char *url)
{
    static const char scheme[] = "file://";
    const char *path = url;

    if (strncmp(url, scheme, strlen(scheme)) == 0)
        path += strlen(scheme);
    else if (strstr(url, "://") != NULL)
        return false;
    /* Depth first, and never through a symbolic link. */
    return nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0 ||
           errno == ENOENT;
}
