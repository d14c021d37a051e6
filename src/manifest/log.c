/*
 * Which manifest is the newest.
 *
 * Names are trusted for LKS_TRUST_MS of the store's own clock after a reply
 * that proved them free; past that only a listing counts. The argument is in
 * docs/protocol.md, "Trusting a name"; the rule stands in lks_log_probe() and
 * in what it calls, and nowhere else.
 */
#include "manifest/log.h"

#include <assert.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "base/trace.h"
#include "manifest/section.h"

/* Listings in a row that a reader may need to be sure of the newest. Each next
 * one is for a reply that came later than LKS_TRUST_MS after it was asked. */
#define LIST_TRIES 8

/* A gallop doubles its stride up to this. */
#define STRIDE_MAX (UINT64_C(1) << 20)

void lks_log_init(struct lks_log *log,
                  struct lks_stream *stream,
                  enum lks_log_view view,
                  const struct lks_cancel *cancel)
{
    *log = (struct lks_log){
        .stream = stream,
        .view = view,
        .cancel = cancel,
        .proven_ms = INT64_MIN,
        .date_ms = stream->date_ms,
    };
}

void lks_log_done(struct lks_log *log)
{
    lks_manifest_free(log->head);
    log->head = NULL;
}

static struct lks_call log_call(const struct lks_log *log)
{
    struct lks_call call = LKS_CALL_INIT;

    call.cancel = log->cancel;
    call.want_date = true;
    return call;
}

/* Keeps the store's clock of every reply, also of one that is a refusal. */
static void log_note_reply(struct lks_log *log, const struct lks_call *call)
{
    if (call->date_ms != INT64_MIN)
        log->date_ms = call->date_ms;
}

static void log_set_head(struct lks_log *log,
                         struct lks_manifest *manifest,
                         size_t size)
{
    lks_manifest_free(log->head);
    log->head = manifest;
    log->head_size = size;
}

static enum lks_status decode_whole(const struct lks_log *log,
                                    uint64_t version,
                                    const struct lks_buf *buf,
                                    struct lks_manifest **out_manifest,
                                    struct lks_error *error)
{
    return lks_manifest_decode(buf->data, buf->size,
                               log->stream->descriptor.stream, version,
                               out_manifest, error);
}

struct head_read {
    const struct lks_log *log;
    uint64_t version;
    struct lks_manifest *manifest;
};

static enum lks_status decode_head(void *arg,
                                   const struct lks_buf *bytes,
                                   size_t *out_needed,
                                   struct lks_error *error)
{
    struct head_read *read = arg;

    return lks_manifest_decode_head(bytes->data, bytes->size,
                                    read->log->stream->descriptor.stream,
                                    read->version, &read->manifest, out_needed,
                                    error);
}

static enum lks_status fetch_head(struct lks_log *log,
                                  uint64_t version,
                                  const char *name,
                                  struct lks_call *call,
                                  struct lks_manifest **out_manifest,
                                  struct lks_error *error)
{
    struct head_read read = {.log = log, .version = version};
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    status = lks_section_read(log->stream->store, name, decode_head, &read,
                              &buf, &log->get_count, call, error);
    lks_buf_done(&buf);
    if (status == LKS_OK)
        *out_manifest = read.manifest;
    return status;
}

static enum lks_status fetch_whole(struct lks_log *log,
                                   uint64_t version,
                                   const char *name,
                                   struct lks_call *call,
                                   struct lks_manifest **out_manifest,
                                   struct lks_error *error)
{
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    status = lks_store_get_all(log->stream->store, name, 4 * LKS_MANIFEST_GUESS,
                               &buf, call, error);
    log->get_count++;
    if (status == LKS_OK)
        status = decode_whole(log, version, &buf, out_manifest, error);
    lks_buf_done(&buf);
    return status;
}

/* LKS_NOT_FOUND is an answer here, not a failure. */
static enum lks_status log_fetch(struct lks_log *log,
                                 uint64_t version,
                                 struct lks_call *call,
                                 struct lks_manifest **out_manifest,
                                 struct lks_error *error)
{
    char name[LKS_NAME_SIZE];
    enum lks_status status;

    lks_manifest_name(log->stream->descriptor.stream, version, name);
    if (log->view == LKS_LOG_HEAD)
        status = fetch_head(log, version, name, call, out_manifest, error);
    else
        status = fetch_whole(log, version, name, call, out_manifest, error);
    log_note_reply(log, call);
    if (status == LKS_CORRUPT || status == LKS_UNSUPPORTED)
        lks_error_prefix(error, status, "%s/%s", log->stream->store->url, name);
    return status;
}

/* The newest version by listing; 0 when there is no manifest. */
static enum lks_status list_newest(struct lks_log *log,
                                   uint64_t *out_version,
                                   struct lks_error *error)
{
    const uint8_t *stream = log->stream->descriptor.stream;
    struct lks_call call = log_call(log);
    struct lks_listed first;
    char prefix[LKS_NAME_SIZE];
    size_t count;
    enum lks_status status;

