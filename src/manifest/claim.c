/*
 * What groups and pins claim of a manifest: pure but for reading watermarks.
 *
 * A rank that has not written, or wrote less than its run's floor, counts as
 * the floor. Whatever is not known claims more, never less. docs/protocol.md,
 * "Groups and runs", argues why no step that a restart needs is lost.
 */
#include "manifest/claim.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trace.h"
#include "format/watermark.h"
#include "store/parallel.h"

/* Watermarks that are read at the same time: a few, so that a run of thousands
 * of ranks does not take minutes, nor the store from those who train. */
#define READERS 8u

void lks_claims_init(struct lks_claims *claims,
                     struct lks_stream *stream,
                     const struct lks_cancel *cancel)
{
    *claims = (struct lks_claims){.stream = stream, .cancel = cancel};
}

static void forget(struct lks_claims *claims)
{
    for (uint32_t i = 0; i < claims->group_count; i++)
        lks_free(claims->groups[i].steps);
    lks_free(claims->groups);
    claims->groups = NULL;
    claims->group_count = 0;
}

void lks_claims_done(struct lks_claims *claims)
{
    forget(claims);
}

/* ------------------------------------------------------------- reading -- */

enum lks_status lks_mark_read(const struct lks_stream *stream,
                              const char *name,
                              uint64_t *out_step,
                              struct lks_call *call,
                              struct lks_error *error)
{
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, LKS_WATERMARK_SIZE_MAX);
    status = lks_store_get_all(stream->store, name, LKS_WATERMARK_SIZE_MAX,
                               &buf, call, error);
    if (status == LKS_OK) {
        status =
            lks_watermark_decode(buf.data, buf.size, stream->descriptor.stream,
                                 name, out_step, error);
        if (status != LKS_OK)
            lks_error_prefix(error, status, "%s/%s", stream->store->url, name);
    }
    lks_buf_done(&buf);
    return status;
}

/* A page of a run's watermarks. */
struct page {
    const struct lks_claims *claims;
    struct lks_marks *marks;
    struct lks_listed *listed;
};

static enum lks_status read_mark(const struct lks_claims *claims,
                                 const char *name,
                                 uint64_t *out_step,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    enum lks_status status =
        lks_mark_read(claims->stream, name, out_step, call, error);

    if (status == LKS_CORRUPT)
        LKS_TRACE(LKS_AREA_RECLAIM, "%s is damaged and counts for nothing",
                  name);
    if (status != LKS_CORRUPT && status != LKS_NOT_FOUND)
        return status;
    *out_step = 0;
    return LKS_OK;
}

/* Each has a place of its own in the marks. */
static enum lks_status take_listed(size_t index,
                                   void *arg,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    const struct page *page = arg;
    struct lks_marks *marks = page->marks;
    const char *name = page->listed[index].key;
    struct lks_watermark_parts parts;
    enum lks_status status;
    uint64_t step;

    if (!lks_watermark_name_parse(name, &parts) ||
        (parts.rank >= marks->ranks && parts.rank != LKS_RANK_ALL))
        return LKS_OK; /* Nothing that this run's ranks wrote. */
    status = read_mark(page->claims, name, &step, call, error);
    if (status != LKS_OK)
        return status;
    if (parts.rank == LKS_RANK_ALL)
        marks->all = step;
    else
        marks->steps[parts.rank] = step;
    return LKS_OK;
}

static enum lks_status read_run(struct lks_claims *claims,
                                struct lks_marks *marks,
                                struct lks_listed *listed,
                                struct lks_error *error)
{
    struct page page = {claims, marks, listed};
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    char prefix[LKS_NAME_SIZE];
    size_t count;

    lks_watermark_prefix(&marks->run, prefix);
    do {
        struct lks_call call = LKS_CALL_INIT;
        enum lks_status status;

        call.cancel = claims->cancel;
        status = lks_store_list(claims->stream->store, prefix, after,
                                LKS_LIST_MAX, listed, &count, &call, error);
        claims->request_count++;
        if (status == LKS_OK && count > 0)
            status = lks_parallel(claims->stream->env, count, READERS,
                                  take_listed, &page, &call, error);
        if (status != LKS_OK)
            return status;
        claims->request_count += count;
        if (count > 0)
            memcpy(after, listed[count - 1].key, sizeof(after));
    } while (count == LKS_LIST_MAX);
    return LKS_OK;
}

/* Room for the group's marks, none of them written yet. */
static enum lks_status add_group(struct lks_claims *claims,
                                 const struct lks_group_record *group,
                                 struct lks_error *error)
{
    struct lks_marks *marks = &claims->groups[claims->group_count];

