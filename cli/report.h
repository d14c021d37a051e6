/*
 * What people and programs get to read: one line for a failure, a table or one
 * JSON object for a report.
 */
#ifndef LAKESTREAM_CLI_REPORT_H
#define LAKESTREAM_CLI_REPORT_H

#include <jansson.h>

#include "args.h"

#define REPORT_PRINTF(at, first) __attribute__((format(printf, at, first)))

/* "lakestream pack: ...; see lakestream pack --help". Returns EXIT_USAGE. */
int report_usage(const struct command *command, const char *format, ...)
    REPORT_PRINTF(2, 3);

/* "lakestream pack: ...". Returns EXIT_FAILED. */
int report_failure(const struct args *args, const char *format, ...)
    REPORT_PRINTF(2, 3);

/* The same with a status' message; an interruption has its own exit code. */
int report_error(const struct args *args, const struct lks_error *error);

/* Fills `error` and returns `status`: the helpers of the commands fail as the
 * library does. */
enum lks_status fail(struct lks_error *error,
                     enum lks_status status,
                     const char *format,
                     ...) REPORT_PRINTF(3, 4);

/* "errno's text" for a file: `fail` with "cannot read NAME: ...". */
enum lks_status fail_errno(struct lks_error *error,
                           const char *verb,
                           const char *path);

/* Prints the object as one line of JSON and drops it. NULL means that memory
 * ran out. Returns the exit code. */
int report_json(const struct args *args, json_t *object);

/* The object as `name  value` lines, with its lists of objects as tables.
 * Drops it. */
int report_table(const struct args *args, json_t *object);

/* A text of the library as JSON; released. NULL only without memory. */
json_t *report_parse(char *text);

/* A file's name for JSON: bytes that are no UTF-8 are shown as \xNN. */
json_t *report_name(const char *name);

/* "" for 1, and "s" for any other count. */
const char *plural(uint64_t count);

/* Whether all of stdout was written; if not, says so once. */
int report_flush(const struct args *args, int code);

#endif
