/*
 * A stream's steps, one line of JSON each, in order.
 */
#include "inspect/inspect.h"

#include "base/json_out.h"
#include "format/names.h"
#include "manifest/lookup.h"

static enum lks_status put_entry(struct lks_json_out *out,
                                 const struct lks_entry *entry,
                                 lks_line_fn *line,
                                 void *arg,
                                 struct lks_error *error)
{
    char name[LKS_NAME_SIZE];
    const char *text;
    enum lks_status status;

    lks_data_name(entry->producer, entry->epoch, entry->owner_tag, entry->seq,
                  name);
    lks_json_out_clear(out);
    lks_json_out_open(out, NULL, '{');
    lks_json_out_u64(out, "step", entry->step);
    lks_json_out_text(out, "producer", entry->producer);
    lks_json_out_u64(out, "epoch", entry->epoch);
    lks_json_out_u64(out, "seq", entry->seq);
    lks_json_out_u64(out, "bytes", entry->size);
    lks_json_out_u64(out, "version", entry->version);
    lks_json_out_text(out, "object", name);
    lks_json_out_close(out, '}');
    text = lks_json_out_peek(out);
    if (text == NULL)
        return lks_error_no_memory(error);
    status = line(text, arg);
    if (status != LKS_OK)
        return lks_error_set(error, status, "the reader of the log stopped");
    return LKS_OK;
}

static uint64_t later(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

enum lks_status lks_inspect_walk(struct lks_stream *stream,
                                 uint64_t from,
                                 uint64_t to,
                                 lks_line_fn *line,
                                 void *arg,
                                 struct lks_error *error)
{
    struct lks_json_out out;
    struct lks_lookup lookup;
    struct lks_entry entry;
    struct lks_log log;
    enum lks_status status;
    uint64_t step;

    lks_json_out_init(&out);
    lks_lookup_init(&lookup, stream, NULL);
    lks_log_init(&log, stream, LKS_LOG_HEAD, NULL);

    status = lks_log_look(&log, error);
    if (status != LKS_OK)
        goto done;
    if (to > lks_manifest_next_step(log.head))
        to = lks_manifest_next_step(log.head);

    step = later(from, lks_manifest_first_live_step(log.head));
    while (step < to) {
        status = lks_lookup_entry(&lookup, &log, step, &entry, error);
        if (status == LKS_RECLAIMED) {
            /* It was live when the walk began: go on with what is. */
            status = lks_log_look(&log, error);
            if (status != LKS_OK)
                goto done;
            step = later(step + 1, lks_manifest_first_live_step(log.head));
            continue;
        }
        if (status != LKS_OK)
            goto done;
        status = put_entry(&out, &entry, line, arg, error);
        if (status != LKS_OK)
            goto done;
        step++;
    }
    status = LKS_OK;

done:
    lks_log_done(&log);
    lks_lookup_done(&lookup);
    lks_json_out_done(&out);
    return status;
}