    if (group->run.ranks > LKS_RANKS_MAX)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "group %s has %" PRIu32
                             " ranks; this library can count to %u",
                             group->name, group->run.ranks, LKS_RANKS_MAX);
    memcpy(marks->run.group, group->name, strlen(group->name) + 1);
    memcpy(marks->run.run, group->run.id, strlen(group->run.id) + 1);
    marks->run.attempt = group->run.attempt;
    marks->ranks = group->run.ranks;
    marks->steps = lks_alloc_zero(marks->ranks, sizeof(*marks->steps));
    if (marks->steps == NULL)
        return lks_error_no_memory(error);
    claims->group_count++;
    return LKS_OK;
}

enum lks_status lks_claims_read(struct lks_claims *claims,
                                const struct lks_manifest *head,
                                struct lks_error *error)
{
    uint32_t count = lks_manifest_group_count(head);
    struct lks_listed *listed = NULL;
    enum lks_status status = LKS_OK;

    forget(claims);
    claims->version = lks_manifest_version(head);
    if (count == 0)
        return LKS_OK;
    listed = lks_alloc_zero(LKS_LIST_MAX, sizeof(*listed));
    claims->groups = lks_alloc_zero(count, sizeof(*claims->groups));
    if (listed == NULL || claims->groups == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    for (uint32_t i = 0; i < count && status == LKS_OK; i++) {
        struct lks_group_record group;

        lks_manifest_group(head, i, &group);
        status = add_group(claims, &group, error);
        if (status == LKS_OK)
            status = read_run(claims, &claims->groups[i], listed, error);
    }

done:
    lks_free(listed);
    if (status != LKS_OK)
        forget(claims);
    return status;
}

/* ------------------------------------------------------------- judging -- */

static const struct lks_marks *marks_of(const struct lks_claims *claims,
                                        const struct lks_group_record *group)
{
    for (uint32_t i = 0; i < claims->group_count; i++) {
        const struct lks_marks *marks = &claims->groups[i];

        if (strcmp(marks->run.group, group->name) == 0)
            return strcmp(marks->run.run, group->run.id) == 0 &&
                           marks->run.attempt == group->run.attempt
                       ? marks
                       : NULL;
    }
    return NULL;
}

static uint64_t mark_of_rank(const struct lks_marks *marks,
                             uint32_t rank,
                             uint64_t floor)
{
    uint64_t step = floor;

    if (marks == NULL)
        return step;
    if (marks->all > step)
        step = marks->all;
    if (rank < marks->ranks && marks->steps[rank] > step)
        step = marks->steps[rank];
    return step;
}

uint64_t lks_claims_of_rank(const struct lks_claims *claims,
                            const struct lks_group_record *group,
                            uint32_t rank)
{
    return mark_of_rank(marks_of(claims, group), rank, group->run.floor);
}

bool lks_claims_of_group(const struct lks_claims *claims,
                         const struct lks_group_record *group,
                         uint64_t *out_step)
{
    const struct lks_marks *marks = marks_of(claims, group);
    uint64_t least = UINT64_MAX;
    size_t place = 0;

    for (uint32_t rank = 0; rank < group->run.ranks; rank++) {
        uint64_t step;

        if (place < group->evicted_count && group->evicted[place] == rank) {
            place++;
            continue;
        }
        step = mark_of_rank(marks, rank, group->run.floor);
        if (step < least)
            least = step;
    }
    if (least == UINT64_MAX)
        return false;
    *out_step = least;
    return true;
}

static uint64_t within(uint64_t step, uint64_t low, uint64_t high)
{
    if (step < low)
        return low;
    return step > high ? high : step;
}

void lks_claims_find(const struct lks_claims *claims,
                     const struct lks_manifest *manifest,
                     struct lks_claim *out_claim)
{
    uint64_t first = lks_manifest_first_live_step(manifest);
    uint64_t next = lks_manifest_next_step(manifest);
    uint64_t claimed = UINT64_MAX;
    struct lks_claim claim = {.held = false};
    uint64_t live;

    for (uint32_t i = 0; i < lks_manifest_group_count(manifest); i++) {
        struct lks_group_record group;
        uint64_t step;

        lks_manifest_group(manifest, i, &group);
        if (!lks_claims_of_group(claims, &group, &step))
            continue;
        claim.held = true;
        if (step < claimed)
            claimed = step;
    }
    live = claimed;
    for (uint32_t i = 0; i < lks_manifest_pin_count(manifest); i++) {
        struct lks_pin_record pin;

        lks_manifest_pin(manifest, i, &pin);
        if (pin.step < live)
            live = pin.step;
    }
    claim.claimed = within(claimed, first, next);
    claim.live = within(live, first, next);
    *out_claim = claim;
}
