/*
 * Lakestream: ordered, complete, replayable global batches for training runs,
 * kept in an object store and nothing else.
 *
 * This header is the manual. It goes from what everybody needs to what few do:
 *
 *     1. Status and messages
 *     2. Options
 *     3. Streams
 *     4. Producers
 *     5. Consumers and batches
 *     6. Looking at a stream: info, log, verify
 *     7. Life of a stream: pins, limits, reclaiming, forks, the end
 *     8. Objects: the store itself, without streams (lakestream/objects.h)
 *     9. Logging
 *
 * Rules that hold for every function below, and are not repeated there:
 *
 *   Status     A function that can fail returns enum lks_status. Out-parameters
 *              (named out_*) are written only when it returns LKS_OK.
 *   Messages   `error` may be NULL. Otherwise it is filled when the status is
 *              not LKS_OK. The text is for people: branch on the status.
 *   Borrowing  Pointers passed in are read during the call and not kept, but
 *              for the slices of lks_producer_append().
 *   Owning     *_open pairs with *_close, *_new with *_free. The second of each
 *              pair accepts NULL. Texts handed out as `char **` are released
 *              with lks_text_free().
 *   Threads    A stream and a store may be used from any thread. A producer or
 *              a consumer belongs to one thread at a time, but for *_cancel.
 *   Forking    A handle must not be used in a child after fork(): the calls
 *              return LKS_INVALID there and touch nothing.
 *   Units      `size` is bytes, `count` is a number of things, `*_ms` is
 *              milliseconds. Ranks, slices, steps and seqs count from zero.
 */
#ifndef LAKESTREAM_H
#define LAKESTREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LKS_API __attribute__((visibility("default")))
#else
#define LKS_API
#endif

#define LKS_VERSION_MAJOR 0
#define LKS_VERSION_MINOR 1
#define LKS_VERSION_PATCH 0

/* Limits. Each is checked where the value enters the library. */
#define LKS_SLICE_COUNT_MAX 65536u       /* dp * cp of a mesh */
#define LKS_SLICE_SIZE_MAX (1024u << 20) /* one slice, 1 GiB */
#define LKS_OFFSET_SIZE_MAX 256u         /* a producer's offset */
#define LKS_META_SIZE_MAX (64u << 10)    /* metadata of one TGB */
#define LKS_PRODUCER_ID_SIZE_MAX 64u     /* [A-Za-z0-9._-], no '.' first */
#define LKS_ERROR_SIZE 1024u             /* a message, with its NUL */
#define LKS_STATE_SIZE_MAX 256u          /* a consumer's state */

/* ------------------------------------------------ 1. status and messages -- */

/* A status is an instruction to the caller. The values are pinned. */
enum lks_status {
    LKS_OK = 0,
    LKS_ENDED = 1,       /* the stream has ended: stop, all is well */
    LKS_TIMEOUT = 2,     /* nothing came in time: call again later */
    LKS_FENCED = 3,      /* somebody else took over this id: stop for good */
    LKS_NOT_FOUND = 4,   /* no such stream, step or object */
    LKS_EXISTS = 5,      /* it is there already, and was not touched */
    LKS_RECLAIMED = 6,   /* the step was deleted: start at the first live one */
    LKS_UNAVAILABLE = 7, /* the store did not serve us, retries included */
    LKS_CORRUPT = 8,     /* stored bytes are not what was written: look at it */
    LKS_UNSUPPORTED = 9, /* a newer format, or a store that lacks a promise */
    LKS_DENIED = 10,     /* the store refuses our credentials */
    LKS_INVALID = 11,    /* an argument, option or mesh is wrong */
    LKS_NO_MEMORY = 12,  /* an allocation failed; nothing has changed */
    LKS_CANCELLED = 13,  /* lks_producer_cancel() or lks_consumer_cancel() */
};

struct lks_error {
    enum lks_status status;
    char message[LKS_ERROR_SIZE];
};

/* "fenced", "not found", ...: a static string, for any value. */
LKS_API const char *lks_status_name(enum lks_status status);

/* The library's version, "0.1.0": a static string. */
LKS_API const char *lks_version(void);

/* Releases a text that the library handed out. */
LKS_API void lks_text_free(char *text);

