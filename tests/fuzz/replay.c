/*
 * Runs a fuzz target over a folder of inputs, without a fuzzer.
 *
 * Each input is also cut short at up to CUTS places and has a byte changed at
 * as many: a decoder that trusts a length or forgets a check tends to fail on
 * one of these, and so any compiler and any sanitizer finds it. Each try gets
 * memory of exactly its size, so that reading one byte too many is seen.
 */
#include <assert.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 512u
#define INPUT_SIZE_MAX (1u << 20)
#define PATH_SIZE_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_one(const uint8_t *data, size_t size, size_t flip)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);

    assert(exact != NULL);
    memcpy(exact, data, size);
    if (flip < size)
        exact[flip] ^= 0xff;
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void try_input(const uint8_t *data, size_t size)
{
    size_t step = size / CUTS + 1;

    try_one(data, size, SIZE_MAX);
    for (size_t at = 0; at < size; at += step) {
        try_one(data, at, SIZE_MAX);
        try_one(data, size, at);
    }
}

/* Returns the input's size, or -1. */
static long read_input(const char *path, uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    size_t size;

    if (file == NULL)
        return -1;
    size = fread(data, 1, INPUT_SIZE_MAX, file);
    if (ferror(file) != 0 || fgetc(file) != EOF) {
        fclose(file);
        return -1;
    }
    fclose(file);
    return (long)size;
}

static int replay_folder(DIR *folder, const char *name, uint8_t *data)
{
    const struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(folder)) != NULL) {
        char path[PATH_SIZE_MAX];
        long size;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
        size = read_input(path, data);
        if (size < 0) {
            fprintf(stderr, "%s: cannot be read, or is too large\n", path);
            return 1;
        }
        try_input(data, (size_t)size);
        count++;
    }
    printf("%u inputs\n", count);
    if (count == 0)
        fprintf(stderr, "%s: holds no input\n", name);
    return count == 0;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    uint8_t *data = malloc(INPUT_SIZE_MAX);
    int failed = 1;

    assert(data != NULL);
    if (folder == NULL) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    } else {
        failed = replay_folder(folder, argv[1], data);
        closedir(folder);
    }
    free(data);
    return failed;
}
