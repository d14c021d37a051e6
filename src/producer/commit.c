/*
 * Committing: the one place where a producer moves the stream's history on.
 *
 * A manifest is an immutable object named by its version, and the store lets
 * one writer create it. Being that writer proves less than it seems: the answer
 * to a PUT can be lost, and reclaim deletes old manifests, so a producer that
 * slept can create a name that was used up long ago. So creating is only a try.
 * The newest manifest decides: a batch is committed once its producer's epoch,
 * owner and a next_seq beyond it are found there, and not before. The look
 * after a try is the look before the next one. When to look, and when to try,
 * is for pacing to say.
 *
 * docs/protocol.md, "Commit", argues why this is enough.
 */
#include "producer/commit.h"

#include <assert.h>
#include <inttypes.h>

#include "base/backoff.h"
#include "base/trace.h"
#include "manifest/seal.h"

#define LIMIT_PAUSE_MS 200

/* Until the next look at a limit: 0.5 to 1.5 times the pause. */
static void nap_at_limit(const struct lks_committer *committer)
{
    const struct lks_env *env = committer->stream->env;
    double duration_ns = (0.5 + lks_env_random_unit(env)) *
                         (double)(LIMIT_PAUSE_MS * LKS_NS_PER_MS);

    lks_env_sleep_unless(env, (uint64_t)duration_ns, committer->cancel);
}

/* A store that answers looks may still refuse every try, so looks do not end
 * an outage of tries. */
static void end_outage(struct lks_committer *committer, enum lks_act act)
{
    if (act == LKS_ACT_TRY || committer->outage_act == LKS_ACT_LOOK)
        committer->outage_failures = 0;
}

/* Whether to go on after `status`: an outage is waited for, within limits. */
static bool is_passing(struct lks_committer *committer,
                       enum lks_act act,
                       enum lks_status status)
{
    const struct lks_env *env = committer->stream->env;
    uint64_t now_ns = lks_env_now_ns(env);

    if (status != LKS_UNAVAILABLE)
        return false;
    if (committer->outage_failures == 0) {
        committer->outage_since_ns = now_ns;
        committer->outage_act = act;
    }
    if (now_ns - committer->outage_since_ns >
        committer->outage_timeout_ms * LKS_NS_PER_MS)
        return false;
    committer->outage_failures++;
    lks_backoff_sleep(&lks_backoff_outage, committer->outage_failures, env,
                      committer->cancel);
    return true;
}

/* Tells pacing what became of the last try, now that the manifest tells. */
static void settle_attempt(struct lks_committer *committer, uint64_t next_seq)
{
    const struct lks_env *env = committer->stream->env;
    const struct lks_log *log = &committer->log;
    enum lks_outcome outcome = LKS_OUTCOME_LOST;

    if (!committer->attempt_sent)
        return;
    if (next_seq >= committer->attempt_end_seq)
        outcome = LKS_OUTCOME_WON;
    else if (committer->attempt_throttled)
        outcome = LKS_OUTCOME_THROTTLED;
    else if (lks_attempt_is_open(&committer->attempt, log))
        outcome = LKS_OUTCOME_OPEN;
    committer->attempt_sent = false;
    lks_pacing_settled(&committer->pacing, outcome, lks_env_now_ns(env),
                       lks_env_random_unit(env));
    lks_queue_count_try(committer->queue, outcome);
    lks_queue_note_pacing(committer->queue, &committer->pacing,
                          log->get_count + log->list_count + log->create_count);
}

/* What the newest manifest known says to pacing. */
static void read_view(struct lks_committer *committer,
                      struct lks_pacing_view *out_view)
{
    const struct lks_manifest *head = committer->log.head;
    uint32_t count = lks_manifest_producer_count(head);
    struct lks_ring ring = {.places = committer->places};
    uint32_t me = 0;

    lks_manifest_find_place(head, committer->identity->id, &me);
    lks_manifest_read_ring(head, &ring);
    out_view->version = lks_manifest_version(head);
    out_view->active = lks_manifest_active_count(head, 4 * (uint64_t)count);
    lks_ring_turn(&ring, out_view->version, me, &out_view->turn);
}

