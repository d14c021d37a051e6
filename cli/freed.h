/* What a reclaim or a drop freed and left, for people. */
#ifndef LAKESTREAM_CLI_FREED_H
#define LAKESTREAM_CLI_FREED_H

#include <jansson.h>
#include <stdbool.h>

/* "removed 7 objects ..." and what was left; `would` for a dry run. */
void print_freed(const json_t *result, bool would);

/* The member's number; 0 if there is none. */
json_int_t freed_number(const json_t *object, const char *key);

#endif
