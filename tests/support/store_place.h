/*
 * Folders for the tests of stores: fresh, and removed with all that is in them.
 */
#ifndef LKS_TESTS_SUPPORT_STORE_PLACE_H
#define LKS_TESTS_SUPPORT_STORE_PLACE_H

#include <stddef.h>

#define STORE_PLACE_SIZE 512u

/* A new folder in memory if the machine has such, since syncing takes time, or
 * on the disk: under TMPDIR, or /tmp. Exits if there can be none. */
void store_place_make(char path[STORE_PLACE_SIZE]);
void store_place_make_on_disk(char path[STORE_PLACE_SIZE]);
void store_place_remove(const char *path);

/* The number of files, or of folders but `path` itself, below a folder. */
size_t store_place_file_count(const char *path);
size_t store_place_folder_count(const char *path);

#endif