/*
 * Whether a text is the URL of a stream, or an id, which `what` names in the
 * message: LKS_OK, or LKS_INVALID as whoever takes one would say. An id is 1 to
 * LKS_PRODUCER_ID_SIZE_MAX of A-Z, a-z, 0-9, '.', '_' and '-', no '.' first.
 */
LKS_API enum lks_status lks_url_check(const char *url, struct lks_error *error);
LKS_API enum lks_status lks_id_check(const char *what,
                                     const char *id,
                                     struct lks_error *error);

/* ----------------------------------------------------------- 2. options -- */

/*
 * Options are set by name, as text, from one table with type, range, default
 * and explanation. What is not set comes from the environment variable
 * LAKESTREAM_<NAME IN CAPITALS>, and then from the table. Sizes take the
 * suffixes KiB, MiB, GiB.
 */
struct lks_options;

LKS_API enum lks_status lks_options_new(struct lks_options **out_options,
                                        struct lks_error *error);
LKS_API void lks_options_free(struct lks_options *options);

/* LKS_INVALID names the option and what it may be. */
LKS_API enum lks_status lks_options_set(struct lks_options *options,
                                        const char *name,
                                        const char *value,
                                        struct lks_error *error);

/* Row `index` of the table, for help texts and bindings, as JSON {name, type,
 * min, max, default, choices, reader, text}; the reader is what looks at it:
 * create, producer, consumer, run (a consumer or a watermark), change (all that
 * change a stream), store (all) or s3. LKS_NOT_FOUND past the last row. */
LKS_API enum lks_status lks_options_describe(size_t index,
                                             char **out_json,
                                             struct lks_error *error);

/* ----------------------------------------------------------- 3. streams -- */

struct lks_stream;

/*
 * Creates the stream at `url` for a mesh of dp x cp, having probed the store,
 * and opens it. Read from `options`: producers, max_live_steps, max_live_bytes
 * and what concerns the store. LKS_EXISTS if the prefix was used once, or has
 * anything in data/, index/ or watermark/; LKS_INVALID in such a folder of
 * another stream; LKS_UNSUPPORTED if the store breaks a promise that it names.
 */
LKS_API enum lks_status lks_stream_create(const char *url,
                                          uint32_t dp,
                                          uint32_t cp,
                                          const struct lks_options *options,
                                          struct lks_stream **out_stream,
                                          struct lks_error *error);

/* Opens a stream. LKS_NOT_FOUND if the prefix holds none. */
LKS_API enum lks_status lks_stream_open(const char *url,
                                        const struct lks_options *options,
                                        struct lks_stream **out_stream,
                                        struct lks_error *error);

/* Closes it. Its producers and consumers must be closed before. */
LKS_API void lks_stream_close(struct lks_stream *stream);

LKS_API uint32_t lks_stream_dp(const struct lks_stream *stream);
LKS_API uint32_t lks_stream_cp(const struct lks_stream *stream);

/* The stream's id, 32 hex digits, as long as the stream is open. */
LKS_API const char *lks_stream_id(const struct lks_stream *stream);

/* Ends the stream for good after what is committed. Idempotent. Option:
 * flush_timeout_ms. */
LKS_API enum lks_status lks_stream_seal(struct lks_stream *stream,
                                        const struct lks_options *options,
                                        struct lks_error *error);

/* --------------------------------------------------------- 4. producers -- */

/*
 * A producer appends TGBs, each a complete global batch, and makes them visible
 * in the order of its appends. Its id names its place in the stream for ever:
 * a worker that is started again takes the id of the one it replaces, and so
 * learns where that one had got to. Opening fences every earlier incarnation.
 *
 * Options: producer_bytes, uploads, codec, codec_level, pacing, commit_percent,
 * lost_percent, freshness_ms, commit_gap_ms, flush_timeout_ms,
 * outage_timeout_ms.
 */
struct lks_producer;

struct lks_slice {
    const void *data; /* may be NULL if size is 0 */
    size_t size;
};

/* Called once when the library has no more need of the slices of an append. */
typedef void lks_release_fn(void *release_arg);

/* LKS_INVALID for an id that is none, or one too many for the stream;
 * LKS_ENDED for one that a stream which has ended never had. */
LKS_API enum lks_status lks_producer_open(struct lks_stream *stream,
                                          const char *id,
                                          const struct lks_options *options,
                                          struct lks_producer **out_producer,
                                          struct lks_error *error);

