/*
 * A stream's state as one JSON object: what its newest manifest says.
 */
#include "inspect/inspect.h"

#include "base/json_out.h"
#include "inspect/info_life.h"
#include "manifest/log.h"

static void put_steps(struct lks_json_out *out, const struct lks_manifest *head)
{
    uint64_t next_step = lks_manifest_next_step(head);
    uint64_t first_live_step = lks_manifest_first_live_step(head);

    lks_json_out_u64(out, "version", lks_manifest_version(head));
    lks_json_out_u64(out, "next_step", next_step);
    lks_json_out_u64(out, "first_live_step", first_live_step);
    lks_json_out_u64(out, "claimed", lks_manifest_claimed(head));
    lks_json_out_bool(out, "ended", lks_manifest_ended(head));
    /* Nothing is appended after the end, so it is where the steps stop. */
    if (lks_manifest_ended(head))
        lks_json_out_u64(out, "ended_at", next_step);
    else
        lks_json_out_null(out, "ended_at");
    lks_json_out_bool(out, "dropped", lks_manifest_dropped(head));
    lks_json_out_u64(out, "live_steps", next_step - first_live_step);
    lks_json_out_u64(out, "live_bytes", lks_manifest_live_bytes(head));
    lks_json_out_u64(out, "total_bytes", lks_manifest_total_bytes(head));

    lks_json_out_open(out, "limits", '{');
    lks_json_out_u64(out, "max_live_steps", lks_manifest_max_live_steps(head));
    lks_json_out_u64(out, "max_live_bytes", lks_manifest_max_live_bytes(head));
    lks_json_out_bool(out, "full", lks_manifest_is_full(head));
    lks_json_out_close(out, '}');
}

static void put_producers(struct lks_json_out *out,
                          const struct lks_manifest *head)
{
    struct lks_producer_record record;

    lks_json_out_u64(out, "producers_to_end",
                     lks_manifest_producers_to_end(head));
    lks_json_out_open(out, "producers", '[');
    for (uint32_t i = 0; i < lks_manifest_producer_count(head); i++) {
        lks_manifest_producer(head, i, &record);
        lks_json_out_open(out, NULL, '{');
        lks_json_out_text(out, "id", record.id);
        lks_json_out_u64(out, "epoch", record.epoch);
        lks_json_out_u64(out, "next_seq", record.next_seq);
        lks_json_out_bool(out, "finished", record.finished);
        lks_json_out_text(out, "host", record.host);
        lks_json_out_i64(out, "pid", record.pid);
        lks_json_out_hex(out, "offset", record.offset, record.offset_size);
        lks_json_out_u64(out, "version", record.version);
        lks_json_out_close(out, '}');
    }
    lks_json_out_close(out, ']');
}

enum lks_status lks_inspect_info(struct lks_stream *stream,
                                 char **out_json,
                                 struct lks_error *error)
{
    struct lks_claims claims;
    struct lks_json_out out;
    struct lks_log log;
    enum lks_status status;

    lks_json_out_init(&out);
    lks_log_init(&log, stream, LKS_LOG_WHOLE, NULL);
    lks_claims_init(&claims, stream, NULL);

    status = lks_log_look(&log, error);
    if (status == LKS_OK)
        status = lks_claims_read(&claims, log.head, error);
    if (status != LKS_OK)
        goto done;

    lks_json_out_open(&out, NULL, '{');
    lks_json_out_text(&out, "url", stream->store->url);
    lks_json_out_text(&out, "stream", stream->id_text);
    lks_json_out_u64(&out, "format", stream->descriptor.format);
    lks_json_out_u64(&out, "dp", stream->descriptor.dp);
    lks_json_out_u64(&out, "cp", stream->descriptor.cp);
    lks_json_out_i64(&out, "created_ms", stream->descriptor.created_ms);
    lks_info_put_lineage(&out, &stream->descriptor);
    put_steps(&out, log.head);
    put_producers(&out, log.head);
    lks_info_put_groups(&out, log.head, &claims);
    lks_info_put_pins(&out, log.head);
    lks_json_out_u64(&out, "manifest_bytes", log.head_size);
    lks_json_out_open(&out, "requests", '{');
    lks_store_put_stats(stream->store, &out);
    lks_json_out_close(&out, '}');
    lks_json_out_close(&out, '}');
    status = lks_json_out_take(&out, out_json, error);

done:
    lks_claims_done(&claims);
    lks_log_done(&log);
    lks_json_out_done(&out);
    return status;
}
