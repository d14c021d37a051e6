/*
 * What every test uses: cmocka with the headers it needs, and a check of a
 * status that shows the message.
 */
#ifndef LKS_TESTS_SUPPORT_CHECK_H
#define LKS_TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lakestream.h"

/* Evaluates `call` once. When it does not return `expected`, the test fails
 * with the message of the variable named `error`, a struct lks_error. */
#define assert_status(expected, call)                                          \
    do {                                                                       \
        enum lks_status check_status_ = (call);                                \
        if (check_status_ != (expected))                                       \
            fail_msg("%s: got %d (%s), expected %s: %s", #call,                \
                     (int)check_status_, lks_status_name(check_status_),       \
                     #expected,                                                \
                     check_status_ == LKS_OK ? "no error" : error.message);    \
    } while (0)

/* The message of `error` has `part` in it. */
#define assert_message_has(part)                                               \
    do {                                                                       \
        if (strstr(error.message, (part)) == NULL)                             \
            fail_msg("'%s' is not in the message: %s", (part), error.message); \
    } while (0)

#endif
