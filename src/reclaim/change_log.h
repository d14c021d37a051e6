/*
 * One control commit with a log of its own: what pins, limits and evictions
 * are.
 */
#ifndef LKS_RECLAIM_CHANGE_LOG_H
#define LKS_RECLAIM_CHANGE_LOG_H

#include "manifest/change.h"

/* Commits the change within `timeout_ms`. */
enum lks_status lks_change_stream(struct lks_stream *stream,
                                  const struct lks_change *change,
                                  uint64_t timeout_ms,
                                  struct lks_error *error);

/* LKS_NOT_FOUND, once the stream was dropped. */
enum lks_status lks_change_check(const struct lks_manifest *head,
                                 struct lks_error *error);

#endif