/*
 * Stops at once, in under a second: what was not committed is forgotten, and
 * its seqs are used again by the next incarnation. Flush first to keep it.
 */
LKS_API void lks_producer_close(struct lks_producer *producer);

/* Makes calls that wait in other threads, and all later ones, return
 * LKS_CANCELLED. For signal-driven shutdown. Any thread. */
LKS_API void lks_producer_cancel(struct lks_producer *producer);

/* The seq that the next append gets: the number of appends so far. */
LKS_API uint64_t lks_producer_next_seq(const struct lks_producer *producer);

/*
 * The offset that was committed with the last TGB when the producer was opened:
 * where in its source the worker continues. *out_size is 0 and *out_data NULL
 * when there is none. Valid until the producer is closed.
 */
LKS_API void lks_producer_offset(const struct lks_producer *producer,
                                 const void **out_data,
                                 size_t *out_size);

/*
 * Whether a producer with these options would take such a TGB, or LKS_INVALID
 * as its append would say: opening one to know would change the stream. The
 * slices' data is not looked at.
 */
LKS_API enum lks_status lks_producer_check(const struct lks_stream *stream,
                                           const struct lks_slice *slices,
                                           size_t count,
                                           size_t meta_size,
                                           const struct lks_options *options,
                                           struct lks_error *error);

/*
 * Appends one TGB of `count` = dp * cp slices, by rank, without copying them.
 *
 * The slices' bytes are read until `release(release_arg)` is called, from any
 * thread, possibly before this returns. With `release` NULL they must stay
 * until a flush has returned LKS_OK or the producer is closed. If the call
 * fails, nothing was kept, and `release` is not called.
 *
 * `offset` is the position in the producer's own source after this TGB, `meta`
 * is for the readers; both are opaque, copied, and may be empty. Blocks while
 * producer_bytes are in flight, or the stream is at its limit (the log tells
 * of that, see "logging"). An error of an earlier append's upload or commit is
 * returned here, and by every later call. LKS_ENDED if the stream has ended.
 */
LKS_API enum lks_status lks_producer_append(struct lks_producer *producer,
                                            const struct lks_slice *slices,
                                            size_t count,
                                            const void *offset,
                                            size_t offset_size,
                                            const void *meta,
                                            size_t meta_size,
                                            lks_release_fn *release,
                                            void *release_arg,
                                            struct lks_error *error);

/* Returns when everything appended is committed: visible, and durable as the
 * store is. LKS_TIMEOUT after flush_timeout_ms; it goes on behind. */
LKS_API enum lks_status lks_producer_flush(struct lks_producer *producer,
                                           struct lks_error *error);

/* Flushes and marks the producer finished. Only closing may follow. The stream
 * ends when the number of producers given at its creation are finished and none
 * is unfinished. */
LKS_API enum lks_status lks_producer_finish(struct lks_producer *producer,
                                            struct lks_error *error);

/*
 * Counters since opening, as JSON: tgbs, bytes, commits, attempts, conflicts,
 * throttled, requests (for manifests, tries included), requests_per_commit,
 * append_to_visible_ms {p50, p95, max}, blocked_ms; and what pacing makes of
 * them: attempt_ms (T, a look and a try), look_ms, active (N, producers that
 * commit), gap_ms.
 */
LKS_API enum lks_status lks_producer_stats(struct lks_producer *producer,
                                           char **out_json,
                                           struct lks_error *error);

/* --------------------------------------------- 5. consumers and batches -- */

/*
 * A consumer is one rank's cursor: it hands out its slices step by step, in the
 * one order that all ranks see, and fetches ahead within prefetch_bytes.
 *
 * Rank r of a mesh dp x cp is d * cp + c. The consumer's mesh may differ from
 * the stream's in dp: with dp/m ranks each reads m slices of every TGB; with
 * k * dp ranks k consecutive TGBs, counted from the step opened at, make one
 * training step. Anything else is LKS_INVALID.
 *
 * With the option group the consumer is one rank of a training job, for which
 * the stream keeps what it may still replay: opening it joins the job's run,
 * the option run, ID.ATTEMPT, equal on all ranks and new at every start. Where
 * that is empty, torchelastic's or Slurm's id and restart count name it; a job
 * of one rank needs no name. LKS_FENCED names the run that took over.
 *
 * Options: prefetch_bytes, fetches, starve_timeout_ms, poll_ms, group, run,
 * watermark, reclaim, flush_timeout_ms.
 */
