/*
 * Every live step in order: index blocks and tail give the entries, the ledger
 * holds each producer to its own order, each object is looked at once.
 */
#include "inspect/verify.h"

#include <inttypes.h>

static enum lks_status check_order(struct lks_verify *verify,
                                   const char *where,
                                   const struct lks_entry *entry,
                                   struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    if (verify->last_known && entry->version < verify->last_version)
        status =
            lks_report_problem(&verify->report, error,
                               "%s: step %" PRIu64 " is of version %" PRIu64
                               ", the step before it of version %" PRIu64,
                               where, entry->step, entry->version,
                               verify->last_version);
    if (status == LKS_OK && entry->version > lks_manifest_version(verify->head))
        status =
            lks_report_problem(&verify->report, error,
                               "%s: step %" PRIu64 " is of version %" PRIu64
                               ", which does not exist yet",
                               where, entry->step, entry->version);
    if (status == LKS_OK && verify->last_known &&
        entry->total != verify->last_total + entry->size)
        status = lks_report_problem(&verify->report, error,
                                    "%s: with step %" PRIu64
                                    " the stream has %" PRIu64
                                    " bytes, where %" PRIu64 " is right",
                                    where, entry->step, entry->total,
                                    verify->last_total + entry->size);
    verify->last_known = true;
    verify->last_version = entry->version;
    verify->last_total = entry->total;
    return status;
}

/* What was found of a step, in the order of the steps. */
static enum lks_status judge_look(struct lks_verify *verify,
                                  const struct lks_look *look,
                                  struct lks_error *error)
{
    const struct lks_entry *entry = &look->entry;
    enum lks_status status;

    status = lks_ledger_take_entry(&verify->ledger, look->where, entry, error);
    if (status != LKS_OK)
        return status;
    verify->step_count++;
    if (look->status != LKS_NOT_FOUND) {
        verify->present_count++;
        verify->byte_count += entry->size;
    }
    if (look->has_footer)
        status = lks_ledger_take_footer(&verify->ledger, look->name,
                                        &look->footer, error);
    else
        lks_ledger_lose_offset(&verify->ledger, entry->producer);
    if (status != LKS_OK)
        return status;
    if (look->status == LKS_NOT_FOUND)
        return lks_verify_missing(verify, look->name, entry->step, error);
    if (look->status != LKS_OK)
        return lks_verify_judge(verify, look->name, &look->found, error);
    return LKS_OK;
}

static enum lks_status settle_one(struct lks_verify *verify,
                                  struct lks_error *error)
{
    const struct lks_look *look = lks_window_take(&verify->window);
    enum lks_status status = judge_look(verify, look, error);

    lks_window_release(&verify->window);
    return status;
}

static enum lks_status take_step(struct lks_verify *verify,
                                 const char *where,
                                 const struct lks_entry *entry,
                                 struct lks_error *error)
{
    enum lks_status status = check_order(verify, where, entry, error);

    if (status == LKS_OK && lks_window_is_full(&verify->window))
        status = settle_one(verify, error);
    if (status != LKS_OK)
        return status;
    return lks_window_begin(&verify->window, where, entry, error);
}

/* Before what the entries are borrowed from goes away. */
static enum lks_status settle_all(struct lks_verify *verify,
                                  struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    while (status == LKS_OK && !lks_window_is_empty(&verify->window))
        status = settle_one(verify, error);
    lks_window_drop(&verify->window);
    return status;
}

static enum lks_status take_block(struct lks_verify *verify,
                                  const char *name,
                                  uint64_t number,
                                  const struct lks_index *index,
                                  struct lks_error *error)
{
    uint64_t end = (number + 1) * LKS_BLOCK_STEPS;
    uint64_t first_live_step = lks_manifest_first_live_step(verify->head);
    struct lks_producer_record record;
    struct lks_entry entry;
    enum lks_status status;
    uint64_t step = lks_index_first(index);

    if (step < first_live_step)
        step = first_live_step;
    for (; step < end; step++) {
        lks_index_entry(index, step, verify->stream->slice_count, &entry);
        status = take_step(verify, name, &entry, error);
        if (status != LKS_OK)
            return status;
    }
    status = settle_all(verify, error);
    if (status != LKS_OK)
        return status;
    for (uint32_t i = 0; i < lks_index_producer_count(index); i++) {
        lks_index_producer(index, i, &record);
        status = lks_ledger_take_record(&verify->ledger, name, &record, error);
        if (status != LKS_OK)
            return status;
    }
    verify->block_count++;
    return lks_ledger_close_map(&verify->ledger, name, error);
}

