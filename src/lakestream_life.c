/*
 * The public functions about a stream's life: check arguments, call inward.
 */
#include <string.h>

#include "consumer/consumer.h"
#include "manifest/place.h"
#include "reclaim/reclaim.h"

static enum lks_status refuse_null(const char *name, struct lks_error *error)
{
    return lks_error_set(error, LKS_INVALID, "%s is NULL", name);
}

/* Whether the stream may be used, and how long a commit may take. */
static enum lks_status begin(const struct lks_stream *stream,
                             const struct lks_options *options,
                             uint64_t *out_timeout_ms,
                             struct lks_error *error)
{
    enum lks_status status;

    if (stream == NULL)
        return refuse_null("stream", error);
    status = lks_stream_check_fork(stream, error);
    if (status == LKS_OK)
        status = lks_options_check(options, error);
    if (status == LKS_OK)
        *out_timeout_ms =
            lks_options_number(options, LKS_OPTION_FLUSH_TIMEOUT_MS);
    return status;
}

static enum lks_status check_ranks(uint32_t ranks,
                                   uint32_t rank,
                                   struct lks_error *error)
{
    if (ranks == 0 || ranks > LKS_RANKS_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "a run has 1 to %u ranks, not %u", LKS_RANKS_MAX,
                             ranks);
    if (rank >= ranks && rank != LKS_RANK_ALL)
        return lks_error_set(error, LKS_INVALID, "rank %u is none of %u ranks",
                             rank, ranks);
    return LKS_OK;
}

/* The watermark of the rank, in the run of `run` or else the one shown. */
static enum lks_status publish(struct lks_member *member,
                               const char *run,
                               uint64_t step,
                               uint64_t timeout_ms,
                               struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    member->only_marks = true;
    member->follows = run[0] == '\0';
    if (!member->follows)
        status = lks_member_parse_run(member, run, error);
    if (status == LKS_OK)
        status = lks_member_join(member, LKS_STEP_FIRST,
                                 lks_env_deadline_ms(member->stream->env,
                                                     timeout_ms),
                                 error);
    if (status == LKS_OK)
        status = lks_member_publish(member, step, error);
    return status;
}

enum lks_status lks_stream_watermark(struct lks_stream *stream,
                                     const char *group,
                                     uint32_t ranks,
                                     uint32_t rank,
                                     uint64_t step,
                                     const struct lks_options *options,
                                     struct lks_error *error)
{
    struct lks_member member;
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status == LKS_OK)
        status = lks_id_check("group", group, error);
    if (status == LKS_OK)
        status = check_ranks(ranks, rank, error);
    if (status != LKS_OK)
        return status;
    lks_member_init(&member, stream, NULL);
    memcpy(member.group, group, strlen(group) + 1);
    member.ranks = ranks;
    member.rank = rank;
    status = publish(&member, lks_options_text(options, LKS_OPTION_RUN), step,
                     timeout_ms, error);
    lks_member_done(&member);
    return status;
}

enum lks_status lks_stream_pin(struct lks_stream *stream,
                               const char *name,
                               uint64_t step,
                               const struct lks_options *options,
                               struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status == LKS_OK)
        status = lks_id_check("pin", name, error);
    if (status != LKS_OK)
        return status;
    return lks_pin(stream, name, step, timeout_ms, error);
}

enum lks_status lks_stream_unpin(struct lks_stream *stream,
                                 const char *name,
                                 const struct lks_options *options,
                                 struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status == LKS_OK)
        status = lks_id_check("pin", name, error);
    if (status != LKS_OK)
        return status;
    return lks_unpin(stream, name, timeout_ms, error);
}

enum lks_status lks_stream_limit(struct lks_stream *stream,
                                 const uint64_t *max_live_steps,
                                 const uint64_t *max_live_bytes,
                                 const struct lks_options *options,
                                 struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status != LKS_OK)
        return status;
    if ((max_live_steps != NULL && *max_live_steps > LKS_STEP_MAX) ||
        (max_live_bytes != NULL && *max_live_bytes > LKS_STEP_MAX))
        return lks_error_set(error, LKS_INVALID, "a limit is past 2^63 - 1");
    return lks_limit(stream, max_live_steps, max_live_bytes, timeout_ms, error);
}

enum lks_status lks_stream_evict_group(struct lks_stream *stream,
                                       const char *group,
                                       uint32_t rank,
                                       const struct lks_options *options,
                                       struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status == LKS_OK)
        status = lks_id_check("group", group, error);
    if (status != LKS_OK)
        return status;
    if (rank == LKS_RANK_ALL)
        return lks_evict_group(stream, group, timeout_ms, error);
    return lks_evict_rank(stream, group, rank, timeout_ms, error);
}

enum lks_status lks_stream_evict_producer(struct lks_stream *stream,
                                          const char *id,
                                          const struct lks_options *options,
                                          struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status == LKS_OK)
        status = lks_id_check("producer id", id, error);
    if (status != LKS_OK)
        return status;
    return lks_evict_producer(stream, id, timeout_ms, error);
}

enum lks_status lks_stream_reclaim(struct lks_stream *stream,
                                   int dry_run,
                                   const struct lks_options *options,
                                   char **out_json,
                                   struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status != LKS_OK)
        return status;
    if (out_json == NULL)
        return refuse_null("out_json", error);
    return lks_reclaim(stream, dry_run != 0, timeout_ms, out_json, error);
}

enum lks_status lks_stream_fork(struct lks_stream *stream,
                                uint64_t step,
                                const char *url,
                                const struct lks_options *options,
                                struct lks_stream **out_fork,
                                struct lks_error *error)
{
    struct lks_store *store = NULL;
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status != LKS_OK)
        return status;
    if (url == NULL)
        return refuse_null("url", error);
    if (out_fork == NULL)
        return refuse_null("out_fork", error);
    status = lks_place_open(url, stream->env, options, &store, error);
    if (status != LKS_OK)
        return status;
    return lks_fork(stream, step, store, out_fork, error);
}

enum lks_status lks_stream_drop(struct lks_stream *stream,
                                int force,
                                const struct lks_options *options,
                                char **out_json,
                                struct lks_error *error)
{
    uint64_t timeout_ms = 0;
    enum lks_status status = begin(stream, options, &timeout_ms, error);

    if (status != LKS_OK)
        return status;
    if (out_json == NULL)
        return refuse_null("out_json", error);
    return lks_drop(stream, force != 0, timeout_ms, out_json, error);
}

enum lks_status lks_consumer_checkpointed(struct lks_consumer *consumer,
                                          uint64_t step,
                                          int has_oldest,
                                          uint64_t oldest_kept,
                                          struct lks_error *error)
{
    char *report = NULL;
    enum lks_status status;

    if (consumer == NULL)
        return refuse_null("consumer", error);
    status = lks_stream_check_fork(consumer->stream, error);
    if (status == LKS_OK)
        status = lks_consumer_publish(consumer, step,
                                      has_oldest ? oldest_kept : step, error);
    if (status != LKS_OK || !consumer->reclaims || consumer->member.rank != 0)
        return status;
    /* The checkpoint is published whatever becomes of this. */
    status = lks_reclaim(consumer->stream, false, consumer->join_timeout_ms,
                         &report, error);
    if (status == LKS_OK)
        lks_text_free(report);
    return status;
}