struct lks_consumer;
struct lks_batch;

/* dp and cp 0 mean the stream's own. LKS_STEP_FIRST is the first live step. */
#define LKS_STEP_FIRST UINT64_MAX

LKS_API enum lks_status lks_consumer_open(struct lks_stream *stream,
                                          uint32_t rank,
                                          uint32_t dp,
                                          uint32_t cp,
                                          uint64_t step,
                                          const struct lks_options *options,
                                          struct lks_consumer **out_consumer,
                                          struct lks_error *error);

/* Under a second, also with a dead store. Batches stay valid. */
LKS_API void lks_consumer_close(struct lks_consumer *consumer);

/* As lks_producer_cancel(). Any thread. */
LKS_API void lks_consumer_cancel(struct lks_consumer *consumer);

/* Gives `size` bytes at a multiple of `alignment`, a power of two; NULL: it has
 * none. */
typedef void *lks_allocate_fn(size_t size, size_t alignment, void *arg);
/* Takes back what it gave. */
typedef void lks_deallocate_fn(void *memory, size_t size, void *arg);

/*
 * Puts the bytes of batches into memory of the caller's: page-locked, say, for
 * a GPU to read. LKS_INVALID once lks_consumer_next() was called; the functions
 * are kept on LKS_OK only. They are called by any thread and by several at
 * once, and must not use the consumer. Each block is asked for before its bytes
 * are requested from the store, is used again by later batches, and is taken
 * back once. Then `release(arg)` is called once, when the consumer is closed
 * and all of its batches are released; it may be NULL.
 *
 * A block that cannot be had makes lks_consumer_next() return LKS_NO_MEMORY,
 * after which it may be called again; one that is not aligned, LKS_INVALID.
 * Blocks of batches that the caller holds come on top of prefetch_bytes.
 */
LKS_API enum lks_status lks_consumer_set_allocator(
    struct lks_consumer *consumer,
    lks_allocate_fn *allocate,
    lks_deallocate_fn *deallocate,
    lks_release_fn *release,
    void *arg,
    struct lks_error *error);

/*
 * The next batch, to be released. LKS_ENDED after the last one; LKS_TIMEOUT
 * after starve_timeout_ms, or one read of a local file later, naming the step
 * and the head it waited at; LKS_RECLAIMED with the first live step;
 * LKS_CORRUPT rather than short or wrong data.
 */
LKS_API enum lks_status lks_consumer_next(struct lks_consumer *consumer,
                                          struct lks_batch **out_batch,
                                          struct lks_error *error);

/* The next stream step to hand out, whatever was prefetched. */
LKS_API uint64_t lks_consumer_step(const struct lks_consumer *consumer);

/*
 * The state as one line of JSON, {"version": 1, "stream": id, "step": n},
 * independent of rank, mesh and prefetch. `size` is at least
 * LKS_STATE_SIZE_MAX.
 */
LKS_API enum lks_status lks_consumer_state(const struct lks_consumer *consumer,
                                           char *text,
                                           size_t size,
                                           struct lks_error *error);

/*
 * Continues at a state's step. LKS_INVALID for another stream's state, and
 * below the rank's own watermark: going back behind that needs a new run. A
 * state of the stream's parent is one of this stream at the step where it was
 * forked; below that it is LKS_RECLAIMED, naming the parent.
 */
LKS_API enum lks_status lks_consumer_restore(struct lks_consumer *consumer,
                                             const char *state,
                                             struct lks_error *error);

/*
 * Says that the training checkpoint at `step`, the next to hand out then or an
 * earlier one, is durable: steps below it are not needed by this rank any more.
 * With `has_oldest`, steps from `oldest_kept` on are, for those who keep older
 * checkpoints. Publishes that as the rank's watermark, which never moves back
 * within a run; with the option watermark=all it counts for all ranks. Option
 * reclaim=yes: rank 0 then reclaims as well.
 *
 * LKS_FENCED if another run took over, or the rank was evicted; LKS_RECLAIMED;
 * LKS_INVALID without a group, or below what somebody published as this rank.
 */