/* A fork's first block begins where the fork does. */
static uint64_t first_of(const struct lks_stream *stream, uint64_t number)
{
    uint64_t first = number * LKS_BLOCK_STEPS;

    return first > stream->descriptor.first_step
               ? first
               : stream->descriptor.first_step;
}

static enum lks_status check_block(struct lks_verify *verify,
                                   uint64_t number,
                                   struct lks_error *error)
{
    struct lks_index *index = NULL;
    struct lks_error found;
    struct lks_buf buf;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_index_name(number, name);
    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    status = lks_verify_read_block(verify, number, &buf, &index, &found);
    if (status == LKS_OK &&
        lks_index_first(index) != first_of(verify->stream, number))
        status =
            lks_error_set(&found, LKS_CORRUPT, "it begins at step %" PRIu64,
                          lks_index_first(index));
    if (status == LKS_OK) {
        status = take_block(verify, name, number, index, error);
        goto done;
    }
    lks_ledger_forget(&verify->ledger);
    verify->last_known = false;
    if (status == LKS_NOT_FOUND)
        status =
            lks_verify_missing(verify, name,
                               number * LKS_BLOCK_STEPS + LKS_BLOCK_STEPS - 1,
                               error);
    else
        status = lks_verify_judge(verify, name, &found, error);

done:
    lks_window_drop(&verify->window);
    lks_index_free(index);
    lks_buf_done(&buf);
    return status;
}

/* What only the head can be held to: all steps lie before it. */
static enum lks_status check_totals(struct lks_verify *verify,
                                    const char *name,
                                    struct lks_error *error)
{
    const struct lks_manifest *head = verify->head;
    const struct lks_descriptor *descriptor = &verify->stream->descriptor;
    struct lks_producer_record record;
    uint64_t seqs = 0;
    enum lks_status status = LKS_OK;

    if (verify->last_known &&
        verify->last_total != lks_manifest_total_bytes(head))
        status = lks_report_problem(&verify->report, error,
                                    "%s: the stream's bytes are %" PRIu64
                                    ", but its last step says %" PRIu64,
                                    name, lks_manifest_total_bytes(head),
                                    verify->last_total);
    if (status != LKS_OK || descriptor->parent_url != NULL ||
        descriptor->first_step != 0)
        return status; /* A fork's seqs began in its parent. */

    for (uint32_t i = 0; i < lks_manifest_producer_count(head); i++) {
        lks_manifest_producer(head, i, &record);
        seqs += record.next_seq;
    }
    if (seqs != lks_manifest_next_step(head))
        status = lks_report_problem(&verify->report, error,
                                    "%s: the producers' seqs add up to %" PRIu64
                                    ", the steps are %" PRIu64,
                                    name, seqs, lks_manifest_next_step(head));
    return status;
}

static enum lks_status check_tail(struct lks_verify *verify,
                                  struct lks_error *error)
{
    const struct lks_manifest *head = verify->head;
    uint64_t step = lks_manifest_tail_first(head);
    struct lks_producer_record record;
    struct lks_entry entry;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_manifest_name(verify->stream->descriptor.stream,
                      lks_manifest_version(head), name);
    if (step < lks_manifest_first_live_step(head))
        step = lks_manifest_first_live_step(head);
    for (; step < lks_manifest_next_step(head); step++) {
        lks_manifest_entry(head, step, verify->stream->slice_count, &entry);
        status = take_step(verify, name, &entry, error);
        if (status != LKS_OK)
            return status;
    }
    status = settle_all(verify, error);
    if (status != LKS_OK)
        return status;
    for (uint32_t i = 0; i < lks_manifest_producer_count(head); i++) {
        lks_manifest_producer(head, i, &record);
        status = lks_ledger_take_record(&verify->ledger, name, &record, error);
        if (status != LKS_OK)
            return status;
    }
    status = lks_ledger_close_map(&verify->ledger, name, error);
    if (status != LKS_OK)
        return status;
    return check_totals(verify, name, error);
}

enum lks_status lks_verify_steps(struct lks_verify *verify,
                                 struct lks_error *error)
{
    uint64_t first = lks_manifest_first_live_step(verify->head);
    uint64_t sealed = lks_manifest_tail_first(verify->head) / LKS_BLOCK_STEPS;

    if (first == 0 && verify->stream->descriptor.parent_url == NULL) {
        verify->ledger.complete = true;
        verify->last_known = true; /* No bytes, of version 0. */
    }
    for (uint64_t number = first / LKS_BLOCK_STEPS; number < sealed; number++) {
        enum lks_status status = check_block(verify, number, error);

        if (status != LKS_OK)
            return status;
    }
    return check_tail(verify, error);
}
