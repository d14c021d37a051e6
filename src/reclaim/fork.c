/*
 * Forking: a new stream that continues at a step, with the producers where they
 * were then. It shares no object with its parent, so neither holds the other.
 *
 * The producers are in the fork's first manifest, which is there before the
 * stream is: nobody can ever open the fork without them. docs/protocol.md,
 * "Forks".
 */
#include <inttypes.h>
#include <string.h>

#include "base/backoff.h"
#include "manifest/lookup.h"
#include "reclaim/change_log.h"
#include "reclaim/positions.h"
#include "reclaim/reclaim.h"

#define SEED_TRIES 10

static enum lks_status check_step(const struct lks_stream *stream,
                                  const struct lks_manifest *head,
                                  uint64_t step,
                                  struct lks_error *error)
{
    uint64_t first = lks_manifest_first_live_step(head);
    uint64_t next = lks_manifest_next_step(head);
    enum lks_status status = lks_change_check(head, error);

    if (status != LKS_OK)
        return status;
    if (step < first)
        return lks_lookup_reclaimed(stream, step, first, error);
    if (step > next)
        return lks_error_set(error, LKS_INVALID,
                             "step %" PRIu64 " of %.160s is not there yet: the "
                             "next step is %" PRIu64,
                             step, stream->store->url, next);
    return LKS_OK;
}

/* ------------------------------------------------------- first manifest -- */

static enum lks_status put_position(struct lks_manifest *manifest,
                                    const struct lks_position *position,
                                    const struct lks_env *env,
                                    struct lks_error *error)
{
    struct lks_producer_record record = {
        .id = position->id,
        .epoch = position->epoch + 1,
        .host = "",
        .next_seq = position->next_seq,
        .offset = position->offset,
        .offset_size = position->offset_size,
        .version = lks_manifest_version(manifest),
    };

    /* One that had appended nothing by then may as well come later. */
    if (position->next_seq == 0 && position->offset_size == 0)
        return LKS_OK;
    /* Nobody's: whoever opens it draws its own. */
    lks_env_random(env, record.owner, LKS_ID_SIZE);
    return lks_manifest_put_producer(manifest, &record, error);
}

static enum lks_status encode_first(const struct lks_descriptor *descriptor,
                                    const struct lks_positions *positions,
                                    const struct lks_env *env,
                                    struct lks_buf *buf,
                                    struct lks_error *error)
{
    struct lks_manifest *manifest = NULL;
    enum lks_status status;

    status = lks_manifest_genesis(descriptor, &manifest, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_advance(manifest);
    for (uint32_t i = 0; i < positions->count && status == LKS_OK; i++)
        status = put_position(manifest, &positions->items[i], env, error);
    if (status == LKS_OK)
        status = lks_manifest_encode(manifest, buf, error);
    lks_manifest_free(manifest);
    return status;
}

static enum lks_status seed(struct lks_store *store,
                            const struct lks_descriptor *descriptor,
                            void *arg,
                            struct lks_error *error)
{
    struct lks_buf buf;
    struct lks_part part;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    lks_manifest_name(descriptor->stream, 1, name);
    status = encode_first(descriptor, arg, store->env, &buf, error);
    if (status != LKS_OK)
        goto done;
    part = (struct lks_part){buf.data, buf.size};
    status = LKS_UNSURE;
    /* Nobody else knows the stream's id, so what is there is this. */
    for (uint32_t i = 0; i < SEED_TRIES && status == LKS_UNSURE; i++) {
        struct lks_call call = LKS_CALL_INIT;

        if (i > 0)
            lks_backoff_sleep(&lks_backoff_outage, i, store->env, NULL);
        status = lks_store_create(store, name, &part, 1, &call, error);
    }
    if (status == LKS_EXISTS)
        status = LKS_OK;
    if (status == LKS_UNSURE)
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "create %s/%s: no answer, %d times", store->url,
                               name, SEED_TRIES);

done:
    lks_buf_done(&buf);
    return status;
}

enum lks_status lks_fork(struct lks_stream *stream,
                         uint64_t step,
                         struct lks_store *store,
                         struct lks_stream **out_fork,
                         struct lks_error *error)
{
    struct lks_descriptor descriptor = {.format = 0};
    struct lks_positions positions;
    struct lks_log log;
    enum lks_status status;

    lks_positions_init(&positions);
    lks_log_init(&log, stream, LKS_LOG_WHOLE, NULL);
    status = lks_log_look(&log, error);
    if (status == LKS_OK)
        status = check_step(stream, log.head, step, error);
    if (status == LKS_OK)
        status = lks_positions_find(&positions, &log, step, error);
    if (status == LKS_OK)
        status = lks_descriptor_fork(&stream->descriptor, stream->store->url,
                                     step, &descriptor, error);
    if (status != LKS_OK) {
        lks_store_close(store);
        goto done;
    }
    descriptor.max_live_steps = lks_manifest_max_live_steps(log.head);
    descriptor.max_live_bytes = lks_manifest_max_live_bytes(log.head);
    status = lks_stream_make_seeded(store, &descriptor, seed, &positions,
                                    out_fork, error);

done:
    lks_descriptor_done(&descriptor);
    lks_positions_done(&positions);
    lks_log_done(&log);
    return status;
}
