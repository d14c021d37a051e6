/*
 * The queue between a producer's three parts: the caller who appends, the pool
 * that uploads, the committer. All they share is in here, under one monitor.
 */
#include "producer/queue.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

enum lks_status lks_queue_init(struct lks_queue *queue,
                               const struct lks_env *env,
                               const struct lks_cancel *cancel,
                               uint64_t size_max,
                               struct lks_error *error)
{
    *queue = (struct lks_queue){
        .env = env,
        .cancel = cancel,
        .size_max = size_max,
        .locked.count_max = LKS_QUEUE_MAX,
    };
    return lks_monitor_new(env, &queue->monitor, error);
}

void lks_queue_done(struct lks_queue *queue)
{
    struct lks_tgb *tgb = queue->locked.first;

    while (tgb != NULL) {
        struct lks_tgb *next = tgb->next;

        lks_tgb_free(tgb);
        tgb = next;
    }
    queue->locked.first = NULL;
    lks_monitor_free(queue->env, queue->monitor);
    queue->monitor = NULL;
}

static void queue_enter(struct lks_queue *queue)
{
    lks_monitor_enter(queue->env, queue->monitor);
}

static void queue_leave(struct lks_queue *queue)
{
    lks_monitor_leave(queue->env, queue->monitor);
}

static void queue_wake_and_leave(struct lks_queue *queue)
{
    lks_monitor_wake(queue->env, queue->monitor);
    lks_monitor_leave(queue->env, queue->monitor);
}

void lks_queue_begin(struct lks_queue *queue,
                     uint64_t next_seq,
                     const void *offset,
                     size_t offset_size)
{
    assert(offset_size <= LKS_OFFSET_SIZE_MAX);

    queue->locked.next_seq = next_seq;
    if (offset_size > 0)
        memcpy(queue->locked.offset.data, offset, offset_size);
    queue->locked.offset.size = (uint32_t)offset_size;
}

/* What ends every wait, or LKS_OK. */
static enum lks_status stop_reason_locked(const struct lks_queue *queue,
                                          struct lks_error *error)
{
    if (queue->locked.error.status != LKS_OK)
        return lks_error_set(error, queue->locked.error.status, "%s",
                             queue->locked.error.message);
    if (lks_cancelled(queue->cancel))
        return lks_error_set(error, LKS_CANCELLED, "the producer is cancelled");
    return LKS_OK;
}

static bool has_room_locked(const struct lks_queue *queue, uint64_t size)
{
    return !queue->locked.held_back &&
           queue->locked.count < queue->locked.count_max &&
           queue->locked.held_size + size <= queue->size_max;
}

static void link_locked(struct lks_queue *queue, struct lks_tgb *tgb)
{
    tgb->seq = queue->locked.next_seq++;
    tgb->before = queue->locked.offset;
    queue->locked.offset = tgb->after;
    if (queue->locked.last == NULL)
        queue->locked.first = tgb;
    else
        queue->locked.last->next = tgb;
    queue->locked.last = tgb;
    queue->locked.count++;
    queue->locked.uploading++;
    queue->locked.held_size += tgb->held_size;
    queue->locked.stats.tgb_count++;
    for (uint32_t i = 0; i < tgb->slice_count; i++)
        queue->locked.stats.raw_size += tgb->slices[i].size;
}

enum lks_status lks_queue_check_size(uint64_t held_size,
                                     uint64_t size_max,
                                     struct lks_error *error)
{
    if (held_size <= size_max)
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "this TGB needs %" PRIu64 " bytes of memory, and "
                         "producer_bytes is %" PRIu64 ": raise it",
                         held_size, size_max);
}

enum lks_status lks_queue_push(struct lks_queue *queue,
                               struct lks_tgb *tgb,
                               struct lks_error *error)
{
    uint64_t began_ns = lks_env_now_ns(queue->env);
    enum lks_status status;

