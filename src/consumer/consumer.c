/*
 * The cursor: where the rank is, and the threads that fetch ahead of it. They
 * start at the first batch that is asked for, so that a position can be
 * restored before for nothing.
 */
#include "consumer/consumer.h"

#include <assert.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "consumer/starve.h"

#define STATS_SIZE_MAX 1024u
#define RENEW_PAUSE_MS 10000u
#define RENEWALS_MAX 50u /* per second, of all ranks that wait */

/* One is kept beside the first, in case that one does wait. */
#define LOCAL_FETCHES_MIN 2u

static bool works_here(const struct lks_consumer *consumer)
{
    struct lks_store *store = consumer->stream->store;

    return store->ops->works_here != NULL && store->ops->works_here(store);
}

/* How many at a time, and whether a caller that waits is one of them. */
static void choose_fetches(struct lks_consumer *consumer,
                           const struct lks_options *options)
{
    struct lks_prefetch *prefetch = &consumer->prefetch;
    uint32_t count = (uint32_t)lks_options_number(options, LKS_OPTION_FETCHES);
    uint32_t useful = lks_env_processors(consumer->stream->env);

    consumer->planner.fetch_count = count;
    if (!works_here(consumer))
        return;
    if (useful < LOCAL_FETCHES_MIN)
        useful = LOCAL_FETCHES_MIN;
    if (count > useful)
        consumer->planner.fetch_count = useful;
    if (count > 1) {
        prefetch->help = lks_planner_help;
        prefetch->help_arg = &consumer->planner;
    }
}

static void set_fields(struct lks_consumer *consumer,
                       const struct lks_options *options,
                       uint32_t ranks)
{
    struct lks_prefetch *prefetch = &consumer->prefetch;
    struct lks_planner *planner = &consumer->planner;

    consumer->reclaims = lks_options_number(options, LKS_OPTION_RECLAIM) != 0;
    consumer->starve_timeout_ms =
        lks_options_number(options, LKS_OPTION_STARVE_TIMEOUT_MS);
    consumer->join_timeout_ms =
        lks_options_number(options, LKS_OPTION_FLUSH_TIMEOUT_MS);
    prefetch->size_max = lks_options_number(options, LKS_OPTION_PREFETCH_BYTES);
    prefetch->poll_ms = lks_options_number(options, LKS_OPTION_POLL_MS);
    prefetch->ranks = ranks;

    planner->stream = consumer->stream;
    planner->share = consumer->share;
    planner->cancel = &consumer->cancel;
    planner->follower = &consumer->follower;
    planner->prefetch = prefetch;
    choose_fetches(consumer, options);
}

/* Makes the rank one of its group's run, if it has a group. *step is then the
 * one that it joined at. */
static enum lks_status join_run(struct lks_consumer *consumer,
                                uint64_t *step,
                                struct lks_error *error)
{
    struct lks_member *member = &consumer->member;
    enum lks_status status;

    if (member->group[0] == '\0')
        return LKS_OK;
    status = lks_member_join(member, *step,
                             lks_env_deadline_ms(consumer->stream->env,
                                                 consumer->join_timeout_ms),
                             error);
    if (status == LKS_OK)
        *step = member->step;
    return status;
}

/* Sets the first step, which must be live as far as the head knows. */
static enum lks_status set_step(struct lks_consumer *consumer,
                                uint64_t step,
                                struct lks_error *error)
{
    const struct lks_follower *follower = &consumer->follower;
    enum lks_status status;

    if (step == LKS_STEP_FIRST)
        step = lks_manifest_first_live_step(follower->log.head);
    status = lks_follower_find(follower, step, consumer->share.group, error);
    if (status == LKS_RECLAIMED || status == LKS_NOT_FOUND)
        return status;
    consumer->step = step;
    return LKS_OK; /* The rest is said when the step is asked for. */
}

enum lks_status lks_consumer_use_blocks(struct lks_consumer *consumer,
                                        const struct lks_block_source *source,
                                        struct lks_error *error)
{
    uint64_t size_max = consumer->prefetch.size_max + LKS_SHELF_SLACK;
    struct lks_shelf *shelf;
    enum lks_status status;

    if (lks_planner_runs(&consumer->planner))
        return lks_error_set(error, LKS_INVALID,
                             "the consumer has batches already: set its "
                             "allocator before the first is asked for");
    status =
        lks_shelf_new(consumer->stream->env, size_max, source, &shelf, error);
    if (status != LKS_OK)
        return status;
    lks_shelf_release(consumer->shelf);
    consumer->shelf = shelf;
    consumer->planner.shelf = shelf;
    /* What the user's functions wait for may be held by who waits for us. */
    if (source->allocate != NULL)
        consumer->prefetch.help = NULL;
    return LKS_OK;
}

