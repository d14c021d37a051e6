/*
 * Section 9 of lakestream.h, which includes this file.
 *
 * The library prints nothing. It hands lines to one sink, process-wide, for the
 * areas named in `areas` ("store,commit", "all", or NULL for the environment's
 * LKS_TRACE). The sink may be called from any thread.
 *
 * The areas are store, commit, producer, consumer, reclaim, limit and outage.
 * The last two are for every user. limit: an append waits at the stream's limit
 * without end, so once it has been held back for a second, a line says so and
 * what would move it, again each minute, and one when it goes on. outage: a
 * store has done nothing for three seconds, and is tried again.
 */
#ifndef LAKESTREAM_LOGGING_H
#define LAKESTREAM_LOGGING_H

#ifndef LAKESTREAM_H
#error "include lakestream.h"
#endif

typedef void lks_log_fn(const char *area, const char *line, void *arg);

LKS_API void lks_log_set(lks_log_fn *log, void *arg, const char *areas);

#endif
