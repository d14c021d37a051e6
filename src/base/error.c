/*
 * Filling the caller's message, and the names of the statuses.
 */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [LKS_OK] = "ok",
    [LKS_ENDED] = "ended",
    [LKS_TIMEOUT] = "timeout",
    [LKS_FENCED] = "fenced",
    [LKS_NOT_FOUND] = "not found",
    [LKS_EXISTS] = "exists",
    [LKS_RECLAIMED] = "reclaimed",
    [LKS_UNAVAILABLE] = "unavailable",
    [LKS_CORRUPT] = "corrupt",
    [LKS_UNSUPPORTED] = "unsupported",
    [LKS_DENIED] = "denied",
    [LKS_INVALID] = "invalid",
    [LKS_NO_MEMORY] = "no memory",
    [LKS_CANCELLED] = "cancelled",
};

const char *lks_status_name(enum lks_status status)
{
    unsigned int index = (unsigned int)status;

    if (status == LKS_UNSURE)
        return "unsure";
    if (index >= sizeof(status_names) / sizeof(status_names[0]))
        return "unknown status";
    return status_names[index];
}

void lks_line_clean(char *line)
{
    for (; *line != '\0'; line++) {
        if ((unsigned char)*line < 0x20 || *line == 0x7f)
            *line = '?';
    }
}

enum lks_status lks_error_set(struct lks_error *error,
                              enum lks_status status,
                              const char *format,
                              ...)
{
    /* Apart, since the arguments may point into the old message. */
    char message[LKS_ERROR_SIZE];
    va_list args;

    if (error == NULL)
        return status;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    lks_line_clean(message);

    error->status = status;
    memcpy(error->message, message, sizeof(message));
    return status;
}

enum lks_status lks_error_no_memory(struct lks_error *error)
{
    return lks_error_set(error, LKS_NO_MEMORY, "out of memory");
}

enum lks_status lks_error_prefix(struct lks_error *error,
                                 enum lks_status status,
                                 const char *format,
                                 ...)
{
    char context[LKS_ERROR_SIZE];
    va_list args;

    if (error == NULL)
        return status;

    va_start(args, format);
    vsnprintf(context, sizeof(context), format, args);
    va_end(args);

    return lks_error_set(error, status, "%s: %s", context, error->message);
}
