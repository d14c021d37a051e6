/*
 * Joining a run by commit, and publishing watermarks in it.
 *
 * A run is the group's as long as the newest manifest shows its id and attempt.
 * Each rank looks before it writes, so that a rank of an older start, however
 * long it slept, finds out; what it had written by then has another name, and
 * means nothing. Its own watermark it reads too: another process may have been
 * started with its name, by mistake. docs/protocol.md, "Groups and runs".
 */
#include "consumer/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "format/watermark.h"
#include "manifest/change.h"
#include "manifest/claim.h"
#include "manifest/lookup.h"

/* The run that a follower makes where there is none. */
#define FOLLOWER_ID "watermark"

/* Sends of one watermark. Each is the same, so one too many does no harm. */
#define PUBLISH_TRIES 5

void lks_member_init(struct lks_member *member,
                     struct lks_stream *stream,
                     const struct lks_cancel *cancel)
{
    memset(member, 0, sizeof(*member));
    member->stream = stream;
    lks_log_init(&member->log, stream, LKS_LOG_WHOLE, cancel);
}

void lks_member_done(struct lks_member *member)
{
    lks_log_done(&member->log);
}

static bool is_shown(const struct lks_member *member,
                     const struct lks_group_record *group)
{
    return strcmp(group->run.id, member->id) == 0 &&
           group->run.attempt == member->attempt;
}

static enum lks_status fenced(const struct lks_member *member,
                              const struct lks_group_record *group,
                              struct lks_error *error)
{
    return lks_error_set(error, LKS_FENCED,
                         "group %s: run %s.%" PRIu64 " is over: run %s.%" PRIu64
                         " took over, with %" PRIu32 " ranks from step %" PRIu64
                         " on",
                         member->group, member->id, member->attempt,
                         group->run.id, group->run.attempt, group->run.ranks,
                         group->run.floor);
}

static enum lks_status dropped(const struct lks_member *member,
                               struct lks_error *error)
{
    return lks_error_set(error, LKS_NOT_FOUND, "%.160s was dropped",
                         member->stream->store->url);
}

/* Of a run that is shown: whether this rank belongs to it. */
static enum lks_status check_rank(const struct lks_member *member,
                                  const struct lks_group_record *group,
                                  struct lks_error *error)
{
    if (group->run.ranks != member->ranks)
        return lks_error_set(error, LKS_INVALID,
                             "run %s.%" PRIu64 " of group %s has %" PRIu32
                             " ranks, not %" PRIu32
                             ": another mesh needs a new run",
                             group->run.id, group->run.attempt, member->group,
                             group->run.ranks, member->ranks);
    if (lks_group_rank_is_evicted(group, member->rank))
        return lks_error_set(error, LKS_FENCED,
                             "rank %" PRIu32 " of group %s was evicted from "
                             "run %s.%" PRIu64 ": start a new run",
                             member->rank, member->group, group->run.id,
                             group->run.attempt);
    return LKS_OK;
}

/* ------------------------------------------------------------- joining -- */

struct join {
    struct lks_member *member;
    uint64_t wanted; /* may be LKS_STEP_FIRST */
    uint64_t step;   /* by the head that was judged last */
};

/* A follower's run is the one shown, on each base anew. */
static void adopt(struct lks_member *member,
                  const struct lks_group_record *group)
{
    const char *id = group == NULL ? FOLLOWER_ID : group->run.id;

    memcpy(member->id, id, strlen(id) + 1);
    member->attempt = group == NULL ? 0 : group->run.attempt;
}

/* Whether the member's run may be, or become, the group's. */
static enum lks_status check_run(const struct lks_member *member,
                                 const struct lks_manifest *head,
                                 const struct lks_group_record *group,
                                 struct lks_error *error)
{
    if (is_shown(member, group))
        return check_rank(member, group, error);
    if (strcmp(group->run.id, member->id) == 0
            ? member->attempt < group->run.attempt
            : lks_manifest_run_is_former(head, member->group, member->id))
        return fenced(member, group, error);
    return LKS_OK;
}

static enum lks_status judge_join(const struct lks_manifest *head,
                                  void *arg,
                                  bool *out_done,
                                  struct lks_error *error)
{
    struct join *join = arg;
    struct lks_member *member = join->member;
    uint64_t first = lks_manifest_first_live_step(head);
    struct lks_group_record group;
    bool found = lks_manifest_find_group(head, member->group, &group);
    bool shown = false;
    enum lks_status status;

