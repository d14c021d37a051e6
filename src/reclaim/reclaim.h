/*
 * Who may delete, and when: reclaiming, and what decides it: pins, limits,
 * evictions; leaving a stream by a fork, and ending it by a drop.
 *
 * The public functions in src/lakestream_life.c check their arguments and call
 * these. Each commits through a log of its own.
 */
#ifndef LKS_RECLAIM_RECLAIM_H
#define LKS_RECLAIM_RECLAIM_H

#include "manifest/stream.h"

/* Commits W, and deletes what is garbage by then; *out_json is the report. */
enum lks_status lks_reclaim(struct lks_stream *stream,
                            bool dry_run,
                            uint64_t timeout_ms,
                            char **out_json,
                            struct lks_error *error);

/* Commits `dropped`, and deletes all but stream.json and that manifest. With
 * `force` in spite of pins. */
enum lks_status lks_drop(struct lks_stream *stream,
                         bool force,
                         uint64_t timeout_ms,
                         char **out_json,
                         struct lks_error *error);

/* LKS_RECLAIMED below the first live step, LKS_INVALID past the next. */
enum lks_status lks_pin(struct lks_stream *stream,
                        const char *name,
                        uint64_t step,
                        uint64_t timeout_ms,
                        struct lks_error *error);

/* LKS_NOT_FOUND if there is none. */
enum lks_status lks_unpin(struct lks_stream *stream,
                          const char *name,
                          uint64_t timeout_ms,
                          struct lks_error *error);

/* NULL leaves a limit as it is; 0 is none. */
enum lks_status lks_limit(struct lks_stream *stream,
                          const uint64_t *max_live_steps,
                          const uint64_t *max_live_bytes,
                          uint64_t timeout_ms,
                          struct lks_error *error);

/*
 * Each evicts the run, or the incarnation, that it sees first: if somebody
 * started anew meanwhile, that is done as well. LKS_NOT_FOUND if there is none.
 */
enum lks_status lks_evict_group(struct lks_stream *stream,
                                const char *group,
                                uint64_t timeout_ms,
                                struct lks_error *error);
enum lks_status lks_evict_rank(struct lks_stream *stream,
                               const char *group,
                               uint32_t rank,
                               uint64_t timeout_ms,
                               struct lks_error *error);
enum lks_status lks_evict_producer(struct lks_stream *stream,
                                   const char *id,
                                   uint64_t timeout_ms,
                                   struct lks_error *error);

/* Makes the stream in `store`, which it takes over, that continues this one at
 * `step`. */
enum lks_status lks_fork(struct lks_stream *stream,
                         uint64_t step,
                         struct lks_store *store,
                         struct lks_stream **out_fork,
                         struct lks_error *error);

#endif
