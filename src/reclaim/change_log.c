/*
 * Committing one change to a stream, and being done with it.
 */
#include "reclaim/change_log.h"

enum lks_status lks_change_stream(struct lks_stream *stream,
                                  const struct lks_change *change,
                                  uint64_t timeout_ms,
                                  struct lks_error *error)
{
    struct lks_log log;
    enum lks_status status;

    lks_log_init(&log, stream, LKS_LOG_WHOLE, NULL);
    status =
        lks_log_change(&log, change,
                       lks_env_deadline_ms(stream->env, timeout_ms), error);
    lks_log_done(&log);
    return status;
}

enum lks_status lks_change_check(const struct lks_manifest *head,
                                 struct lks_error *error)
{
    if (!lks_manifest_dropped(head))
        return LKS_OK;
    return lks_error_set(error, LKS_NOT_FOUND, "the stream was dropped");
}