    if (lks_manifest_dropped(head))
        return dropped(member, error);
    if (member->follows)
        adopt(member, found ? &group : NULL);
    join->step = join->wanted == LKS_STEP_FIRST ? first : join->wanted;
    if (found) {
        status = check_run(member, head, &group, error);
        if (status != LKS_OK)
            return status;
        shown = is_shown(member, &group);
        if (shown && join->wanted == LKS_STEP_FIRST && group.run.floor > first)
            join->step = group.run.floor;
    }
    if (join->step < first)
        return lks_lookup_reclaimed(member->stream, join->step, first, error);
    *out_done = shown && join->step >= group.run.floor;
    return LKS_OK;
}

static enum lks_status apply_join(struct lks_manifest *next,
                                  void *arg,
                                  struct lks_error *error)
{
    struct join *join = arg;
    struct lks_member *member = join->member;
    struct lks_group_record group;
    struct lks_run run = {
        .id = member->id,
        .attempt = member->attempt,
        .ranks = member->ranks,
        .floor = join->step,
    };

    if (lks_manifest_find_group(next, member->group, &group) &&
        is_shown(member, &group)) {
        lks_manifest_set_floor(next, member->group, join->step);
        return LKS_OK;
    }
    return lks_manifest_put_run(next, member->group, &run, error);
}

static void name_mark(const struct lks_member *member,
                      uint32_t rank,
                      char name[LKS_NAME_SIZE])
{
    struct lks_watermark_parts parts = {
        .attempt = member->attempt,
        .rank = rank,
    };

    memcpy(parts.group, member->group, sizeof(parts.group));
    memcpy(parts.run, member->id, sizeof(parts.run));
    lks_watermark_name(&parts, name);
}

/* What was published before for this rank of the run; 0 if nothing was. */
static enum lks_status read_mark(const struct lks_member *member,
                                 uint32_t rank,
                                 uint64_t *out_step,
                                 struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    call.cancel = member->log.cancel;
    name_mark(member, rank, name);
    status = lks_mark_read(member->stream, name, out_step, &call, error);
    if (status != LKS_NOT_FOUND)
        return status;
    *out_step = 0;
    return LKS_OK;
}

/* What the rank has published already, and whether it may go back so far. */
static enum lks_status check_mark(struct lks_member *member,
                                  struct lks_error *error)
{
    uint64_t of_all = 0;
    uint64_t own = 0;
    enum lks_status status = read_mark(member, LKS_RANK_ALL, &of_all, error);

    if (status == LKS_OK && member->rank != LKS_RANK_ALL)
        status = read_mark(member, member->rank, &own, error);
    if (status != LKS_OK)
        return status;
    member->mark = of_all > own ? of_all : own;
    if (member->only_marks || member->step >= member->mark)
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "step %" PRIu64 " is below the watermark %" PRIu64
                         " that rank %" PRIu32 " has published in run "
                         "%s.%" PRIu64 ": going back needs a new run",
                         member->step, member->mark, member->rank, member->id,
                         member->attempt);
}

enum lks_status lks_member_join(struct lks_member *member,
                                uint64_t step,
                                uint64_t deadline_ns,
                                struct lks_error *error)
{
    struct join join = {.member = member, .wanted = step};
    char what[LKS_PRODUCER_ID_SIZE_MAX + 32];
    const struct lks_change change = {
        .what = what,
        .judge = judge_join,
        .apply = apply_join,
        .arg = &join,
    };
    enum lks_status status;

    snprintf(what, sizeof(what), "join a run of group %s", member->group);
    status = lks_log_change(&member->log, &change, deadline_ns, error);
    if (status != LKS_OK)
        return status;
    member->step = join.step;
    return check_mark(member, error);
}

/* ---------------------------------------------------------- publishing -- */

/* Whether the run is still the group's, by the newest manifest. */
static enum lks_status check_shown(struct lks_member *member,
                                   struct lks_error *error)
{
    const struct lks_manifest *head;
    struct lks_group_record group;
    enum lks_status status = lks_log_look(&member->log, error);

