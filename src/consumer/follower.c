/*
 * The follower: strides over the log's versions, and reading its head for one
 * training step. Whether a name may be trusted is the log's business.
 */
#include "consumer/follower.h"

#include <assert.h>
#include <inttypes.h>

#define STRIDE_MAX UINT64_C(4096)
#define PATIENCE_MAX 32u

void lks_follower_init(struct lks_follower *follower,
                       struct lks_stream *stream,
                       const struct lks_cancel *cancel)
{
    *follower = (struct lks_follower){.stride = 1, .patience = 1};
    lks_log_init(&follower->log, stream, LKS_LOG_HEAD, cancel);
    lks_lookup_init(&follower->lookup, stream, cancel);
}

void lks_follower_done(struct lks_follower *follower)
{
    lks_lookup_done(&follower->lookup);
    lks_log_done(&follower->log);
}

static void note_answer(struct lks_follower *follower, bool advanced)
{
    follower->looked_ns = lks_env_now_ns(follower->log.stream->env);
    if (!advanced)
        return;
    follower->changed_ns = follower->looked_ns;
    follower->manifest_size += follower->log.head_size < LKS_MANIFEST_GUESS
                                   ? follower->log.head_size
                                   : LKS_MANIFEST_GUESS;
}

enum lks_status lks_follower_look(struct lks_follower *follower,
                                  struct lks_error *error)
{
    enum lks_status status = lks_log_look(&follower->log, error);

    if (status != LKS_OK)
        return status;
    note_answer(follower, true);
    follower->caught_up = true;
    return LKS_OK;
}

/* The next stride after one that hit or missed. */
static void choose_stride(struct lks_follower *follower, bool hit)
{
    if (!hit) {
        /* One longer than 1 was in vain: think twice before the next. */
        if (!follower->falling && follower->stride > 1 &&
            follower->patience < PATIENCE_MAX)
            follower->patience *= 2;
        follower->falling = true;
    }
    if (follower->falling) {
        follower->hits = 0;
        follower->falling = follower->stride > 1;
        if (follower->falling)
            follower->stride /= 2;
        return;
    }
    if (follower->stride > 1)
        follower->patience = 1;
    follower->hits++;
    if (follower->hits < follower->patience || follower->stride >= STRIDE_MAX)
        return;
    follower->hits = 0;
    follower->stride *= 2;
}

enum lks_status lks_follower_probe(struct lks_follower *follower,
                                   struct lks_error *error)
{
    bool advanced;
    enum lks_status status =
        lks_log_probe(&follower->log, follower->stride, &advanced, error);

    follower->poll_count++;
    if (status != LKS_OK)
        return status;
    note_answer(follower, advanced);
    follower->caught_up = !advanced && follower->stride == 1;
    choose_stride(follower, advanced);
    return LKS_OK;
}

static enum lks_status explain_end(const struct lks_follower *follower,
                                   uint64_t step,
                                   uint64_t next_step,
                                   struct lks_error *error)
{
    const char *url = follower->log.stream->store->url;

    if (next_step <= step)
        return lks_error_set(error, LKS_ENDED, "%.160s ended at step %" PRIu64,
                             url, next_step);
    if (next_step - step == 1)
        return lks_error_set(error, LKS_ENDED,
                             "%.160s ended at step %" PRIu64 ": step %" PRIu64
                             " is left over, too few for a training step",
                             url, next_step, step);
    return lks_error_set(error, LKS_ENDED,
                         "%.160s ended at step %" PRIu64 ": steps %" PRIu64
                         " to %" PRIu64
                         " are left over, too few for a training step",
                         url, next_step, step, next_step - 1);
}

enum lks_status lks_follower_find(const struct lks_follower *follower,
                                  uint64_t step,
                                  uint32_t group,
                                  struct lks_error *error)
{
    const struct lks_manifest *head = follower->log.head;
    const char *url = follower->log.stream->store->url;
    uint64_t next_step;
    uint64_t first_live_step;

    if (head == NULL)
        return LKS_TIMEOUT;
    next_step = lks_manifest_next_step(head);
    first_live_step = lks_manifest_first_live_step(head);

    if (lks_manifest_dropped(head))
        return lks_error_set(error, LKS_NOT_FOUND, "%.160s was dropped", url);
    if (step < first_live_step)
        return lks_lookup_reclaimed(follower->log.stream, step, first_live_step,
                                    error);
    if (next_step >= group && next_step - group >= step)
        return LKS_OK;
    if (lks_manifest_ended(head))
        return explain_end(follower, step, next_step, error);
    return LKS_TIMEOUT;
}

void lks_follower_report(const struct lks_follower *follower,
                         struct lks_sighting *out_sighting)
{
    const struct lks_manifest *head = follower->log.head;

    *out_sighting = (struct lks_sighting){
        .looked_ns = follower->looked_ns,
        .changed_ns = follower->changed_ns,
        .poll_count = follower->poll_count,
        .get_count = follower->log.get_count + follower->lookup.get_count,
        .list_count = follower->log.list_count,
        .fetched_size = follower->manifest_size + follower->lookup.fetched_size,
    };
    if (head == NULL)
        return;
    out_sighting->version = lks_manifest_version(head);
    out_sighting->next_step = lks_manifest_next_step(head);
    out_sighting->claimed = lks_manifest_claimed(head);
    out_sighting->max_live_steps = lks_manifest_max_live_steps(head);
    out_sighting->max_live_bytes = lks_manifest_max_live_bytes(head);
    out_sighting->full = lks_manifest_is_full(head);
}

uint64_t lks_poll_pause_ns(uint64_t poll_ms, uint32_t ranks, uint64_t waited_ns)
{
    uint64_t pause_ns = poll_ms * LKS_NS_PER_MS;
    uint64_t share_ns = ranks * (LKS_NS_PER_S / LKS_POLLS_MAX);
    uint64_t part_ns = waited_ns / LKS_POLL_PART;

    if (part_ns > LKS_POLL_PAUSE_MAX_MS * LKS_NS_PER_MS)
        part_ns = LKS_POLL_PAUSE_MAX_MS * LKS_NS_PER_MS;
    if (pause_ns < share_ns)
        pause_ns = share_ns;
    return pause_ns < part_ns ? part_ns : pause_ns;
}