enum lks_status lks_consumer_new(struct lks_stream *stream,
                                 uint32_t rank,
                                 uint32_t dp,
                                 uint32_t cp,
                                 uint64_t step,
                                 const struct lks_options *options,
                                 struct lks_consumer **out_consumer,
                                 struct lks_error *error)
{
    static const struct lks_block_source heap;
    const struct lks_descriptor *descriptor = &stream->descriptor;
    struct lks_consumer *consumer = NULL;
    struct lks_share share;
    uint32_t ranks;
    enum lks_status status;

    status = lks_share_find(descriptor->dp, descriptor->cp, rank, dp, cp,
                            &share, error);
    if (status != LKS_OK)
        return status;
    consumer = lks_alloc_zero(1, sizeof(*consumer));
    if (consumer == NULL)
        return lks_error_no_memory(error);
    consumer->stream = stream;
    consumer->share = share;
    lks_cancel_init(&consumer->cancel);
    lks_follower_init(&consumer->follower, stream, &consumer->cancel);
    lks_member_init(&consumer->member, stream, &consumer->cancel);
    status = lks_prefetch_init(&consumer->prefetch, stream->env,
                               &consumer->cancel, error);
    ranks = (dp != 0 ? dp : descriptor->dp) * descriptor->cp;
    set_fields(consumer, options, ranks);
    if (status == LKS_OK)
        status = lks_consumer_use_blocks(consumer, &heap, error);
    if (status != LKS_OK)
        goto done;
    status = lks_member_choose(&consumer->member, options, rank, ranks, error);
    if (status == LKS_OK)
        status = join_run(consumer, &step, error);
    if (status != LKS_OK)
        goto done;

    status = lks_follower_look(&consumer->follower, error);
    if (status != LKS_OK)
        goto done;
    lks_prefetch_note(&consumer->prefetch, &consumer->follower, NULL);
    status = set_step(consumer, step, error);
    if (status != LKS_OK)
        goto done;
    *out_consumer = consumer;

done:
    if (status != LKS_OK)
        lks_consumer_free(consumer);
    return status;
}

/* Ends the threads, if there are any, and forgets what they fetched. */
static void halt(struct lks_consumer *consumer)
{
    struct lks_prefetch *prefetch = &consumer->prefetch;

    if (!lks_planner_runs(&consumer->planner))
        return;
    lks_cancel_set(&consumer->cancel);
    lks_prefetch_wake(prefetch);
    lks_planner_stop(&consumer->planner);
    lks_prefetch_clear(prefetch);
}

/* The same, so that they may start again; but not against the user's wish. */
static void reset(struct lks_consumer *consumer)
{
    struct lks_prefetch *prefetch = &consumer->prefetch;

    halt(consumer);
    lks_monitor_enter(prefetch->env, prefetch->monitor);
    if (!consumer->locked.cancelled)
        lks_cancel_init(&consumer->cancel);
    lks_monitor_leave(prefetch->env, prefetch->monitor);
}

void lks_consumer_free(struct lks_consumer *consumer)
{
    if (consumer == NULL)
        return;
    halt(consumer);
    lks_prefetch_done(&consumer->prefetch);
    lks_shelf_release(consumer->shelf);
    lks_follower_done(&consumer->follower);
    lks_member_done(&consumer->member);
    lks_free(consumer);
}

void lks_consumer_stop(struct lks_consumer *consumer)
{
    struct lks_prefetch *prefetch = &consumer->prefetch;

    lks_monitor_enter(prefetch->env, prefetch->monitor);
    consumer->locked.cancelled = true;
    lks_cancel_set(&consumer->cancel);
    lks_monitor_wake(prefetch->env, prefetch->monitor);
    lks_monitor_leave(prefetch->env, prefetch->monitor);
}

/*
 * A watermark's PUT that was given up may land after a newer one and undo it
 * (docs/protocol.md, "Groups and runs"). A rank that waits because nobody may
 * append makes sure that it is not itself who holds them back.
 */
static void renew_mark(struct lks_consumer *consumer,
                       const struct lks_wait_report *report)
{
    struct lks_member *member = &consumer->member;

    if (member->group[0] == '\0' || member->mark == 0 ||
        !report->sighting.full || report->trouble.status != LKS_OK)
        return;
    /* If it can't be, the next checkpoint says why. */
    (void)lks_member_publish(member, member->mark, NULL);
}

