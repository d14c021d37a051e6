/*
 * Uploads that were begun and not ended: a producer that was killed leaves
 * parts of TGBs that no listing of objects shows. They are judged by their
 * names, as the objects would be. docs/protocol.md, "Garbage".
 */
#include "base/trace.h"
#include "reclaim/sweep.h"

static enum lks_status list_page(struct lks_sweep *sweep,
                                 const struct lks_upload *after,
                                 size_t *out_count,
                                 struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status = lks_sweep_check_running(sweep, error);

    if (status != LKS_OK)
        return status;
    call.cancel = sweep->log->cancel;
    lks_sweep_pace(sweep);
    return lks_store_uploads(sweep->stream->store, "data/", after,
                             LKS_UPLOADS_MAX, sweep->uploads, out_count, &call,
                             error);
}

static enum lks_status abort_one(struct lks_sweep *sweep,
                                 const struct lks_upload *upload,
                                 struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;

    if (sweep->dry_run)
        return LKS_OK;
    call.cancel = sweep->log->cancel;
    lks_sweep_pace(sweep);
    status = lks_store_abort(sweep->stream->store, upload, &call, error);
    if (status == LKS_OK)
        LKS_TRACE(LKS_AREA_RECLAIM, "aborted an upload of %s", upload->key);
    return status;
}

enum lks_status lks_sweep_uploads(struct lks_sweep *sweep,
                                  lks_sweep_abort_fn *judge,
                                  void *arg,
                                  struct lks_error *error)
{
    struct lks_upload last = {.key = ""};
    size_t count = 0;

    do {
        enum lks_status status =
            list_page(sweep, last.key[0] != '\0' ? &last : NULL, &count,
                      &sweep->unseen);

        if (status == LKS_DENIED || status == LKS_UNSUPPORTED)
            return LKS_OK;
        if (status != LKS_OK)
            return lks_error_set(error, status, "%s", sweep->unseen.message);
        for (size_t i = 0; i < count && status == LKS_OK; i++) {
            if (judge(sweep, sweep->uploads[i].key, arg)) {
                status = abort_one(sweep, &sweep->uploads[i], error);
                sweep->aborted_count += status == LKS_OK;
            } else {
                sweep->uploading_count++;
            }
        }
        if (status != LKS_OK)
            return status;
        if (count > 0)
            last = sweep->uploads[count - 1];
    } while (count == LKS_UPLOADS_MAX);
    return LKS_OK;
}