LKS_API enum lks_status lks_consumer_checkpointed(struct lks_consumer *consumer,
                                                  uint64_t step,
                                                  int has_oldest,
                                                  uint64_t oldest_kept,
                                                  struct lks_error *error);

/* Counters since opening, as JSON: steps, bytes, bytes_needed, bytes_fetched,
 * polls, gets, lists, wait_ms, longest_wait_ms. */
LKS_API enum lks_status lks_consumer_stats(struct lks_consumer *consumer,
                                           char **out_json,
                                           struct lks_error *error);

LKS_API void lks_batch_release(struct lks_batch *batch);
LKS_API uint64_t lks_batch_step(const struct lks_batch *batch);
LKS_API uint64_t lks_batch_next_step(const struct lks_batch *batch);
LKS_API size_t lks_batch_slice_count(const struct lks_batch *batch);

/* Slice `index` of this rank; its bytes live as long as the batch, and start
 * at an address that is a multiple of 64. They were fetched for this batch
 * alone: who casts the `const` away may write to them. */
LKS_API struct lks_slice lks_batch_slice(const struct lks_batch *batch,
                                         size_t index);

/* The metadata given at the append of the (first) TGB. Costs a read of the
 * store when first asked for. */
LKS_API enum lks_status lks_batch_meta(struct lks_batch *batch,
                                       const void **out_data,
                                       size_t *out_size,
                                       struct lks_error *error);

/* ---------------------------------------------- 6. looking at a stream -- */

/*
 * What the newest manifest says, as one JSON object: url, stream, format, dp,
 * cp, version, next_step, first_live_step, ended (bool), ended_at (null or
 * step), live_steps, live_bytes, total_bytes, limits, producers [{id, epoch,
 * next_seq, finished, host, pid, offset (hex)}], groups [{name, run, attempt,
 * ranks, floor, step, lag, stalled, evicted}], pins [{name, step}], parent,
 * lineage [{url, stream, step}], manifest_bytes, requests (the handle's stats).
 */
LKS_API enum lks_status lks_stream_info(struct lks_stream *stream,
                                        char **out_json,
                                        struct lks_error *error);

/* The requests that the handle, its producers and consumers have sent so far,
 * retries too, as JSON: gets, stats, puts, lists, removes. */
LKS_API enum lks_status lks_stream_stats(struct lks_stream *stream,
                                         char **out_json,
                                         struct lks_error *error);

/* Gets one line of a report, without its end of line. Returning anything but
 * LKS_OK stops the walk, which then returns that. */
typedef enum lks_status lks_line_fn(const char *line, void *arg);

/* One JSON object per step of [from, to), clamped to what is live: step,
 * producer, epoch, seq, bytes, version, object (its key below the URL). */
LKS_API enum lks_status lks_stream_log(struct lks_stream *stream,
                                       uint64_t from,
                                       uint64_t to,
                                       lks_line_fn *line,
                                       void *arg,
                                       struct lks_error *error);

/*
 * Checks everything that stored objects can show: the chain, the index blocks,
 * each producer's seqs and offsets, and with `data` every byte of every live
 * TGB. *out_json: {ok, steps, blocks, bytes, problems [text]}. A stream with
 * problems is still LKS_OK; LKS_CORRUPT means that checking could not go on.
 */
LKS_API enum lks_status lks_stream_verify(struct lks_stream *stream,
                                          int data,
                                          char **out_json,
                                          struct lks_error *error);

/* One slice's bytes of a step, as appended: the easy way, without a consumer.
 * Released with lks_batch_release(). */
LKS_API enum lks_status lks_stream_get(struct lks_stream *stream,
                                       uint64_t step,
                                       uint32_t rank,
                                       struct lks_batch **out_batch,
                                       struct lks_error *error);

/* ----------------------------------------------- 7. life of a stream -- */

/*
 * Who still needs which steps, and deleting the rest: docs/lifecycle.md. W, the
 * reclaim point, is the least step that a group or a pin still needs. A group
 * needs what the least advanced of its ranks may replay: its watermark, or the
 * step its run was opened at. With no group nothing is reclaimed. Names are ids
 * as those of producers. Options of all: flush_timeout_ms.
 */
#define LKS_RANK_ALL UINT32_MAX /* one rank speaks for all of its run */

