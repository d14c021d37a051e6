/*
 * Looking at a stream without changing it: its state, its steps, its health.
 */
#ifndef LKS_INSPECT_INSPECT_H
#define LKS_INSPECT_INSPECT_H

#include <stdbool.h>

#include "manifest/stream.h"

/* lks_stream_info(), its arguments checked. */
enum lks_status lks_inspect_info(struct lks_stream *stream,
                                 char **out_json,
                                 struct lks_error *error);

/* lks_stream_log(), likewise. */
enum lks_status lks_inspect_walk(struct lks_stream *stream,
                                 uint64_t from,
                                 uint64_t to,
                                 lks_line_fn *line,
                                 void *arg,
                                 struct lks_error *error);

/* lks_stream_verify(), likewise. */
enum lks_status lks_inspect_verify(struct lks_stream *stream,
                                   bool data,
                                   char **out_json,
                                   struct lks_error *error);

#endif
