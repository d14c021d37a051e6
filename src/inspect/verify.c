/*
 * Verifying a stream: in which order its evidence is looked at, what damage is
 * as opposed to failure, and the report.
 *
 * docs/protocol.md says what must hold; the parts are in verify_*.c.
 */
#include "inspect/verify.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/inspect.h"

enum lks_status lks_verify_judge(struct lks_verify *verify,
                                 const char *name,
                                 const struct lks_error *found,
                                 struct lks_error *error)
{
    if (found->status == LKS_RECLAIMED)
        return LKS_OK;
    if (found->status != LKS_CORRUPT)
        return lks_error_set(error, found->status, "%s", found->message);
    if (strstr(found->message, name) != NULL)
        return lks_report_problem(&verify->report, error, "%s", found->message);
    return lks_report_problem(&verify->report, error, "%s: %s", name,
                              found->message);
}

enum lks_status lks_verify_missing(struct lks_verify *verify,
                                   const char *name,
                                   uint64_t step,
                                   struct lks_error *error)
{
    struct lks_error found;

    lks_lookup_explain(verify->stream, NULL, step, name, &found);
    return lks_verify_judge(verify, name, &found, error);
}

enum lks_status lks_verify_read_block(struct lks_verify *verify,
                                      uint64_t number,
                                      struct lks_buf *buf,
                                      struct lks_index **out_index,
                                      struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_index_name(number, name);
    lks_buf_clear(buf);
    status = lks_store_get_all(verify->stream->store, name,
                               4 * LKS_MANIFEST_GUESS, buf, &call, error);
    if (status != LKS_OK)
        return status;
    return lks_index_decode(buf->data, buf->size,
                            verify->stream->descriptor.stream, number,
                            out_index, error);
}

static void init(struct lks_verify *verify,
                 struct lks_stream *stream,
                 bool data)
{
    *verify = (struct lks_verify){.stream = stream};
    lks_log_init(&verify->log, stream, LKS_LOG_WHOLE, NULL);
    lks_report_init(&verify->report);
    lks_ledger_init(&verify->ledger, &verify->report);
    lks_window_init(&verify->window, stream, data);
}

static void done(struct lks_verify *verify)
{
    lks_window_done(&verify->window);
    lks_ledger_done(&verify->ledger);
    lks_report_done(&verify->report);
    lks_log_done(&verify->log);
}

static enum lks_status add_notes(struct lks_verify *verify,
                                 struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    if (verify->ahead_count > 0)
        status = lks_report_note(&verify->report, error,
                                 "%" PRIu64 " data objects are uploaded and "
                                 "not committed yet",
                                 verify->ahead_count);
    if (status == LKS_OK && verify->behind_count > 0)
        status = lks_report_note(&verify->report, error,
                                 "%" PRIu64 " data objects belong to no live "
                                 "step: never committed, or reclaimed",
                                 verify->behind_count);
    return status;
}

static enum lks_status write_report(struct lks_verify *verify,
                                    char **out_json,
                                    struct lks_error *error)
{
    const struct lks_manifest *head = verify->head;
    struct lks_json_out out;
    enum lks_status status;

    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '{');
    lks_json_out_bool(&out, "ok", verify->report.problems.count == 0);
    lks_json_out_bool(&out, "data", verify->window.data);
    lks_json_out_u64(&out, "version", lks_manifest_version(head));
    lks_json_out_u64(&out, "next_step", lks_manifest_next_step(head));
    lks_json_out_u64(&out, "first_live_step",
                     lks_manifest_first_live_step(head));
    lks_json_out_u64(&out, "steps", verify->step_count);
    lks_json_out_u64(&out, "blocks", verify->block_count);
    lks_json_out_u64(&out, "manifests", verify->manifest_count);
    lks_json_out_u64(&out, "bytes", verify->byte_count);
    lks_json_out_u64(&out, "producers", lks_manifest_producer_count(head));
    lks_json_out_u64(&out, "uncommitted_objects", verify->ahead_count);
    lks_json_out_u64(&out, "unnamed_objects", verify->behind_count);
    lks_report_write(&verify->report, &out);
    lks_json_out_close(&out, '}');
    status = lks_json_out_take(&out, out_json, error);
    lks_json_out_done(&out);
    return status;
}

enum lks_status lks_inspect_verify(struct lks_stream *stream,
                                   bool data,
                                   char **out_json,
                                   struct lks_error *error)
{
    struct lks_verify verify;
    enum lks_status status;

    init(&verify, stream, data);
    status = lks_log_look(&verify.log, error);
    if (status != LKS_OK)
        goto done;
    verify.head = verify.log.head;

    status = lks_verify_chain(&verify, error);
    if (status != LKS_OK)
        goto done;
    status = lks_verify_steps(&verify, error);
    if (status != LKS_OK)
        goto done;
    status = lks_verify_names(&verify, error);
    if (status != LKS_OK)
        goto done;
    status = add_notes(&verify, error);
    if (status != LKS_OK)
        goto done;
    status = write_report(&verify, out_json, error);

done:
    done(&verify);
    return status;
}
