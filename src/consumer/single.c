/*
 * One slice of one step, read at once and without threads.
 */
#include <inttypes.h>

#include "consumer/consumer.h"

static enum lks_status read_slice(struct lks_follower *follower,
                                  struct lks_batch *batch,
                                  struct lks_error *error)
{
    struct lks_fetch_cost cost = {0};
    struct lks_entry entry;
    enum lks_status status;

    status = lks_lookup_entry(&follower->lookup, &follower->log, batch->step,
                              &entry, error);
    if (status != LKS_OK)
        return status;
    lks_source_set(&batch->first, &entry);
    lks_source_set(&batch->source, &entry);
    if (entry.table.kind == LKS_TABLE_FOOTER)
        status = lks_batch_read_table(batch, NULL, error);
    else
        status = lks_batch_lay_out(batch, &batch->source.entry.table, error);
    if (status != LKS_OK)
        return status;
    return lks_fetch_read(&batch->fetches[0], NULL, &cost, error);
}

enum lks_status lks_consumer_read_one(struct lks_stream *stream,
                                      uint64_t step,
                                      uint32_t rank,
                                      struct lks_batch **out_batch,
                                      struct lks_error *error)
{
    const struct lks_descriptor *descriptor = &stream->descriptor;
    struct lks_batch *batch = NULL;
    struct lks_follower follower;
    struct lks_share share;
    enum lks_status status;

    status = lks_share_find(descriptor->dp, descriptor->cp, rank, 0, 0, &share,
                            error);
    if (status != LKS_OK)
        return status;
    lks_follower_init(&follower, stream, NULL);
    status = lks_follower_look(&follower, error);
    if (status == LKS_OK)
        status = lks_follower_find(&follower, step, 1, error);
    if (status == LKS_TIMEOUT || status == LKS_ENDED)
        status =
            lks_error_set(error, LKS_NOT_FOUND,
                          "%.160s has no step %" PRIu64 ": the next one will "
                          "be step %" PRIu64,
                          stream->store->url, step,
                          lks_manifest_next_step(follower.log.head));
    if (status != LKS_OK)
        goto done;
    status = lks_batch_new(stream, NULL, &share, step, &batch, error);
    if (status == LKS_OK)
        status = read_slice(&follower, batch, error);
    if (status == LKS_OK)
        *out_batch = batch;

done:
    if (status != LKS_OK)
        lks_batch_free(batch);
    lks_follower_done(&follower);
    return status;
}