    if (status != LKS_OK)
        return status;
    head = member->log.head;
    if (lks_manifest_dropped(head))
        return dropped(member, error);
    if (!lks_manifest_find_group(head, member->group, &group))
        return lks_error_set(error, LKS_FENCED,
                             "group %s was evicted from %.160s: nothing is "
                             "kept for run %s.%" PRIu64 " any more",
                             member->group, member->stream->store->url,
                             member->id, member->attempt);
    if (!is_shown(member, &group))
        return fenced(member, &group, error);
    return check_rank(member, &group, error);
}

static enum lks_status put_mark(struct lks_member *member,
                                const char *name,
                                uint64_t step,
                                struct lks_error *error)
{
    struct lks_buf buf;
    struct lks_part part;
    enum lks_status status;

    lks_buf_init(&buf, LKS_WATERMARK_SIZE_MAX);
    status = lks_watermark_encode(member->stream->descriptor.stream, name, step,
                                  &buf, error);
    if (status != LKS_OK)
        goto done;
    part = (struct lks_part){buf.data, buf.size};
    for (uint32_t i = 1; i <= PUBLISH_TRIES; i++) {
        struct lks_call call = LKS_CALL_INIT;

        call.cancel = member->log.cancel;
        status =
            lks_store_put(member->stream->store, name, &part, 1, &call, error);
        if ((status != LKS_UNSURE && status != LKS_UNAVAILABLE) ||
            lks_cancelled(member->log.cancel))
            break;
        lks_backoff_sleep(&lks_backoff_outage, i, member->stream->env,
                          member->log.cancel);
    }
    if (status == LKS_UNSURE)
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "put %s/%s: no answer; it may be in",
                               member->stream->store->url, name);

done:
    lks_buf_done(&buf);
    return status;
}

/* Whether the step can be the rank's watermark, by what it knows itself and by
 * the newest manifest. */
static enum lks_status check_step(const struct lks_member *member,
                                  uint64_t step,
                                  struct lks_error *error)
{
    const struct lks_manifest *head = member->log.head;
    uint64_t first = lks_manifest_first_live_step(head);

    if (step < member->mark)
        return lks_error_set(error, LKS_INVALID,
                             "step %" PRIu64 " is below the watermark %" PRIu64
                             " of run %s.%" PRIu64
                             ": it never moves back within a run",
                             step, member->mark, member->id, member->attempt);
    if (step < first)
        return lks_error_set(error, LKS_RECLAIMED,
                             "step %" PRIu64 " of %.160s is reclaimed, and can "
                             "be no watermark; the first live step is %" PRIu64,
                             step, member->stream->store->url, first);
    if (step > lks_manifest_next_step(head))
        return lks_error_set(error, LKS_INVALID,
                             "step %" PRIu64 " is no watermark yet: the "
                             "stream's next step is %" PRIu64,
                             step, lks_manifest_next_step(head));
    return LKS_OK;
}

/* Whether the rank is alone: nobody else raised the watermark that it is to
 * write. *out_done: it is stored already, by a call whose answer was lost. */
static enum lks_status check_alone(const struct lks_member *member,
                                   uint32_t rank,
                                   uint64_t step,
                                   bool *out_done,
                                   struct lks_error *error)
{
    uint64_t stored = 0;
    enum lks_status status = read_mark(member, rank, &stored, error);
    char name[LKS_NAME_SIZE];

    if (status != LKS_OK)
        return status;
    if (step >= stored) {
        *out_done = step == stored && step > 0;
        return LKS_OK;
    }
    name_mark(member, rank, name);
    return lks_error_set(error, LKS_INVALID,
                         "step %" PRIu64 " is below the watermark %" PRIu64
                         " at %s, which never moves back: another process "
                         "seems to have the same run and rank",
                         step, stored, name);
}

enum lks_status lks_member_publish(struct lks_member *member,
                                   uint64_t step,
                                   struct lks_error *error)
{
    uint32_t rank = member->for_all ? LKS_RANK_ALL : member->rank;
    char name[LKS_NAME_SIZE];
    enum lks_status status;
    bool done = false;

    assert(member->group[0] != '\0');

    status = check_shown(member, error);
    if (status == LKS_OK)
        status = check_step(member, step, error);
    if (status == LKS_OK)
        status = check_alone(member, rank, step, &done, error);
    if (status != LKS_OK)
        return status;
    name_mark(member, rank, name);
    if (!done)
        status = put_mark(member, name, step, error);
    if (status == LKS_OK)
        member->mark = step;
    return status;
}
