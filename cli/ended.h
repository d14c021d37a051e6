/* Where a stream ends, for the commands that may have ended it. */
#ifndef LAKESTREAM_CLI_ENDED_H
#define LAKESTREAM_CLI_ENDED_H

#include <jansson.h>

#include "args.h"

/* Prints `what` and whether the stream has ended; to `report` it adds the keys
 * ended and ended_at. Drops `report`. Returns the exit code. */
int report_ended(const struct args *args,
                 struct lks_stream *stream,
                 const char *what,
                 json_t *report);

#endif