/* The look: what the newest manifest known says of this producer's batches. */
static enum lks_status look(struct lks_committer *committer,
                            uint64_t stride,
                            struct lks_error *error)
{
    const struct lks_env *env = committer->stream->env;
    uint64_t list_count = committer->log.list_count;
    struct lks_pacing_look seen = {.stride = stride};
    struct lks_pacing_view view;
    struct lks_producer_record record;
    enum lks_status status;

    seen.sent_ns = lks_env_now_ns(env);
    status = lks_log_probe(&committer->log, stride, &seen.advanced, error);
    if (status == LKS_OK)
        status = lks_ownership_check(committer->log.head, committer->identity,
                                     &record, error);
    if (status != LKS_OK)
        return status;
    seen.replied_ns = lks_env_now_ns(env);
    seen.newest = committer->log.list_count > list_count;
    read_view(committer, &view);
    lks_pacing_saw(&committer->pacing, &seen, &view);
    settle_attempt(committer, record.next_seq);
    /* The room that is left first: what is confirmed makes room for more. */
    lks_queue_set_room(committer->queue,
                       lks_limit_room(committer->log.head, LKS_QUEUE_MAX));
    lks_queue_confirm(committer->queue, record.next_seq);
    return LKS_OK;
}

/* Whether the stream's limits hold appends back. What was sent for this head
 * may be sent again: it may be in. */
static bool is_held_back(struct lks_committer *committer)
{
    bool full = lks_manifest_is_full(committer->log.head);

    lks_queue_hold_back(committer->queue, full);
    if (full)
        lks_limit_held(&committer->limit, &committer->log,
                       committer->identity->id);
    else
        lks_limit_passed(&committer->limit, &committer->log,
                         committer->identity->id);
    return full && !lks_attempt_is_open(&committer->attempt, &committer->log);
}

/*
 * The longest run of stored TGBs, in order of seq, up to the end of the block
 * and to the limit; the offset stored is the last one's.
 */
static enum lks_status append_run(struct lks_committer *committer,
                                  struct lks_manifest *next,
                                  struct lks_error *error)
{
    struct lks_tgb *tgb = lks_queue_next_stored(committer->queue, NULL);

    assert(tgb != NULL);

    while (tgb != NULL && !lks_manifest_tail_is_full(next) &&
           !lks_manifest_is_full(next)) {
        struct lks_entry entry;
        enum lks_status status;

        lks_tgb_entry(tgb, &entry);
        status = lks_manifest_append(next, &entry, tgb->after.data,
                                     tgb->after.size, error);
        if (status != LKS_OK)
            return status;
        committer->attempt_end_seq = tgb->seq + 1;
        tgb = lks_queue_next_stored(committer->queue, tgb);
    }
    return LKS_OK;
}

/* The turn moves on with the commit. A place in the ring that does not fit into
 * the map is done without. */
static enum lks_status move_ring(struct lks_committer *committer,
                                 struct lks_manifest *next,
                                 struct lks_error *error)
{
    struct lks_ring ring = {.places = committer->places};
    double attempt_ns = lks_pacing_attempt_ns(&committer->pacing);
    enum lks_status status;
    uint32_t me = 0;

    if (!committer->takes_turns)
        return LKS_OK;
    lks_manifest_find_place(next, committer->identity->id, &me);
    lks_manifest_read_ring(next, &ring);
    lks_ring_commit(&ring, lks_manifest_version(next) - 1, me, attempt_ns);
    status = lks_manifest_write_ring(next, &ring, error);
    return status == LKS_INVALID ? LKS_OK : status;
}

/* Makes the attempt for this head, unless one for it is out already. */
static enum lks_status prepare(struct lks_committer *committer,
                               struct lks_error *error)
{
    struct lks_manifest *next = NULL;
    enum lks_status status;

    if (lks_attempt_is_open(&committer->attempt, &committer->log))
        return LKS_OK;
    status = lks_log_next(&committer->log, &next, error);
    if (status != LKS_OK)
        return status;
    status = append_run(committer, next, error);
    if (status == LKS_OK)
        status = move_ring(committer, next, error);
    if (status == LKS_OK)
        status = lks_attempt_set(&committer->attempt, next, error);
    lks_manifest_free(next);
    return status;
}

