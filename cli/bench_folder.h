/* Removing a folder with all that is in it. */
#ifndef LAKESTREAM_CLI_BENCH_FOLDER_H
#define LAKESTREAM_CLI_BENCH_FOLDER_H

#include <stdbool.h>

/* Whether `url` is a file store's. */
bool bench_folder_is(const char *url);

/* False if `url` is no file store, or not all could be removed. */
bool bench_folder_remove(const char *url);

#endif
