/* The library's own options, as flags of the command line. */
#ifndef LAKESTREAM_CLI_LIBRARY_OPTIONS_H
#define LAKESTREAM_CLI_LIBRARY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "args.h"

/* The longest name of an option, with its NUL. */
#define LIBRARY_OPTION_NAME_SIZE 64u

/* Writes the library's name for the flag `name`: "max-live-steps" becomes
 * "max_live_steps". False if it has no such option. */
bool library_option_find(const char *name,
                         char out_name[LIBRARY_OPTION_NAME_SIZE]);

/* Writes the flag of row `index`; false past the last row. */
bool library_option_flag(size_t index, char out_flag[LIBRARY_OPTION_NAME_SIZE]);

/* A line of help for each, but for those that `command` has itself. */
void library_options_help(FILE *file, const struct command *command);

#endif