    lks_manifest_prefix(stream, prefix);
    status = lks_store_list(log->stream->store, prefix, "", 1, &first, &count,
                            &call, error);
    log->list_count++;
    log_note_reply(log, &call);
    if (status != LKS_OK)
        return status;
    if (count == 0) {
        *out_version = 0;
        return LKS_OK;
    }
    if (!lks_manifest_name_parse(stream, first.key, out_version))
        return lks_error_set(error, LKS_CORRUPT,
                             "%s/%s is among the manifests and is none: move "
                             "it away",
                             log->stream->store->url, first.key);
    return LKS_OK;
}

/*
 * Finds the newest by listing, whatever was known before. The reply that dates
 * the proof is the last one received before the listing was sent.
 */
static enum lks_status log_list(struct lks_log *log, struct lks_error *error)
{
    for (int i = 0; i < LIST_TRIES; i++) {
        struct lks_manifest *manifest = NULL;
        struct lks_call call = log_call(log);
        int64_t before_ms = log->date_ms;
        uint64_t version;
        enum lks_status status = list_newest(log, &version, error);

        if (status != LKS_OK)
            return status;
        if (version == 0) {
            status = lks_manifest_genesis(&log->stream->descriptor, &manifest,
                                          error);
        } else {
            status = log_fetch(log, version, &call, &manifest, error);
            if (status == LKS_NOT_FOUND)
                continue; /* Overtaken, and reclaimed since. */
        }
        if (status != LKS_OK)
            return status;
        if (log->date_ms > before_ms + LKS_TRUST_MS) {
            lks_manifest_free(manifest);
            continue; /* It took too long to be sure of the name. */
        }
        log_set_head(log, manifest, (size_t)call.object_size);
        log->proven = version;
        log->proven_ms = before_ms;
        return LKS_OK;
    }
    return lks_error_set(error, LKS_UNAVAILABLE,
                         "%s: no reply to a listing came within %d s of the "
                         "store's clock, %d times",
                         log->stream->store->url, LKS_TRUST_MS / 1000,
                         LIST_TRIES);
}

/* Whether the last reply is near enough to the proof to be believed. */
static bool log_trusts_reply(const struct lks_log *log)
{
    return log->proven_ms != INT64_MIN &&
           log->date_ms <= log->proven_ms + LKS_TRUST_MS;
}

enum lks_status lks_log_probe(struct lks_log *log,
                              uint64_t stride,
                              bool *out_advanced,
                              struct lks_error *error)
{
    struct lks_manifest *manifest = NULL;
    struct lks_call call = log_call(log);
    int64_t before_ms = log->date_ms;
    uint64_t known;
    enum lks_status status;

    assert(stride > 0);

    if (log->head == NULL || !log_trusts_reply(log))
        goto list;
    known = lks_manifest_version(log->head);
    status = log_fetch(log, known + stride, &call, &manifest, error);
    if (call.date_ms == INT64_MIN)
        return status; /* No reply: nothing was learned. */
    if (!log_trusts_reply(log))
        goto list; /* Whatever it was, also if it was no manifest. */
    if (status == LKS_OK) {
        log_set_head(log, manifest, (size_t)call.object_size);
        *out_advanced = true;
        return LKS_OK;
    }
    if (status != LKS_NOT_FOUND)
        return status;
    if (stride == 1) {
        /* The next name is free, so the head is the newest: a new proof. */
        log->proven = known;
        log->proven_ms = before_ms;
    }
    *out_advanced = false;
    return LKS_OK;

list:
    lks_manifest_free(manifest);
    known = log->head == NULL ? 0 : lks_manifest_version(log->head);
    manifest = log->head;
    status = log_list(log, error);
    if (status == LKS_OK)
        *out_advanced =
            manifest == NULL || lks_manifest_version(log->head) > known;
    return status;
}

/* The next stride of a look: doubled until a version is missing, then halving
 * what lies between that and the head. */
static uint64_t next_stride(const struct lks_log *log,
                            uint64_t stride,
                            uint64_t missing)
{
    uint64_t half = (missing - lks_manifest_version(log->head)) / 2;

    if (missing == UINT64_MAX)
        return stride < STRIDE_MAX ? 2 * stride : stride;
    return half > 0 ? half : 1;
}

enum lks_status lks_log_look(struct lks_log *log, struct lks_error *error)
{
    uint64_t missing = UINT64_MAX;
    uint64_t stride = 1;

    while (!lks_cancelled(log->cancel)) {
        uint64_t lists = log->list_count;
        bool advanced = false;
        enum lks_status status = lks_log_probe(log, stride, &advanced, error);

        if (status != LKS_OK)
            return status;
        if (log->list_count > lists || (!advanced && stride == 1)) {
            LKS_TRACE(LKS_AREA_COMMIT,
                      "newest is version %" PRIu64 ", next step %" PRIu64,
                      lks_manifest_version(log->head),
                      lks_manifest_next_step(log->head));
            return LKS_OK;
        }
        if (!advanced)
            missing = lks_manifest_version(log->head) + stride;
        stride = next_stride(log, stride, missing);
    }
    return lks_error_set(error, LKS_CANCELLED,
                         "cancelled while looking for the newest manifest of "
                         "%s",
                         log->stream->store->url);
}
