/*
 * The public functions about streams: arguments are checked here, and nothing
 * else is done. See include/lakestream.h.
 */
#include "lakestream.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/url.h"
#include "manifest/change.h"
#include "manifest/place.h"
#include "manifest/stream.h"

#define LKS_TEXT(value) #value
#define LKS_VERSION_TEXT(major, minor, patch)                                  \
    LKS_TEXT(major) "." LKS_TEXT(minor) "." LKS_TEXT(patch)

const char *lks_version(void)
{
    return LKS_VERSION_TEXT(LKS_VERSION_MAJOR, LKS_VERSION_MINOR,
                            LKS_VERSION_PATCH);
}

void lks_text_free(char *text)
{
    lks_free(text);
}

enum lks_status lks_url_check(const char *url, struct lks_error *error)
{
    struct lks_url parsed;

    if (url == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    return lks_url_parse(url, &parsed, error);
}

static enum lks_status check_arguments(const char *url,
                                       const struct lks_options *options,
                                       const void *out,
                                       struct lks_error *error)
{
    if (url == NULL || out == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    return lks_options_check(options, error);
}

static enum lks_status connect_store(const char *url,
                                     const struct lks_options *options,
                                     const void *out,
                                     struct lks_store **out_store,
                                     struct lks_error *error)
{
    enum lks_status status = check_arguments(url, options, out, error);

    if (status != LKS_OK)
        return status;
    return lks_store_connect(url, lks_env_real(), options, out_store, error);
}

enum lks_status lks_store_open(const char *url,
                               const struct lks_options *options,
                               struct lks_store **out_store,
                               struct lks_error *error)
{
    return connect_store(url, options, out_store, out_store, error);
}

enum lks_status lks_stream_create(const char *url,
                                  uint32_t dp,
                                  uint32_t cp,
                                  const struct lks_options *options,
                                  struct lks_stream **out_stream,
                                  struct lks_error *error)
{
    struct lks_descriptor descriptor = {.dp = dp, .cp = cp};
    struct lks_store *store = NULL;
    enum lks_status status = lks_mesh_check(dp, cp, error);

    if (status == LKS_OK)
        status = check_arguments(url, options, out_stream, error);
    if (status == LKS_OK)
        status = lks_place_open(url, lks_env_real(), options, &store, error);
    if (status != LKS_OK)
        return status;
    descriptor.producers_to_end =
        (uint32_t)lks_options_number(options, LKS_OPTION_PRODUCERS);
    descriptor.max_live_steps =
        lks_options_number(options, LKS_OPTION_MAX_LIVE_STEPS);
    descriptor.max_live_bytes =
        lks_options_number(options, LKS_OPTION_MAX_LIVE_BYTES);
    status = lks_stream_make(store, &descriptor, out_stream, error);
    lks_descriptor_done(&descriptor);
    return status;
}

enum lks_status lks_stream_open(const char *url,
                                const struct lks_options *options,
                                struct lks_stream **out_stream,
                                struct lks_error *error)
{
    struct lks_store *store = NULL;
    enum lks_status status;

    status = connect_store(url, options, out_stream, &store, error);
    if (status != LKS_OK)
        return status;
    return lks_stream_load(store, out_stream, error);
}

uint32_t lks_stream_dp(const struct lks_stream *stream)
{
    return stream->descriptor.dp;
}

uint32_t lks_stream_cp(const struct lks_stream *stream)
{
    return stream->descriptor.cp;
}

const char *lks_stream_id(const struct lks_stream *stream)
{
    return stream->id_text;
}

static enum lks_status judge_seal(const struct lks_manifest *head,
                                  void *arg,
                                  bool *out_done,
                                  struct lks_error *error)
{
    (void)arg;
    (void)error;
    *out_done = lks_manifest_ended(head);
    return LKS_OK;
}

static enum lks_status apply_seal(struct lks_manifest *next,
                                  void *arg,
                                  struct lks_error *error)
{
    (void)arg;
    (void)error;
    lks_manifest_end(next);
    return LKS_OK;
}

enum lks_status lks_stream_seal(struct lks_stream *stream,
                                const struct lks_options *options,
                                struct lks_error *error)
{
    const struct lks_change change = {
        .what = "seal",
        .judge = judge_seal,
        .apply = apply_seal,
    };
    struct lks_log log;
    uint64_t timeout_ms;
    enum lks_status status;

    if (stream == NULL)
        return lks_error_set(error, LKS_INVALID, "an argument is NULL");
    status = lks_stream_check_fork(stream, error);
    if (status == LKS_OK)
        status = lks_options_check(options, error);
    if (status != LKS_OK)
        return status;
    timeout_ms = lks_options_number(options, LKS_OPTION_FLUSH_TIMEOUT_MS);
    lks_log_init(&log, stream, LKS_LOG_WHOLE, NULL);
    status =
        lks_log_change(&log, &change,
                       lks_env_deadline_ms(stream->env, timeout_ms), error);
    lks_log_done(&log);
    return status;
}
