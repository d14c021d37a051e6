/*
 * The one way to fail: a status that is returned, and a message that the caller
 * may have asked for.
 */
#ifndef LKS_BASE_ERROR_H
#define LKS_BASE_ERROR_H

#include <stdarg.h>

#include "lakestream.h"

/*
 * Inside the library there is one status more: a write was sent, and whether it
 * took is not known. It never leaves through the public functions.
 */
#define LKS_UNSURE ((enum lks_status)100)

#define LKS_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Puts a '?' in the place of each control character. Messages and log lines
 * are one line of text each, though servers and files wrote parts of them. */
void lks_line_clean(char *line);

/* Sets the message, cut to fit, and returns `status`. `error` may be NULL. */
enum lks_status lks_error_set(struct lks_error *error,
                              enum lks_status status,
                              const char *format,
                              ...) LKS_PRINTF(3, 4);

/* "out of memory" and LKS_NO_MEMORY. */
enum lks_status lks_error_no_memory(struct lks_error *error);

/* Puts "<context>: " before the message that is there; returns its status. */
enum lks_status lks_error_prefix(struct lks_error *error,
                                 enum lks_status status,
                                 const char *format,
                                 ...) LKS_PRINTF(3, 4);

#endif
