/*
 * Finding a step's entry, and its TGB's footer.
 *
 * The step's number names the index block, so a lookup costs one request
 * however old the step is. An object that is missing is explained by the newest
 * manifest, never guessed at.
 */
#include "manifest/lookup.h"

#include <assert.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "manifest/section.h"

void lks_lookup_init(struct lks_lookup *lookup,
                     struct lks_stream *stream,
                     const struct lks_cancel *cancel)
{
    *lookup = (struct lks_lookup){.stream = stream, .cancel = cancel};
}

void lks_lookup_done(struct lks_lookup *lookup)
{
    lks_index_free(lookup->index);
    lookup->index = NULL;
}

struct block_read {
    const struct lks_lookup *lookup;
    uint64_t number;
    struct lks_index *index;
};

static enum lks_status decode_block(void *arg,
                                    const struct lks_buf *bytes,
                                    size_t *out_needed,
                                    struct lks_error *error)
{
    struct block_read *read = arg;

    return lks_index_decode_head(bytes->data, bytes->size,
                                 read->lookup->stream->descriptor.stream,
                                 read->number, &read->index, out_needed, error);
}

static enum lks_status fetch_block(struct lks_lookup *lookup,
                                   uint64_t number,
                                   const char *name,
                                   struct lks_index **out_index,
                                   struct lks_error *error)
{
    struct block_read read = {.lookup = lookup, .number = number};
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf buf;
    enum lks_status status;

    call.cancel = lookup->cancel;
    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    status = lks_section_read(lookup->stream->store, name, decode_block, &read,
                              &buf, &lookup->get_count, &call, error);
    lookup->fetched_size += buf.size;
    lks_buf_done(&buf);
    if (status == LKS_OK)
        *out_index = read.index;
    return status;
}

static enum lks_status load_block(struct lks_lookup *lookup,
                                  uint64_t step,
                                  struct lks_error *error)
{
    uint64_t number = step / LKS_BLOCK_STEPS;
    struct lks_index *index = NULL;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    if (lookup->index != NULL && lookup->number == number)
        return LKS_OK;
    lks_index_name(number, name);
    status = fetch_block(lookup, number, name, &index, error);
    if (status == LKS_NOT_FOUND)
        return lks_lookup_explain(lookup->stream, lookup->cancel, step, name,
                                  error);
    if (status == LKS_CORRUPT || status == LKS_UNSUPPORTED)
        lks_error_prefix(error, status, "%s/%s", lookup->stream->store->url,
                         name);
    if (status != LKS_OK)
        return status;
    lks_index_free(lookup->index);
    lookup->index = index;
    lookup->number = number;
    return LKS_OK;
}

enum lks_status lks_lookup_reclaimed(const struct lks_stream *stream,
                                     uint64_t step,
                                     uint64_t first_live_step,
                                     struct lks_error *error)
{
    const struct lks_descriptor *descriptor = &stream->descriptor;
    const char *url = stream->store->url;

    if (descriptor->parent_url != NULL && step < descriptor->first_step)
        return lks_error_set(error, LKS_RECLAIMED,
                             "step %" PRIu64 " of %.160s is before its fork at "
                             "step %" PRIu64 ": read it in the parent, %.160s",
                             step, url, descriptor->first_step,
                             descriptor->parent_url);
    return lks_error_set(error, LKS_RECLAIMED,
                         "step %" PRIu64 " of %.160s is reclaimed; the first "
                         "live step is %" PRIu64,
                         step, url, first_live_step);
}

/* Only a fork's first block is short, and then no step before it is live. */
static enum lks_status short_block(const struct lks_lookup *lookup,
                                   uint64_t step,
                                   struct lks_error *error)
{
    char name[LKS_NAME_SIZE];

    lks_index_name(lookup->number, name);
    return lks_error_set(error, LKS_CORRUPT,
                         "%s/%s begins at step %" PRIu64 ", and step %" PRIu64
                         " is live: it is not the block that was written",
                         lookup->stream->store->url, name,
                         lks_index_first(lookup->index), step);
}

enum lks_status lks_lookup_entry(struct lks_lookup *lookup,
                                 struct lks_log *log,
                                 uint64_t step,
                                 struct lks_entry *out_entry,
                                 struct lks_error *error)
{
    const struct lks_manifest *head = log->head;
    uint32_t slice_count = lookup->stream->slice_count;
    enum lks_status status;

    assert(step < lks_manifest_next_step(head));

    if (step < lks_manifest_first_live_step(head))
        return lks_lookup_reclaimed(lookup->stream, step,
                                    lks_manifest_first_live_step(head), error);
    if (step >= lks_manifest_tail_first(head)) {
        lks_manifest_entry(head, step, slice_count, out_entry);
        return LKS_OK;
    }
    status = load_block(lookup, step, error);
    if (status != LKS_OK)
        return status;
    if (step < lks_index_first(lookup->index))
        return short_block(lookup, step, error);
    lks_index_entry(lookup->index, step, slice_count, out_entry);
    return LKS_OK;
}

enum lks_status lks_lookup_explain(struct lks_stream *stream,
                                   const struct lks_cancel *cancel,
                                   uint64_t step,
                                   const char *name,
                                   struct lks_error *error)
{
    struct lks_log fresh;
    enum lks_status status;

    lks_log_init(&fresh, stream, LKS_LOG_HEAD, cancel);
    status = lks_log_look(&fresh, error);
    if (status == LKS_OK) {
        uint64_t first = lks_manifest_first_live_step(fresh.head);

        if (step < first)
            status = lks_lookup_reclaimed(stream, step, first, error);
        else
            status = lks_error_set(error, LKS_CORRUPT,
                                   "%s/%s is missing, and step %" PRIu64
                                   " is live: it was removed by no reclaim",
                                   stream->store->url, name, step);
    }
    lks_log_done(&fresh);
    return status;
}

static enum lks_status decode_footer(const struct lks_entry *entry,
                                     const struct lks_buf *buf,
                                     struct lks_footer *out_footer,
                                     struct lks_error *error)
{
    if (lks_crc32c(buf->data, buf->size) != entry->footer_crc)
        return lks_error_set(error, LKS_CORRUPT,
                             "its footer is not the one that was committed");
    return lks_footer_decode(buf->data, buf->size, entry->size, out_footer,
                             error);
}

enum lks_status lks_lookup_footer(struct lks_stream *stream,
                                  const struct lks_entry *entry,
                                  const struct lks_cancel *cancel,
                                  struct lks_buf *buf,
                                  struct lks_footer *out_footer,
                                  struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    call.cancel = cancel;
    lks_data_name(entry->producer, entry->epoch, entry->owner_tag, entry->seq,
                  name);
    lks_buf_clear(buf);
    status = lks_buf_reserve(buf, entry->footer_size, error);
    if (status != LKS_OK)
        return status;
    status = lks_store_get_exact(stream->store, name,
                                 entry->size - entry->footer_size, buf->data,
                                 entry->footer_size, &call, error);
    if (status == LKS_NOT_FOUND)
        return lks_lookup_explain(stream, cancel, entry->step, name, error);
    if (status != LKS_OK)
        return status;
    buf->size = entry->footer_size;
    status = decode_footer(entry, buf, out_footer, error);
    if (status != LKS_OK)
        lks_error_prefix(error, status, "%s/%s", stream->store->url, name);
    return status;
}