    status = lks_queue_check_size(tgb->held_size, queue->size_max, error);
    if (status != LKS_OK)
        return status;
    queue_enter(queue);
    status = stop_reason_locked(queue, error);
    while (status == LKS_OK && !has_room_locked(queue, tgb->held_size)) {
        lks_monitor_wait(queue->env, queue->monitor, LKS_FOREVER);
        status = stop_reason_locked(queue, error);
    }
    tgb->appended_ns = lks_env_now_ns(queue->env);
    queue->locked.stats.blocked_ns += tgb->appended_ns - began_ns;
    if (status == LKS_OK)
        link_locked(queue, tgb);
    queue_leave(queue);
    return status;
}

static void fail_locked(struct lks_queue *queue,
                        enum lks_status status,
                        const struct lks_error *error)
{
    if (queue->locked.error.status != LKS_OK)
        return;
    queue->locked.error = *error;
    queue->locked.error.status = status;
}

void lks_queue_stored(struct lks_tgb *tgb,
                      enum lks_status status,
                      const struct lks_error *error,
                      void *arg)
{
    struct lks_queue *queue = arg;

    queue_enter(queue);
    queue->locked.held_size -= tgb->held_size;
    queue->locked.uploading--;
    if (status == LKS_OK)
        tgb->stored = true;
    else
        fail_locked(queue, status, error);
    queue_wake_and_leave(queue);
}

bool lks_queue_wait_stored(struct lks_queue *queue)
{
    bool stored;

    queue_enter(queue);
    for (;;) {
        struct lks_tgb *first = queue->locked.first;

        stored = first != NULL && first->stored;
        if (queue->locked.closing ||
            stop_reason_locked(queue, NULL) != LKS_OK) {
            stored = false;
            break;
        }
        if (stored)
            break;
        lks_monitor_wait(queue->env, queue->monitor, LKS_FOREVER);
    }
    queue_leave(queue);
    return stored;
}

struct lks_tgb *lks_queue_next_stored(struct lks_queue *queue,
                                      const struct lks_tgb *tgb)
{
    struct lks_tgb *next;

    queue_enter(queue);
    next = tgb == NULL ? queue->locked.first : tgb->next;
    if (next != NULL && !next->stored)
        next = NULL;
    queue_leave(queue);
    return next;
}

/* Unlinks the TGBs below `next_seq` and returns their list. */
static struct lks_tgb *take_below_locked(struct lks_queue *queue,
                                         uint64_t next_seq)
{
    struct lks_tgb *taken = queue->locked.first;
    struct lks_tgb *end = NULL;
    uint64_t now_ns = lks_env_now_ns(queue->env);

    while (queue->locked.first != NULL && queue->locked.first->seq < next_seq) {
        end = queue->locked.first;
        assert(end->stored);
        lks_histogram_add(&queue->locked.stats.visible_us,
                          (now_ns - end->appended_ns) / 1000);
        queue->locked.count--;
        queue->locked.first = end->next;
    }
    if (queue->locked.first == NULL)
        queue->locked.last = NULL;
    if (end == NULL)
        return NULL;
    end->next = NULL;
    return taken;
}

void lks_queue_confirm(struct lks_queue *queue, uint64_t next_seq)
{
    struct lks_tgb *taken;

    queue_enter(queue);
    taken = take_below_locked(queue, next_seq);
    queue_wake_and_leave(queue);
    while (taken != NULL) {
        struct lks_tgb *next = taken->next;

        lks_tgb_free(taken);
        taken = next;
    }
}

void lks_queue_hold_back(struct lks_queue *queue, bool held_back)
{
    queue_enter(queue);
    queue->locked.held_back = held_back;
    queue_wake_and_leave(queue);
}

void lks_queue_set_room(struct lks_queue *queue, uint32_t count_max)
{
    assert(count_max > 0);
    assert(count_max <= LKS_QUEUE_MAX);

    queue_enter(queue);
    queue->locked.count_max = count_max;
    queue_wake_and_leave(queue);
}

