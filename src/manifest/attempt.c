/*
 * Adding the next manifest: making its bytes, and sending them.
 *
 * Bytes that were sent may land at any later time, so as long as the newest
 * manifest does not tell what became of them, the same bytes are sent to the
 * same name again, and never others. docs/protocol.md, "Commit".
 */
#include <assert.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "base/trace.h"
#include "manifest/log.h"
#include "manifest/seal.h"

void lks_attempt_init(struct lks_attempt *attempt)
{
    attempt->version = 0;
    lks_buf_init(&attempt->bytes, LKS_MANIFEST_SIZE_MAX);
}

void lks_attempt_done(struct lks_attempt *attempt)
{
    lks_buf_done(&attempt->bytes);
}

bool lks_attempt_is_open(const struct lks_attempt *attempt,
                         const struct lks_log *log)
{
    return attempt->version == lks_manifest_version(log->head) + 1;
}

enum lks_status lks_log_next(struct lks_log *log,
                             struct lks_manifest **out_next,
                             struct lks_error *error)
{
    struct lks_manifest *next = NULL;
    enum lks_status status;

    assert(log->view == LKS_LOG_WHOLE);
    assert(log->head != NULL);

    if (lks_manifest_tail_is_full(log->head)) {
        status = lks_seal(log->stream, log->head, log->cancel, error);
        if (status != LKS_OK)
            return status;
    }
    status = lks_manifest_copy(log->head, &next, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_advance(next);
    *out_next = next;
    return LKS_OK;
}

enum lks_status lks_attempt_set(struct lks_attempt *attempt,
                                const struct lks_manifest *next,
                                struct lks_error *error)
{
    enum lks_status status;

    attempt->version = 0;
    lks_buf_clear(&attempt->bytes);
    status = lks_manifest_encode(next, &attempt->bytes, error);
    if (status == LKS_OK)
        attempt->version = lks_manifest_version(next);
    return status;
}

enum lks_status lks_log_create(struct lks_log *log,
                               const struct lks_attempt *attempt,
                               bool *out_throttled,
                               struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_part part = {attempt->bytes.data, attempt->bytes.size};
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    assert(lks_attempt_is_open(attempt, log));

    call.cancel = log->cancel;
    call.want_date = true;
    lks_manifest_name(log->stream->descriptor.stream, attempt->version, name);
    status = lks_store_create(log->stream->store, name, &part, 1, &call, error);
    log->create_count++;
    if (call.date_ms != INT64_MIN)
        log->date_ms = call.date_ms;
    *out_throttled = call.throttled;
    LKS_TRACE(LKS_AREA_COMMIT, "create version %" PRIu64 ": %s",
              attempt->version,
              status == LKS_UNSURE ? "unsure" : lks_status_name(status));
    return status;
}
