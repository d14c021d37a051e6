/* Folders for the tests of stores. */
#include "support/store_place.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make(char path[STORE_PLACE_SIZE], const char *parent)
{
    snprintf(path, STORE_PLACE_SIZE, "%s/lks-test-XXXXXX", parent);
    return mkdtemp(path) != NULL;
}

void store_place_make_on_disk(char path[STORE_PLACE_SIZE])
{
    const char *parent = getenv("TMPDIR");

    if (!make(path, parent != NULL ? parent : "/tmp")) {
        perror(path);
        exit(1);
    }
}

void store_place_make(char path[STORE_PLACE_SIZE])
{
    if (!make(path, "/dev/shm"))
        store_place_make_on_disk(path);
}

/* What is done with each thing in a folder, after what is in that. */
typedef void visit_fn(const char *path, bool is_folder, void *arg);

static void visit(const char *path, visit_fn *each, void *arg)
{
    struct dirent *entry;
    DIR *folder = opendir(path);

    if (folder == NULL)
        return;
    while ((entry = readdir(folder)) != NULL) {
        char below[4096];
        struct stat stat;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (lstat(below, &stat) != 0)
            continue;
        if (S_ISDIR(stat.st_mode))
            visit(below, each, arg);
        each(below, S_ISDIR(stat.st_mode), arg);
    }
    closedir(folder);
}

static void remove_one(const char *path, bool is_folder, void *arg)
{
    (void)arg;
    if (is_folder)
        rmdir(path);
    else
        unlink(path);
}

void store_place_remove(const char *path)
{
    visit(path, remove_one, NULL);
    rmdir(path);
}

static void count_one(const char *path, bool is_folder, void *arg)
{
    size_t *counts = arg;

    (void)path;
    counts[is_folder]++;
}

size_t store_place_file_count(const char *path)
{
    size_t counts[2] = {0};

    visit(path, count_one, counts);
    return counts[0];
}

size_t store_place_folder_count(const char *path)
{
    size_t counts[2] = {0};

    visit(path, count_one, counts);
    return counts[1];
}
