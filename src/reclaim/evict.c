/*
 * Evicting whoever is not coming back: a group, a rank of its run, a producer.
 *
 * What is evicted is the run, or the incarnation, that was seen first. If the
 * newest manifest shows another by then, somebody did start again, and that is
 * not the one that was meant. docs/protocol.md, "Control commits".
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/lifecycle.h"
#include "reclaim/change_log.h"
#include "reclaim/reclaim.h"

#define WHAT_SIZE (2 * LKS_PRODUCER_ID_SIZE_MAX + 32u)

/* ---------------------------------------------------- groups and ranks -- */

struct evict_group {
    const char *name;
    bool is_rank; /* only one rank of it */
    uint32_t rank;

    bool seen;
    char run[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t attempt;
};

static enum lks_status see_group(struct evict_group *evict,
                                 const struct lks_group_record *group,
                                 struct lks_error *error)
{
    if (evict->is_rank && evict->rank >= group->run.ranks)
        return lks_error_set(error, LKS_NOT_FOUND,
                             "group %s has no rank %" PRIu32 ": run %s.%" PRIu64
                             " has %" PRIu32 " ranks",
                             evict->name, evict->rank, group->run.id,
                             group->run.attempt, group->run.ranks);
    memcpy(evict->run, group->run.id, strlen(group->run.id) + 1);
    evict->attempt = group->run.attempt;
    evict->seen = true;
    return LKS_OK;
}

static enum lks_status judge_group(const struct lks_manifest *head,
                                   void *arg,
                                   bool *out_done,
                                   struct lks_error *error)
{
    struct evict_group *evict = arg;
    struct lks_group_record group;
    bool found = lks_manifest_find_group(head, evict->name, &group);
    enum lks_status status = lks_change_check(head, error);

    if (status == LKS_OK && !found && !evict->seen)
        status = lks_error_set(error, LKS_NOT_FOUND, "there is no group %s",
                               evict->name);
    if (status == LKS_OK && found && !evict->seen)
        status = see_group(evict, &group, error);
    if (status != LKS_OK)
        return status;
    *out_done =
        !found || strcmp(group.run.id, evict->run) != 0 ||
        group.run.attempt != evict->attempt ||
        (evict->is_rank && lks_group_rank_is_evicted(&group, evict->rank));
    return LKS_OK;
}

static enum lks_status apply_group(struct lks_manifest *next,
                                   void *arg,
                                   struct lks_error *error)
{
    const struct evict_group *evict = arg;

    if (evict->is_rank)
        return lks_manifest_evict_rank(next, evict->name, evict->rank, error);
    lks_manifest_remove_group(next, evict->name);
    return LKS_OK;
}

enum lks_status lks_evict_group(struct lks_stream *stream,
                                const char *group,
                                uint64_t timeout_ms,
                                struct lks_error *error)
{
    struct evict_group evict = {.name = group};
    char what[WHAT_SIZE];
    const struct lks_change change = {what, judge_group, apply_group, &evict};

    snprintf(what, sizeof(what), "evict group %s", group);
    return lks_change_stream(stream, &change, timeout_ms, error);
}

enum lks_status lks_evict_rank(struct lks_stream *stream,
                               const char *group,
                               uint32_t rank,
                               uint64_t timeout_ms,
                               struct lks_error *error)
{
    struct evict_group evict = {.name = group, .is_rank = true, .rank = rank};
    char what[WHAT_SIZE];
    const struct lks_change change = {what, judge_group, apply_group, &evict};

    snprintf(what, sizeof(what), "evict rank %" PRIu32 " of group %s", rank,
             group);
    return lks_change_stream(stream, &change, timeout_ms, error);
}

/* ----------------------------------------------------------- producers -- */

struct evict_producer {
    struct lks_stream *stream;
    const char *id;

    bool seen;
    uint64_t epoch;
    uint8_t owner[LKS_ID_SIZE];
};

static enum lks_status judge_producer(const struct lks_manifest *head,
                                      void *arg,
                                      bool *out_done,
                                      struct lks_error *error)
{
    struct evict_producer *evict = arg;
    struct lks_producer_record record;
    enum lks_status status = lks_change_check(head, error);

    if (status != LKS_OK)
        return status;
    if (!lks_manifest_find_producer(head, evict->id, &record)) {
        /* Nobody leaves the map. */
        assert(!evict->seen);
        return lks_error_set(error, LKS_NOT_FOUND, "there is no producer %s",
                             evict->id);
    }
    if (!evict->seen) {
        evict->epoch = record.epoch;
        memcpy(evict->owner, record.owner, LKS_ID_SIZE);
        evict->seen = true;
    }
    *out_done = record.epoch != evict->epoch ||
                memcmp(record.owner, evict->owner, LKS_ID_SIZE) != 0;
    return LKS_OK;
}

/* The owner changes too: "one epoch on, my owner, finished" is what the evicted
 * one would take for a finish of its own. */
static enum lks_status apply_producer(struct lks_manifest *next,
                                      void *arg,
                                      struct lks_error *error)
{
    const struct evict_producer *evict = arg;
    const struct lks_env *env = evict->stream->env;
    struct lks_producer_record record;
    char host[LKS_HOST_SIZE];
    enum lks_status status;

    lks_manifest_find_producer(next, evict->id, &record);
    lks_env_host(env, host);
    lks_env_random(env, record.owner, LKS_ID_SIZE);
    record.epoch++;
    record.finished = true;
    record.host = host;
    record.pid = lks_env_pid(env);
    record.version = lks_manifest_version(next);
    status = lks_manifest_put_producer(next, &record, error);
    if (status == LKS_OK)
        lks_manifest_end_if_complete(next);
    return status;
}

enum lks_status lks_evict_producer(struct lks_stream *stream,
                                   const char *id,
                                   uint64_t timeout_ms,
                                   struct lks_error *error)
{
    struct evict_producer evict = {.stream = stream, .id = id};
    char what[WHAT_SIZE];
    const struct lks_change change = {what, judge_producer, apply_producer,
                                      &evict};

    snprintf(what, sizeof(what), "evict producer %s", id);
    return lks_change_stream(stream, &change, timeout_ms, error);
}
