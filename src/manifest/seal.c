/*
 * Sealing: a full tail becomes an index block, made from exactly the manifest
 * whose tail it was, so that whoever does it writes the same.
 *
 * "It is there already" is success only if what is there says the same; if not,
 * history is in doubt, and nothing may be built on it. docs/protocol.md,
 * "Sealing".
 */
#include "manifest/seal.h"

#include <assert.h>

#include "base/backoff.h"
#include "format/index.h"

/* Sends before giving up; what is lost in between is sent again. */
#define SEAL_TRIES 12

/* LKS_OK if the block in the store is this one, LKS_NOT_FOUND if none is. */
static enum lks_status compare_stored(struct lks_stream *stream,
                                      uint64_t number,
                                      const char *name,
                                      const struct lks_buf *wanted,
                                      const struct lks_cancel *cancel,
                                      struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf stored;
    enum lks_status status;
    bool equal = false;

    call.cancel = cancel;
    lks_buf_init(&stored, LKS_INDEX_SIZE_MAX);
    status = lks_store_get_all(stream->store, name, wanted->size, &stored,
                               &call, error);
    if (status == LKS_OK)
        status = lks_index_compare(wanted, &stored, stream->descriptor.stream,
                                   number, &equal, error);
    if (status == LKS_OK && !equal)
        status = lks_error_set(error, LKS_CORRUPT,
                               "%s/%s differs from the manifest that fills it: "
                               "stop all producers and look at both",
                               stream->store->url, name);
    lks_buf_done(&stored);
    return status;
}

/* Until the block is there, whoever wrote it. */
static enum lks_status seal_bytes(struct lks_stream *stream,
                                  uint64_t number,
                                  const struct lks_buf *bytes,
                                  const struct lks_cancel *cancel,
                                  struct lks_error *error)
{
    struct lks_part part = {bytes->data, bytes->size};
    char name[LKS_NAME_SIZE];
    enum lks_status status = LKS_UNSURE;

    lks_index_name(number, name);
    for (uint32_t i = 1; i <= SEAL_TRIES && !lks_cancelled(cancel); i++) {
        struct lks_call call = LKS_CALL_INIT;

        call.cancel = cancel;
        status = lks_store_create(stream->store, name, &part, 1, &call, error);
        if (status != LKS_EXISTS && status != LKS_UNSURE)
            return status;
        status = compare_stored(stream, number, name, bytes, cancel, error);
        if (status != LKS_NOT_FOUND)
            return status;
        lks_backoff_sleep(&lks_backoff_outage, i, stream->env, cancel);
    }
    if (lks_cancelled(cancel))
        return lks_error_set(error, LKS_CANCELLED,
                             "cancelled while sealing %s/%s",
                             stream->store->url, name);
    return lks_error_set(error, LKS_UNAVAILABLE,
                         "create %s/%s: no answer, and it is not there, after "
                         "%d tries",
                         stream->store->url, name, SEAL_TRIES);
}

enum lks_status lks_seal(struct lks_stream *stream,
                         const struct lks_manifest *manifest,
                         const struct lks_cancel *cancel,
                         struct lks_error *error)
{
    uint64_t number = lks_manifest_tail_first(manifest) / LKS_BLOCK_STEPS;
    struct lks_buf bytes;
    enum lks_status status;

    assert(lks_manifest_tail_is_full(manifest));

    lks_buf_init(&bytes, LKS_INDEX_SIZE_MAX);
    status = lks_index_encode(manifest, &bytes, error);
    if (status == LKS_OK)
        status = seal_bytes(stream, number, &bytes, cancel, error);
    lks_buf_done(&bytes);
    return status;
}
