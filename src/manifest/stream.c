/*
 * Making and opening a stream: everything about stream.json.
 *
 * The file is created once and never changed or deleted, also not by a drop,
 * so that a prefix is used once (docs/protocol.md, "One prefix, one stream").
 * A stream.json without a manifest is a stream at version 0.
 */
#include "manifest/stream.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "manifest/place.h"

#define DESCRIPTOR_GUESS 4096u

static void stream_free(struct lks_stream *stream)
{
    if (stream == NULL)
        return;
    lks_descriptor_done(&stream->descriptor);
    lks_store_close(stream->store);
    lks_free(stream);
}

void lks_stream_close(struct lks_stream *stream)
{
    if (stream != NULL && lks_env_pid(stream->env) == stream->pid)
        stream_free(stream);
}

enum lks_status lks_stream_check_fork(const struct lks_stream *stream,
                                      struct lks_error *error)
{
    if (lks_env_pid(stream->env) == stream->pid)
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "%s was opened before a fork: open it again in the "
                         "child",
                         stream->store->url);
}

/* Takes the store over, as the callers promise to. */
static enum lks_status stream_new(struct lks_store *store,
                                  struct lks_stream **out_stream,
                                  struct lks_error *error)
{
    struct lks_stream *stream = lks_alloc_zero(1, sizeof(*stream));

    if (stream == NULL) {
        lks_store_close(store);
        return lks_error_no_memory(error);
    }
    stream->env = store->env;
    stream->store = store;
    stream->pid = lks_env_pid(store->env);
    stream->date_ms = INT64_MIN;
    *out_stream = stream;
    return LKS_OK;
}

static void stream_set_ids(struct lks_stream *stream)
{
    lks_hex_encode(stream->descriptor.stream, LKS_ID_SIZE, stream->id_text);
    stream->slice_count = stream->descriptor.dp * stream->descriptor.cp;
}

/* Reads and decodes stream.json into stream->descriptor. */
static enum lks_status read_descriptor(struct lks_stream *stream,
                                       struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_buf buf;
    enum lks_status status;

    call.want_date = true;
    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    status = lks_store_get_all(stream->store, LKS_DESCRIPTOR_NAME,
                               DESCRIPTOR_GUESS, &buf, &call, error);
    if (status == LKS_NOT_FOUND) {
        status = lks_error_set(error, LKS_NOT_FOUND,
                               "no stream at %s: it has no " LKS_DESCRIPTOR_NAME
                               "%s, as 'lakestream init' makes",
                               stream->store->url, stream->store->place);
        goto done;
    }
    if (status != LKS_OK)
        goto done;
    status =
        lks_descriptor_decode(buf.data, buf.size, &stream->descriptor, error);
    if (status != LKS_OK) {
        lks_error_prefix(error, status, "%s/" LKS_DESCRIPTOR_NAME,
                         stream->store->url);
        goto done;
    }
    stream_set_ids(stream);
    stream->date_ms = call.date_ms;

done:
    lks_buf_done(&buf);
    return status;
}

enum lks_status lks_stream_load(struct lks_store *store,
                                struct lks_stream **out_stream,
                                struct lks_error *error)
{
    struct lks_stream *stream = NULL;
    enum lks_status status = stream_new(store, &stream, error);

    if (status != LKS_OK)
        return status;
    status = read_descriptor(stream, error);
    if (status != LKS_OK) {
        stream_free(stream);
        return status;
    }
    *out_stream = stream;
    return LKS_OK;
}

/*
 * Sends stream.json once and reads back what is there: the create's answer may
 * have been lost, and another maker's stream may have come first.
 */
static enum lks_status create_descriptor(struct lks_stream *stream,
                                         const struct lks_descriptor *wanted,
                                         struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    struct lks_part part;
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    status = lks_descriptor_encode(wanted, &buf, error);
    if (status != LKS_OK)
        goto done;
    part.data = buf.data;
    part.size = buf.size;
    status = lks_store_create(stream->store, LKS_DESCRIPTOR_NAME, &part, 1,
                              &call, error);
    if (status != LKS_OK && status != LKS_EXISTS && status != LKS_UNSURE)
        goto done;
    status = read_descriptor(stream, error);
    if (status == LKS_NOT_FOUND)
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "create %s/" LKS_DESCRIPTOR_NAME
                               ": no answer, and it is not there; try again "
                               "with another prefix",
                               stream->store->url);
    if (status == LKS_OK &&
        memcmp(stream->descriptor.stream, wanted->stream, LKS_ID_SIZE) != 0)
        status = lks_place_used(stream->store, error);

done:
    lks_buf_done(&buf);
    return status;
}

enum lks_status lks_stream_make(struct lks_store *store,
                                struct lks_descriptor *descriptor,
                                struct lks_stream **out_stream,
                                struct lks_error *error)
{
    return lks_stream_make_seeded(store, descriptor, NULL, NULL, out_stream,
                                  error);
}

enum lks_status lks_stream_make_seeded(struct lks_store *store,
                                       struct lks_descriptor *descriptor,
                                       lks_stream_seed_fn *seed,
                                       void *seed_arg,
                                       struct lks_stream **out_stream,
                                       struct lks_error *error)
{
    struct lks_stream *stream = NULL;
    enum lks_status status;

    assert(descriptor->probe == NULL);

    status = lks_mesh_check(descriptor->dp, descriptor->cp, error);
    if (status == LKS_OK)
        status = lks_place_check_free(store, error);
    if (status == LKS_OK)
        status = lks_store_check(store, NULL, NULL, &descriptor->probe, error);
    if (status != LKS_OK) {
        lks_store_close(store);
        return status;
    }
    descriptor->format = LKS_FORMAT_VERSION;
    descriptor->created_ms = lks_env_wall_ms(store->env);
    lks_env_random(store->env, descriptor->stream, LKS_ID_SIZE);

    status = stream_new(store, &stream, error);
    if (status != LKS_OK)
        return status;
    if (seed != NULL)
        status = seed(store, descriptor, seed_arg, error);
    if (status == LKS_OK)
        status = create_descriptor(stream, descriptor, error);
    if (status != LKS_OK) {
        stream_free(stream);
        return status;
    }
    *out_stream = stream;
    return LKS_OK;
}