static enum lks_status wait_for_batch(struct lks_consumer *consumer,
                                      struct lks_batch **out_batch,
                                      struct lks_wait_report *out_report,
                                      struct lks_error *error)
{
    uint64_t pause_ms =
        consumer->prefetch.ranks * UINT64_C(1000) / RENEWALS_MAX;
    uint64_t left_ms = consumer->starve_timeout_ms;

    if (pause_ms < RENEW_PAUSE_MS)
        pause_ms = RENEW_PAUSE_MS;
    for (;;) {
        uint64_t part_ms = left_ms < pause_ms ? left_ms : pause_ms;
        enum lks_status status =
            lks_prefetch_take(&consumer->prefetch, part_ms, out_batch,
                              out_report, error);

        left_ms -= part_ms;
        if (status != LKS_TIMEOUT || left_ms == 0)
            return status;
        renew_mark(consumer, out_report);
    }
}

enum lks_status lks_consumer_take(struct lks_consumer *consumer,
                                  struct lks_batch **out_batch,
                                  struct lks_error *error)
{
    struct lks_wait_report report;
    enum lks_status status;

    if (!lks_planner_runs(&consumer->planner) &&
        !lks_cancelled(&consumer->cancel)) {
        status = lks_planner_start(&consumer->planner, consumer->step, error);
        if (status != LKS_OK)
            return status;
    }
    status = wait_for_batch(consumer, out_batch, &report, error);
    if (status == LKS_TIMEOUT)
        return lks_starve_explain(&report, consumer->stream->store->url,
                                  consumer->step, consumer->share.group, error);
    if (status == LKS_OK)
        consumer->step = (*out_batch)->next_step;
    /* Other errors stay; this one may have passed when it is asked again. */
    if (status == LKS_NO_MEMORY)
        reset(consumer);
    return status;
}

enum lks_status lks_consumer_seek(struct lks_consumer *consumer,
                                  uint64_t step,
                                  struct lks_error *error)
{
    const struct lks_member *member = &consumer->member;
    enum lks_status status;

    reset(consumer);
    /* Above the step it joined at the run keeps what it needs. */
    if (member->group[0] != '\0' &&
        (step < member->step || step < member->mark)) {
        status = join_run(consumer, &step, error);
        if (status != LKS_OK)
            return status;
    }
    return set_step(consumer, step, error);
}

enum lks_status lks_consumer_publish(struct lks_consumer *consumer,
                                     uint64_t step,
                                     uint64_t oldest,
                                     struct lks_error *error)
{
    if (consumer->member.group[0] == '\0')
        return lks_error_set(error, LKS_INVALID,
                             "the consumer is of no group, so its checkpoints "
                             "hold nothing: open it with the option group");
    if (step > consumer->step)
        return lks_error_set(error, LKS_INVALID,
                             "a checkpoint at step %" PRIu64
                             " cannot be: the next step to hand out is "
                             "%" PRIu64,
                             step, consumer->step);
    if (oldest > step)
        return lks_error_set(error, LKS_INVALID,
                             "the oldest kept step %" PRIu64
                             " is after the checkpoint's, %" PRIu64,
                             oldest, step);
    return lks_member_publish(&consumer->member, oldest, error);
}

enum lks_status lks_consumer_report(struct lks_consumer *consumer,
                                    char **out_json,
                                    struct lks_error *error)
{
    struct lks_counts counts;
    struct lks_sighting sighting;
    struct lks_buf buf;
    enum lks_status status;
    char *json;

    lks_prefetch_report(&consumer->prefetch, &counts, &sighting);
    lks_buf_init(&buf, STATS_SIZE_MAX);
    status = lks_buf_append_format(
        &buf, error,
        "{\"steps\": %" PRIu64 ", \"bytes\": %" PRIu64
        ", \"bytes_needed\": %" PRIu64 ", \"bytes_fetched\": %" PRIu64
        ", \"polls\": %" PRIu64 ", \"gets\": %" PRIu64 ", \"lists\": %" PRIu64
        ", \"wait_ms\": %" PRIu64 ", \"longest_wait_ms\": %" PRIu64 "}",
        counts.steps, counts.payload_size, counts.needed_size,
        counts.fetched_size + sighting.fetched_size, sighting.poll_count,
        counts.get_count + sighting.get_count, sighting.list_count,
        counts.wait_ns / LKS_NS_PER_MS, counts.longest_wait_ns / LKS_NS_PER_MS);
    if (status != LKS_OK)
        goto done;
    json = lks_buf_take_text(&buf);
    if (json == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    *out_json = json;

done:
    lks_buf_done(&buf);
    return status;
}