void lks_queue_count_try(struct lks_queue *queue, enum lks_outcome outcome)
{
    queue_enter(queue);
    queue->locked.stats.try_count++;
    queue->locked.stats.won_count += outcome == LKS_OUTCOME_WON;
    queue->locked.stats.lost_count += outcome == LKS_OUTCOME_LOST;
    queue->locked.stats.throttled_count += outcome == LKS_OUTCOME_THROTTLED;
    queue_leave(queue);
}

void lks_queue_note_pacing(struct lks_queue *queue,
                           const struct lks_pacing *pacing,
                           uint64_t request_count)
{
    queue_enter(queue);
    queue->locked.stats.request_count = request_count;
    queue->locked.stats.gap_ns = pacing->gap_ns;
    queue->locked.stats.attempt_ns = (uint64_t)lks_pacing_attempt_ns(pacing);
    queue->locked.stats.look_ns = (uint64_t)pacing->get_ns;
    queue->locked.stats.active = pacing->view.active;
    queue_leave(queue);
}

static bool is_awaited_locked(const struct lks_queue *queue)
{
    return queue->locked.awaiting > 0 && queue->locked.uploading == 0;
}

bool lks_queue_is_awaited(struct lks_queue *queue)
{
    bool awaited;

    queue_enter(queue);
    awaited = is_awaited_locked(queue);
    queue_leave(queue);
    return awaited;
}

bool lks_queue_rest(struct lks_queue *queue, uint64_t duration_ns)
{
    uint64_t deadline_ns = lks_env_now_ns(queue->env) + duration_ns;
    bool rested = false;
    bool was_awaited;

    queue_enter(queue);
    was_awaited = is_awaited_locked(queue);
    while (!rested && !lks_cancelled(queue->cancel) &&
           (was_awaited || !is_awaited_locked(queue))) {
        if (!lks_monitor_wait(queue->env, queue->monitor, deadline_ns))
            rested = true;
    }
    queue_leave(queue);
    return rested;
}

void lks_queue_fail(struct lks_queue *queue,
                    enum lks_status status,
                    const struct lks_error *error)
{
    queue_enter(queue);
    fail_locked(queue, status, error);
    queue_wake_and_leave(queue);
}

static enum lks_status too_late_locked(const struct lks_queue *queue,
                                       struct lks_error *error)
{
    const char *reason = "the store is slow, or others commit first";

    if (queue->locked.held_back)
        reason = "the stream is at its limit: raise it with 'lakestream "
                 "limit', or let checkpoints move on";
    return lks_error_set(error, LKS_TIMEOUT,
                         "flush: %" PRIu32 " TGBs from seq %" PRIu64
                         " on are not committed yet; %s",
                         queue->locked.count, queue->locked.first->seq, reason);
}

enum lks_status lks_queue_wait_empty(struct lks_queue *queue,
                                     uint64_t deadline_ns,
                                     struct lks_error *error)
{
    enum lks_status status;

    queue_enter(queue);
    queue->locked.awaiting++;
    lks_monitor_wake(queue->env, queue->monitor);
    status = stop_reason_locked(queue, error);
    while (status == LKS_OK && queue->locked.first != NULL) {
        if (!lks_monitor_wait(queue->env, queue->monitor, deadline_ns) &&
            queue->locked.first != NULL) {
            status = too_late_locked(queue, error);
            break;
        }
        status = stop_reason_locked(queue, error);
    }
    queue->locked.awaiting--;
    queue_leave(queue);
    return status;
}

void lks_queue_close(struct lks_queue *queue)
{
    queue_enter(queue);
    queue->locked.closing = true;
    queue_wake_and_leave(queue);
}

uint64_t lks_queue_next_seq(struct lks_queue *queue)
{
    uint64_t next_seq;

    queue_enter(queue);
    next_seq = queue->locked.next_seq;
    queue_leave(queue);
    return next_seq;
}

void lks_queue_read_stats(struct lks_queue *queue,
                          struct lks_queue_stats *out_stats)
{
    queue_enter(queue);
    *out_stats = queue->locked.stats;
    queue_leave(queue);
}
