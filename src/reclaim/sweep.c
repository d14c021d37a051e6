/*
 * Sweeping: pages, batches and the budget. What is garbage is judged elsewhere.
 *
 * A sweep may be killed at any point and done again by anyone, at the same time
 * too: it removes only what is garbage for ever. docs/protocol.md, "Garbage".
 */
#include "reclaim/sweep.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/trace.h"

/* Sends of one removal, which may be repeated at will. */
#define REMOVE_TRIES 5

enum lks_status lks_sweep_init(struct lks_sweep *sweep,
                               struct lks_log *log,
                               uint64_t first_live,
                               bool dry_run,
                               struct lks_error *error)
{
    assert(log->head != NULL);

    *sweep = (struct lks_sweep){
        .stream = log->stream,
        .log = log,
        .first_live = first_live,
        .dry_run = dry_run,
        .began_ns = lks_env_now_ns(log->stream->env),
    };
    /* One more: the last of the page before. */
    sweep->listed = lks_alloc_zero(LKS_LIST_MAX + 1, sizeof(*sweep->listed));
    sweep->keys = lks_alloc_zero(LKS_LIST_MAX, sizeof(*sweep->keys));
    sweep->uploads = lks_alloc_zero(LKS_UPLOADS_MAX, sizeof(*sweep->uploads));
    if (sweep->listed != NULL && sweep->keys != NULL && sweep->uploads != NULL)
        return LKS_OK;
    lks_sweep_done(sweep);
    return lks_error_no_memory(error);
}

void lks_sweep_done(struct lks_sweep *sweep)
{
    lks_free(sweep->listed);
    lks_free(sweep->keys);
    lks_free(sweep->uploads);
    sweep->listed = NULL;
    sweep->keys = NULL;
    sweep->uploads = NULL;
}

static void rest(const struct lks_sweep *sweep, uint64_t until_ns)
{
    const struct lks_env *env = sweep->stream->env;
    uint64_t now_ns = lks_env_now_ns(env);

    if (now_ns < until_ns)
        lks_env_sleep_unless(env, until_ns - now_ns, sweep->log->cancel);
}

void lks_sweep_pace(struct lks_sweep *sweep)
{
    uint64_t due_ns = sweep->began_ns;

    sweep->request_count++;
    if (sweep->request_count <= LKS_SWEEP_BURST)
        return;
    due_ns += (sweep->request_count - LKS_SWEEP_BURST) *
              (LKS_NS_PER_S / LKS_SWEEP_RATE);
    rest(sweep, due_ns);
}

/* Once, and what it took. */
static enum lks_status remove_once(struct lks_sweep *sweep,
                                   const char *const *keys,
                                   size_t key_count,
                                   struct lks_error *error)
{
    const struct lks_env *env = sweep->stream->env;
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;
    uint64_t rests = sweep->sent_removals < LKS_SWEEP_BEHIND
                         ? LKS_SWEEP_RESTS
                         : LKS_SWEEP_RESTS_BEHIND;
    uint64_t began_ns;
    uint64_t ended_ns;

    rest(sweep, sweep->rested_ns);
    lks_sweep_pace(sweep);
    call.cancel = sweep->log->cancel;
    began_ns = lks_env_now_ns(env);
    status =
        lks_store_remove(sweep->stream->store, keys, key_count, &call, error);
    ended_ns = lks_env_now_ns(env);
    sweep->rested_ns = ended_ns + rests * (ended_ns - began_ns);
    sweep->sent_removals += key_count;
    return status;
}

static enum lks_status remove_batch(struct lks_sweep *sweep,
                                    const char *const *keys,
                                    size_t key_count,
                                    struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    for (uint32_t i = 1; i <= REMOVE_TRIES; i++) {
        status = remove_once(sweep, keys, key_count, error);
        if ((status != LKS_UNSURE && status != LKS_UNAVAILABLE) ||
            lks_cancelled(sweep->log->cancel))
            break;
        lks_backoff_sleep(&lks_backoff_outage, i, sweep->stream->env,
                          sweep->log->cancel);
    }
    if (status == LKS_UNSURE)
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "remove %zu objects of %s: no answer; reclaim "
                               "again",
                               key_count, sweep->stream->store->url);
    if (status == LKS_OK)
        LKS_TRACE(LKS_AREA_RECLAIM, "removed %zu objects from %s on", key_count,
                  keys[0]);
    return status;
}