/*
 * Publishes a watermark without a consumer: rank `rank` of `ranks` may still
 * replay `step` and what comes after it, and nothing below. Joins the run of
 * the option run, or else the one that the group shows; opens one at the first
 * live step if there is none. LKS_FENCED, LKS_RECLAIMED, LKS_INVALID as
 * lks_consumer_checkpointed().
 */
LKS_API enum lks_status lks_stream_watermark(struct lks_stream *stream,
                                             const char *group,
                                             uint32_t ranks,
                                             uint32_t rank,
                                             uint64_t step,
                                             const struct lks_options *options,
                                             struct lks_error *error);

/* Holds `step` and all after it, whatever is checkpointed; moves the pin of
 * that name if there is one. LKS_RECLAIMED below the first live step. */
LKS_API enum lks_status lks_stream_pin(struct lks_stream *stream,
                                       const char *name,
                                       uint64_t step,
                                       const struct lks_options *options,
                                       struct lks_error *error);

/* LKS_NOT_FOUND if there is no such pin. */
LKS_API enum lks_status lks_stream_unpin(struct lks_stream *stream,
                                         const char *name,
                                         const struct lks_options *options,
                                         struct lks_error *error);

/* Changes the limits on live steps and bytes: NULL leaves one as it is, 0 is
 * none. Producers wait while a limit is reached. */
LKS_API enum lks_status lks_stream_limit(struct lks_stream *stream,
                                         const uint64_t *max_live_steps,
                                         const uint64_t *max_live_bytes,
                                         const struct lks_options *options,
                                         struct lks_error *error);

/*
 * Evicts whoever does not come back. A group: nothing is kept for it any more.
 * A rank (LKS_RANK_ALL: none, the whole group): the others of its run count. A
 * producer: it counts as finished, and is fenced. What was started anew while
 * this ran is left alone. LKS_NOT_FOUND if there is no such one.
 */
LKS_API enum lks_status lks_stream_evict_group(
    struct lks_stream *stream,
    const char *group,
    uint32_t rank,
    const struct lks_options *options,
    struct lks_error *error);
LKS_API enum lks_status lks_stream_evict_producer(
    struct lks_stream *stream,
    const char *id,
    const struct lks_options *options,
    struct lks_error *error);

/*
 * Commits W as the first live step, then deletes what is below it and whatever
 * was never committed and never can be, at no more than some 50 requests per
 * second. May be done by anyone, by any number at once, and be killed at any
 * point. With `dry_run` nothing is changed. *out_json: dry_run, version,
 * next_step, first_live_step_before, first_live_step, claimed, held_by
 * [{kind, name, step, run, attempt, ranks, rank_count}], why, removed {data,
 * index, manifests, watermarks, count, bytes}, left {in_flight,
 * young_manifests, unknown, unknown_such_as: one of these}, requests.
 */
LKS_API enum lks_status lks_stream_reclaim(struct lks_stream *stream,
                                           int dry_run,
                                           const struct lks_options *options,
                                           char **out_json,
                                           struct lks_error *error);

/*
 * Creates and opens the stream at `url` that continues this one at `step`,
 * which is its first: with the producers' positions of that step, and the
 * limits of now. It shares no object with this one. A consumer's state of this
 * stream at that very step is a state of the fork too. LKS_RECLAIMED; and
 * whatever refuses a prefix to lks_stream_create().
 */
LKS_API enum lks_status lks_stream_fork(struct lks_stream *stream,
                                        uint64_t step,
                                        const char *url,
                                        const struct lks_options *options,
                                        struct lks_stream **out_fork,
                                        struct lks_error *error);

/*
 * Ends the stream, and deletes all of it but its descriptor and its last
 * manifest, which keep the prefix from being used again; manifests younger than
 * a quarter of an hour are left to a later call. LKS_INVALID while there are
 * pins, unless `force`. *out_json: version, dropped, removed, left as above.
 */
LKS_API enum lks_status lks_stream_drop(struct lks_stream *stream,
                                        int force,
                                        const struct lks_options *options,
                                        char **out_json,
                                        struct lks_error *error);

/* ------------------------------------------------------------ 8. objects -- */

#include "lakestream/objects.h"

/* ------------------------------------------------------------ 9. logging -- */

#include "lakestream/logging.h"

#ifdef __cplusplus
}
#endif

#endif /* LAKESTREAM_H */
