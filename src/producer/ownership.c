/*
 * Owning a producer id.
 *
 * An epoch alone does not tell two openers apart whose answers were lost: both
 * would believe in the same one. So each draws an owner of 128 random bits, and
 * only the newest manifest, showing epoch and owner, makes it the one.
 * docs/protocol.md, "Ownership".
 */
#include "producer/ownership.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "manifest/change.h"

static bool same_owner(const struct lks_producer_record *record,
                       const struct lks_identity *identity)
{
    return memcmp(record->owner, identity->owner, LKS_ID_SIZE) == 0;
}

enum lks_status lks_ownership_check(const struct lks_manifest *head,
                                    const struct lks_identity *identity,
                                    struct lks_producer_record *out_record,
                                    struct lks_error *error)
{
    struct lks_producer_record record;

    if (!lks_manifest_find_producer(head, identity->id, &record))
        return lks_error_set(error, LKS_CORRUPT,
                             "producer %s is gone from manifest version "
                             "%" PRIu64,
                             identity->id, lks_manifest_version(head));
    if (record.epoch != identity->epoch || !same_owner(&record, identity))
        return lks_error_set(error, LKS_FENCED,
                             "producer %s is fenced: epoch %" PRIu64
                             " belongs to host %s, pid %" PRId64
                             "%s (this one had epoch %" PRIu64 ")",
                             identity->id, record.epoch, record.host,
                             record.pid,
                             record.finished ? ", who evicted or finished it"
                                             : "",
                             identity->epoch);
    *out_record = record;
    return LKS_OK;
}

static enum lks_status judge_take(const struct lks_manifest *head,
                                  void *arg,
                                  bool *out_done,
                                  struct lks_error *error)
{
    const struct lks_identity *identity = arg;
    struct lks_producer_record record;

    if (lks_manifest_dropped(head))
        return lks_error_set(error, LKS_ENDED, "the stream was dropped");
    *out_done = false;
    if (lks_manifest_find_producer(head, identity->id, &record))
        *out_done = same_owner(&record, identity);
    else if (lks_manifest_ended(head))
        return lks_error_set(error, LKS_ENDED,
                             "the stream has ended at step %" PRIu64
                             ", without a producer %s; a new stream needs "
                             "another prefix",
                             lks_manifest_next_step(head), identity->id);
    return LKS_OK;
}

/* The record keeps its offset, its next_seq and whether it is finished. */
static enum lks_status apply_take(struct lks_manifest *next,
                                  void *arg,
                                  struct lks_error *error)
{
    struct lks_identity *identity = arg;
    struct lks_producer_record record = {.epoch = 0};
    enum lks_status status;

    lks_manifest_find_producer(next, identity->id, &record);
    record.id = identity->id;
    record.epoch++;
    memcpy(record.owner, identity->owner, LKS_ID_SIZE);
    record.host = identity->host;
    record.pid = identity->pid;
    record.version = lks_manifest_version(next);
    status = lks_manifest_put_producer(next, &record, error);
    if (status == LKS_OK && identity->takes_turns)
        status = lks_manifest_join_ring(next, identity->id, error);
    return status;
}

enum lks_status lks_ownership_take(struct lks_log *log,
                                   struct lks_identity *identity,
                                   uint64_t deadline_ns,
                                   struct lks_error *error)
{
    const struct lks_env *env = log->stream->env;
    struct lks_producer_record record;
    char what[LKS_PRODUCER_ID_SIZE_MAX + 32];
    struct lks_change change = {
        .what = what,
        .judge = judge_take,
        .apply = apply_take,
        .arg = identity,
    };
    enum lks_status status;

    snprintf(what, sizeof(what), "open producer %s", identity->id);
    lks_env_random(env, identity->owner, LKS_ID_SIZE);
    lks_env_host(env, identity->host);
    identity->pid = lks_env_pid(env);
    status = lks_log_change(log, &change, deadline_ns, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_find_producer(log->head, identity->id, &record);
    identity->epoch = record.epoch;
    return LKS_OK;
}

/* Owner mine, epoch one higher, finished: nobody else makes that. */
static enum lks_status judge_finish(const struct lks_manifest *head,
                                    void *arg,
                                    bool *out_done,
                                    struct lks_error *error)
{
    const struct lks_identity *identity = arg;
    struct lks_producer_record record;

    if (lks_manifest_find_producer(head, identity->id, &record) &&
        record.finished && record.epoch == identity->epoch + 1 &&
        same_owner(&record, identity)) {
        *out_done = true;
        return LKS_OK;
    }
    *out_done = false;
    return lks_ownership_check(head, identity, &record, error);
}

static enum lks_status apply_finish(struct lks_manifest *next,
                                    void *arg,
                                    struct lks_error *error)
{
    const struct lks_identity *identity = arg;
    struct lks_producer_record record;
    enum lks_status status;

    lks_manifest_find_producer(next, identity->id, &record);
    record.epoch++;
    record.finished = true;
    record.version = lks_manifest_version(next);
    status = lks_manifest_put_producer(next, &record, error);
    if (status == LKS_OK)
        lks_manifest_end_if_complete(next);
    return status;
}

enum lks_status lks_ownership_finish(struct lks_log *log,
                                     const struct lks_identity *identity,
                                     uint64_t deadline_ns,
                                     struct lks_error *error)
{
    struct lks_identity mine = *identity;
    char what[LKS_PRODUCER_ID_SIZE_MAX + 32];
    struct lks_change change = {
        .what = what,
        .judge = judge_finish,
        .apply = apply_finish,
        .arg = &mine,
    };

    snprintf(what, sizeof(what), "finish producer %s", identity->id);
    return lks_log_change(log, &change, deadline_ns, error);
}