static enum lks_status remove_keys(struct lks_sweep *sweep,
                                   size_t key_count,
                                   struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    if (sweep->dry_run)
        return LKS_OK;
    for (size_t i = 0; i < key_count && status == LKS_OK;
         i += LKS_SWEEP_BATCH) {
        size_t count = key_count - i;

        status = remove_batch(sweep, sweep->keys + i,
                              count < LKS_SWEEP_BATCH ? count : LKS_SWEEP_BATCH,
                              error);
    }
    return status;
}

/* Judges a page and removes what may go. listed[0] is the name before it. */
static enum lks_status sweep_page(struct lks_sweep *sweep,
                                  const struct lks_sweep_plan *plan,
                                  size_t page_count,
                                  bool is_first,
                                  struct lks_error *error)
{
    struct lks_tally removed = {0};
    size_t key_count = 0;
    enum lks_status status = LKS_OK;

    if (plan->begin_page != NULL)
        status = plan->begin_page(sweep, error);
    if (status != LKS_OK)
        return status;
    for (size_t i = 1; i <= page_count; i++) {
        const struct lks_listed *listed = &sweep->listed[i];

        if (!plan->judge(sweep, listed, i == 1 && is_first ? NULL : listed - 1,
                         plan->arg))
            continue;
        sweep->keys[key_count++] = listed->key;
        lks_tally_add(&removed, listed);
    }
    status = remove_keys(sweep, key_count, error);
    if (status != LKS_OK)
        return status;
    sweep->removed[plan->kind].count += removed.count;
    sweep->removed[plan->kind].size += removed.size;
    return LKS_OK;
}

enum lks_status lks_sweep_check_running(const struct lks_sweep *sweep,
                                        struct lks_error *error)
{
    if (!lks_cancelled(sweep->log->cancel))
        return LKS_OK;
    return lks_error_set(error, LKS_CANCELLED, "reclaim of %s: cancelled",
                         sweep->stream->store->url);
}

enum lks_status lks_sweep_walk(struct lks_sweep *sweep,
                               const struct lks_sweep_plan *plan,
                               struct lks_error *error)
{
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    bool is_first = true;
    size_t page_count;

    do {
        struct lks_call call = LKS_CALL_INIT;
        enum lks_status status = lks_sweep_check_running(sweep, error);

        call.cancel = sweep->log->cancel;
        call.want_date = true;
        if (status == LKS_OK) {
            lks_sweep_pace(sweep);
            status = lks_store_list(sweep->stream->store, plan->prefix, after,
                                    LKS_LIST_MAX, sweep->listed + 1,
                                    &page_count, &call, error);
        }
        if (status != LKS_OK)
            return status;
        sweep->page_date_ms = call.date_ms;
        status = sweep_page(sweep, plan, page_count, is_first, error);
        if (status != LKS_OK)
            return status;
        if (page_count > 0) {
            sweep->listed[0] = sweep->listed[page_count];
            memcpy(after, sweep->listed[0].key, sizeof(after));
            is_first = false;
        }
    } while (page_count == LKS_LIST_MAX);
    return LKS_OK;
}

void lks_sweep_pass_over(struct lks_sweep *sweep,
                         const struct lks_listed *listed)
{
    if (sweep->unknown.count == 0)
        memcpy(sweep->such_as, listed->key, sizeof(sweep->such_as));
    lks_tally_add(&sweep->unknown, listed);
}

bool lks_sweep_judge_manifest(struct lks_sweep *sweep,
                              const struct lks_listed *listed,
                              const struct lks_listed *before,
                              void *arg)
{
    uint64_t version;

    (void)arg;
    if (!lks_manifest_name_parse(sweep->stream->descriptor.stream, listed->key,
                                 &version)) {
        lks_sweep_pass_over(sweep, listed);
        return false;
    }
    /* The newest comes first. By its successor's age, and not by its own: what
     * was sent long ago may have landed only now. */
    if (before == NULL)
        return false;
    if (sweep->page_date_ms != INT64_MIN &&
        sweep->page_date_ms - before->modified_ms > LKS_MANIFEST_AGE_MS)
        return true;
    lks_tally_add(&sweep->young, listed);
    return false;
}
