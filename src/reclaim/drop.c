/*
 * Dropping a stream: a commit first, then everything that it no longer needs.
 *
 * That last manifest and stream.json stay for ever, so that a writer asleep in
 * the stream wakes up to `dropped`, and nobody uses the prefix twice.
 * docs/protocol.md, "Drop".
 */
#include <inttypes.h>

#include "format/lifecycle.h"
#include "reclaim/change_log.h"
#include "reclaim/reclaim.h"
#include "reclaim/reclaim_report.h"

struct drop {
    bool force;
};

static enum lks_status judge_drop(const struct lks_manifest *head,
                                  void *arg,
                                  bool *out_done,
                                  struct lks_error *error)
{
    const struct drop *drop = arg;
    struct lks_pin_record pin;

    *out_done = lks_manifest_dropped(head);
    if (*out_done || drop->force || lks_manifest_pin_count(head) == 0)
        return LKS_OK;
    lks_manifest_pin(head, 0, &pin);
    return lks_error_set(error, LKS_INVALID,
                         "the stream has %" PRIu32 " pins, such as %s at step "
                         "%" PRIu64 ": unpin them first, or force it",
                         lks_manifest_pin_count(head), pin.name, pin.step);
}

static enum lks_status apply_drop(struct lks_manifest *next,
                                  void *arg,
                                  struct lks_error *error)
{
    uint64_t step = lks_manifest_next_step(next);
    uint64_t bytes = lks_manifest_total_bytes(next);

    (void)arg;
    (void)error;
    lks_manifest_drop(next);
    lks_manifest_set_first_live(next, step, bytes);
    lks_manifest_set_claimed(next, step, bytes);
    return LKS_OK;
}

static enum lks_status write_report(const struct lks_log *log,
                                    const struct lks_sweep *sweep,
                                    char **out_json,
                                    struct lks_error *error)
{
    struct lks_json_out out;
    enum lks_status status;

    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '{');
    lks_json_out_text(&out, "url", log->stream->store->url);
    lks_json_out_u64(&out, "version", lks_manifest_version(log->head));
    lks_json_out_bool(&out, "dropped", lks_manifest_dropped(log->head));
    lks_report_sweep(&out, sweep);
    lks_json_out_close(&out, '}');
    status = lks_json_out_take(&out, out_json, error);
    lks_json_out_done(&out);
    return status;
}

enum lks_status lks_drop(struct lks_stream *stream,
                         bool force,
                         uint64_t timeout_ms,
                         char **out_json,
                         struct lks_error *error)
{
    struct drop drop = {.force = force};
    const struct lks_change change = {"drop", judge_drop, apply_drop, &drop};
    struct lks_sweep sweep = {.listed = NULL};
    struct lks_log log;
    enum lks_status status;

    lks_log_init(&log, stream, LKS_LOG_WHOLE, NULL);
    status =
        lks_log_change(&log, &change,
                       lks_env_deadline_ms(stream->env, timeout_ms), error);
    if (status == LKS_OK)
        status = lks_sweep_init(&sweep, &log, lks_manifest_next_step(log.head),
                                false, error);
    if (status == LKS_OK)
        status = lks_sweep_dropped(&sweep, error);
    if (status == LKS_OK)
        status = write_report(&log, &sweep, out_json, error);
    lks_sweep_done(&sweep);
    lks_log_done(&log);
    return status;
}
