/*
 * The public functions that look at a stream: check arguments, call inward.
 */
#include "inspect/inspect.h"

static enum lks_status check_stream(const struct lks_stream *stream,
                                    struct lks_error *error)
{
    if (stream == NULL)
        return lks_error_set(error, LKS_INVALID, "no stream was given");
    return lks_stream_check_fork(stream, error);
}

enum lks_status lks_stream_info(struct lks_stream *stream,
                                char **out_json,
                                struct lks_error *error)
{
    enum lks_status status = check_stream(stream, error);

    if (status != LKS_OK)
        return status;
    if (out_json == NULL)
        return lks_error_set(error, LKS_INVALID, "no place for the report");
    return lks_inspect_info(stream, out_json, error);
}

enum lks_status lks_stream_stats(struct lks_stream *stream,
                                 char **out_json,
                                 struct lks_error *error)
{
    enum lks_status status = check_stream(stream, error);

    if (status != LKS_OK)
        return status;
    return lks_store_stats(stream->store, out_json, error);
}

enum lks_status lks_stream_log(struct lks_stream *stream,
                               uint64_t from,
                               uint64_t to,
                               lks_line_fn *line,
                               void *arg,
                               struct lks_error *error)
{
    enum lks_status status = check_stream(stream, error);

    if (status != LKS_OK)
        return status;
    if (line == NULL)
        return lks_error_set(error, LKS_INVALID, "no function for the lines");
    return lks_inspect_walk(stream, from, to, line, arg, error);
}

enum lks_status lks_stream_verify(struct lks_stream *stream,
                                  int data,
                                  char **out_json,
                                  struct lks_error *error)
{
    enum lks_status status = check_stream(stream, error);

    if (status != LKS_OK)
        return status;
    if (out_json == NULL)
        return lks_error_set(error, LKS_INVALID, "no place for the report");
    return lks_inspect_verify(stream, data != 0, out_json, error);
}
