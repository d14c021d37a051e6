/*
 * Putting a producer together and taking it apart.
 */
#include "producer/producer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/trace.h"

/* The committing thread: as long as there is something stored, commit it. */
static void commit_all(void *arg)
{
    struct lks_producer *producer = arg;

    while (lks_queue_wait_stored(&producer->queue)) {
        struct lks_error error = {.status = LKS_OK};
        enum lks_status status = lks_commit(&producer->committer, &error);

        if (status != LKS_OK) {
            LKS_TRACE(LKS_AREA_PRODUCER, "%s stops: %s", producer->identity.id,
                      error.message);
            lks_queue_fail(&producer->queue, status, &error);
        }
    }
}

static void read_options(struct lks_producer *producer,
                         const struct lks_options *options)
{
    uint64_t outage_ms =
        lks_options_number(options, LKS_OPTION_OUTAGE_TIMEOUT_MS);
    struct lks_pacing_options pacing;

    producer->flush_timeout_ms =
        lks_options_number(options, LKS_OPTION_FLUSH_TIMEOUT_MS);
    producer->writer.codec =
        (enum lks_codec)lks_options_number(options, LKS_OPTION_CODEC);
    producer->writer.codec_level =
        (int)lks_options_number(options, LKS_OPTION_CODEC_LEVEL);
    producer->writer.outage_timeout_ms = outage_ms;
    producer->committer.outage_timeout_ms = outage_ms;
    pacing.gap_ns =
        lks_options_number(options, LKS_OPTION_COMMIT_GAP_MS) * LKS_NS_PER_MS;
    pacing.freshness_ns =
        lks_options_number(options, LKS_OPTION_FRESHNESS_MS) * LKS_NS_PER_MS;
    pacing.overhead_budget =
        (double)lks_options_number(options, LKS_OPTION_COMMIT_PERCENT) / 1e2;
    pacing.conflict_budget =
        (double)lks_options_number(options, LKS_OPTION_LOST_PERCENT) / 1e2;
    pacing.kind =
        (enum lks_pacing_kind)lks_options_number(options, LKS_OPTION_PACING);
    producer->committer.takes_turns = pacing.kind == LKS_PACING_TURNS;
    producer->identity.takes_turns = producer->committer.takes_turns;
    lks_pacing_init(&producer->committer.pacing, &pacing);
}

/* The parts that only point to each other; nothing here can fail. */
static void wire(struct lks_producer *producer, struct lks_stream *stream)
{
    struct lks_committer *committer = &producer->committer;

    producer->stream = stream;
    lks_cancel_init(&producer->cancel);
    producer->writer.stream = stream;
    producer->writer.producer = producer->identity.id;
    producer->writer.owner = producer->identity.owner;
    producer->writer.cancel = &producer->cancel;
    committer->stream = stream;
    committer->identity = &producer->identity;
    committer->queue = &producer->queue;
    committer->cancel = &producer->cancel;
    lks_log_init(&committer->log, stream, LKS_LOG_WHOLE, &producer->cancel);
    lks_attempt_init(&committer->attempt);
}

/* Where this incarnation begins: what the manifest that made it the owner says
 * of the id. */
static enum lks_status take_over(struct lks_producer *producer,
                                 struct lks_error *error)
{
    struct lks_producer_record record;
    enum lks_status status;

    status = lks_ownership_take(&producer->committer.log, &producer->identity,
                                lks_env_deadline_ms(producer->stream->env,
                                                    producer->flush_timeout_ms),
                                error);
    if (status == LKS_OK)
        status = lks_ownership_check(producer->committer.log.head,
                                     &producer->identity, &record, error);
    if (status != LKS_OK)
        return status;
    producer->writer.epoch = producer->identity.epoch;
    if (record.offset_size > 0)
        memcpy(producer->offset.data, record.offset, record.offset_size);
    producer->offset.size = (uint32_t)record.offset_size;
    lks_queue_begin(&producer->queue, record.next_seq, record.offset,
                    record.offset_size);
    lks_queue_set_room(&producer->queue,
                       lks_limit_room(producer->committer.log.head,
                                      LKS_QUEUE_MAX));
    return LKS_OK;
}

enum lks_status lks_producer_start(struct lks_stream *stream,
                                   const char *id,
                                   const struct lks_options *options,
                                   struct lks_producer **out_producer,
                                   struct lks_error *error)
{
    struct lks_producer *producer = lks_alloc_zero(1, sizeof(*producer));
    enum lks_status status;

    if (producer == NULL)
        return lks_error_no_memory(error);
    memcpy(producer->identity.id, id, strlen(id) + 1);
    read_options(producer, options);
    wire(producer, stream);
    status =
        lks_queue_init(&producer->queue, stream->env, &producer->cancel,
                       lks_options_number(options, LKS_OPTION_PRODUCER_BYTES),
                       error);
    if (status == LKS_OK)
        status = take_over(producer, error);
    if (status == LKS_OK)
        status = lks_pool_new(stream->env, "lks-upload",
                              (uint32_t)lks_options_number(options,
                                                           LKS_OPTION_UPLOADS),
                              &producer->uploads, error);
    if (status == LKS_OK)
        status = lks_thread_start(stream->env, "lks-commit", commit_all,
                                  producer, &producer->thread, error);
    if (status != LKS_OK) {
        lks_producer_stop(producer);
        return status;
    }
    *out_producer = producer;
    return LKS_OK;
}

/* The committer ends after the commit that it is at. */
static void join_committer(struct lks_producer *producer)
{
    lks_queue_close(&producer->queue);
    lks_thread_join(producer->stream->env, producer->thread);
    producer->thread = NULL;
}

void lks_producer_stop(struct lks_producer *producer)
{
    lks_cancel_set(&producer->cancel);
    if (producer->queue.monitor != NULL) {
        join_committer(producer);
        lks_pool_free(producer->uploads);
        lks_queue_done(&producer->queue);
    }
    lks_attempt_done(&producer->committer.attempt);
    lks_log_done(&producer->committer.log);
    lks_free(producer);
}

enum lks_status lks_producer_add(struct lks_producer *producer,
                                 struct lks_tgb *tgb,
                                 struct lks_error *error)
{
    lks_release_fn *release = tgb->release;
    enum lks_status status;

    tgb->release = NULL;
    tgb->done = lks_queue_stored;
    tgb->done_arg = &producer->queue;
    status = lks_queue_push(&producer->queue, tgb, error);
    if (status != LKS_OK) {
        lks_tgb_free(tgb);
        return status;
    }
    tgb->release = release;
    lks_pool_submit(producer->uploads, &tgb->job);
    return LKS_OK;
}

enum lks_status lks_producer_complete(struct lks_producer *producer,
                                      struct lks_error *error)
{
    uint64_t deadline_ns =
        lks_env_deadline_ms(producer->stream->env, producer->flush_timeout_ms);
    enum lks_status status;

    status = lks_queue_wait_empty(&producer->queue, deadline_ns, error);
    if (status != LKS_OK)
        return status;
    join_committer(producer);
    status = lks_ownership_finish(&producer->committer.log, &producer->identity,
                                  deadline_ns, error);
    if (status == LKS_OK)
        producer->finished = true;
    return status;
}
