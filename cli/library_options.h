/* The library's own options, as flags of the command line. */
#ifndef LAKESTREAM_CLI_LIBRARY_OPTIONS_H
#define LAKESTREAM_CLI_LIBRARY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "args.h"

/* The longest name of an option, with its NUL. */
#define LIBRARY_OPTION_NAME_SIZE 64u

/* The row of the flag `flag`. False if the library has no such option. */
bool library_option_find(const char *flag, size_t *out_index);

/* Writes the name of row `index`, "max_live_steps", and its flag,
 * "max-live-steps"; false past the last row. */
bool library_option_name(size_t index, char out_name[LIBRARY_OPTION_NAME_SIZE]);
bool library_option_flag(size_t index, char out_flag[LIBRARY_OPTION_NAME_SIZE]);

/* Writes what the environment calls it, "LAKESTREAM_MAX_LIVE_STEPS". */
#define LIBRARY_OPTION_VARIABLE_SIZE (LIBRARY_OPTION_NAME_SIZE + 16u)
void library_option_variable(const char *name,
                             char out_variable[LIBRARY_OPTION_VARIABLE_SIZE]);

/* A line of help for each that concerns `command` and that it has not itself;
 * for all of them if it is NULL. */
void library_options_help(FILE *file, const struct command *command);

#endif