/* One try. Won, lost or unsure: the next look tells. */
static enum lks_status try_once(struct lks_committer *committer,
                                struct lks_error *error)
{
    const struct lks_env *env = committer->stream->env;
    enum lks_status status = prepare(committer, error);
    uint64_t sent_ns = lks_env_now_ns(env);

    if (status != LKS_OK)
        return status;
    status = lks_log_create(&committer->log, &committer->attempt,
                            &committer->attempt_throttled, error);
    if (status != LKS_OK && status != LKS_EXISTS && status != LKS_UNSURE)
        return status;
    lks_pacing_tried(&committer->pacing, sent_ns, lks_env_now_ns(env));
    committer->attempt_sent = true;
    return LKS_OK;
}

static enum lks_status check_open(const struct lks_manifest *head,
                                  struct lks_error *error)
{
    if (!lks_manifest_ended(head))
        return LKS_OK;
    return lks_error_set(error, LKS_ENDED,
                         "the stream has ended at step %" PRIu64
                         ": what was appended since is not part of it; a new "
                         "stream needs another prefix",
                         lks_manifest_next_step(head));
}

/* Whoever fills a block seals it, so that the next committer need not. If the
 * store fails us here, that one does. */
static enum lks_status seal_if_filled(struct lks_committer *committer,
                                      struct lks_error *error)
{
    const struct lks_manifest *head = committer->log.head;
    enum lks_status status;

    if (lks_manifest_version(head) != committer->attempt.version ||
        !lks_manifest_tail_is_full(head))
        return LKS_OK;
    status = lks_seal(committer->stream, head, committer->cancel, error);
    return status == LKS_UNAVAILABLE ? LKS_OK : status;
}

/* What to do next, once its time has come. False if it did not: somebody waits
 * now, or wants to stop. */
static bool await_step(struct lks_committer *committer,
                       struct lks_step *out_step)
{
    const struct lks_env *env = committer->stream->env;

    lks_pacing_hurry(&committer->pacing,
                     lks_queue_is_awaited(committer->queue));
    lks_pacing_next(&committer->pacing, lks_env_now_ns(env),
                    lks_env_random_unit(env), out_step);
    return out_step->wait_ns == 0 ||
           lks_queue_rest(committer->queue, out_step->wait_ns);
}

static enum lks_status check_running(const struct lks_committer *committer,
                                     struct lks_error *error)
{
    if (!lks_cancelled(committer->cancel))
        return LKS_OK;
    return lks_error_set(error, LKS_CANCELLED, "the producer is cancelled");
}

static enum lks_status take_step(struct lks_committer *committer,
                                 const struct lks_step *step,
                                 struct lks_error *error)
{
    enum lks_status status;

    if (step->act == LKS_ACT_LOOK)
        return look(committer, step->stride, error);
    status = check_open(committer->log.head, error);
    if (status != LKS_OK)
        return status;
    if (!is_held_back(committer))
        return try_once(committer, error);
    nap_at_limit(committer);
    status = lks_limit_look(&committer->limit, &committer->log, error);
    if (status != LKS_OK)
        return status;
    return look(committer, 1, error);
}

enum lks_status lks_commit(struct lks_committer *committer,
                           struct lks_error *error)
{
    struct lks_tgb *first = lks_queue_next_stored(committer->queue, NULL);
    uint64_t wanted_seq;

    assert(first != NULL);
    wanted_seq = first->seq;

    for (;;) {
        enum lks_status status = check_running(committer, error);
        struct lks_step step = {.act = LKS_ACT_LOOK};

        if (status == LKS_OK && !await_step(committer, &step))
            continue;
        if (status == LKS_OK)
            status = take_step(committer, &step, error);
        if (status == LKS_OK) {
            end_outage(committer, step.act);
            first = lks_queue_next_stored(committer->queue, NULL);
            if (first == NULL || first->seq > wanted_seq)
                return seal_if_filled(committer, error);
        } else if (!is_passing(committer, step.act, status)) {
            return status;
        }
    }
}
