/*
 * Reading: ranges that are checked against what the reply says they are, taken
 * up where they broke off, and split when they are large. Within one call all
 * bytes are of one version of the object, by its tag.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/parallel.h"
#include "store/s3_client.h"

#define HEADER_SIZE 80u

/* Times that a reply may bring only a part and be gone on from at once. It is
 * no failure to count against the budget: each one brought something. */
#define MORE_MAX 32u

/* A range under way. */
struct range {
    const char *key;
    uint64_t offset;
    uint8_t *data;
    size_t size;
    size_t got;
    uint64_t total; /* the object's size, once something came */
    char etag[LKS_ETAG_SIZE];
    int64_t modified_ms;
};

/* What a try came to. */
enum outcome {
    OUTCOME_WHOLE,
    OUTCOME_MORE,   /* it brought something; go on from there at once */
    OUTCOME_FAILED, /* by its answer */
};

static void note_object(const struct lks_http_reply *reply,
                        struct lks_call *call)
{
    call->modified_ms = reply->modified_ms;
    memcpy(call->etag, reply->etag, sizeof(call->etag));
}

enum lks_status lks_s3_stat(struct lks_store *store,
                            const char *key,
                            struct lks_call *call,
                            struct lks_error *error)
{
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "HEAD",
        .key = key,
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    enum lks_status status;

    status = lks_s3_send_again((struct lks_s3 *)store, &request, call, &answer,
                               error);
    if (status != LKS_OK)
        return status;
    if (answer.reply.length == UINT64_MAX)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the store does not say how large it is");
    call->object_size = answer.reply.length;
    note_object(&answer.reply, call);
    return LKS_OK;
}

static size_t wanted(const struct range *range)
{
    uint64_t there =
        range->total > range->offset ? range->total - range->offset : 0;

    return there < range->size ? (size_t)there : range->size;
}

static void forget(struct range *range)
{
    range->got = 0;
    range->etag[0] = '\0';
}

/* Whether the reply is what the request asked for; sets `total`. */
static bool is_of_range(const struct range *range,
                        const struct lks_http_reply *reply,
                        uint64_t *total)
{
    if (reply->http == 200 && range->offset + range->got == 0) {
        *total = reply->length; /* All of it: it is smaller than the range. */
        return reply->length != UINT64_MAX;
    }
    *total = reply->range_total;
    return reply->http == 206 && reply->has_range &&
           reply->range_total != UINT64_MAX &&
           reply->range_first == range->offset + range->got;
}

/* Takes what a reply brought, be it whole or broken off. */
static enum outcome take_reply(struct range *range,
                               struct lks_s3_answer *answer)
{
    const struct lks_http_reply *reply = &answer->reply;
    uint64_t total;

    if (reply->http == 412 || reply->http == 416 ||
        (range->got > 0 && reply->http / 100 == 2 &&
         strcmp(reply->etag, range->etag) != 0)) {
        forget(range); /* Another version: none of what came counts. */
        return OUTCOME_FAILED;
    }
    if (reply->http / 100 != 2)
        return OUTCOME_FAILED;
    if (!is_of_range(range, reply, &total)) {
        snprintf(answer->reply.reason, sizeof(answer->reply.reason),
                 "not the range that was asked for");
        answer->reply.end = LKS_HTTP_BROKEN;
        return OUTCOME_FAILED;
    }
    range->total = total;
    range->got += reply->size;
    range->modified_ms = reply->modified_ms;
    memcpy(range->etag, reply->etag, sizeof(range->etag));
    if (range->got == wanted(range))
        return OUTCOME_WHOLE;
    return reply->size > 0 ? OUTCOME_MORE : OUTCOME_FAILED;
}

static enum lks_status send_range(struct lks_s3 *s3,
                                  struct range *range,
                                  struct lks_call *call,
                                  struct lks_s3_answer *answer,
                                  struct lks_error *error)
{
    uint64_t first = range->offset + range->got;
    uint64_t last = range->offset + range->size - 1;
    char bytes[HEADER_SIZE];
    char match[LKS_ETAG_SIZE + 2];
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "GET",
        .key = range->key,
        .data = range->data + range->got,
        .size = range->size - range->got,
        .cancel = call->cancel,
    };

    snprintf(bytes, sizeof(bytes), "bytes=%" PRIu64 "-%" PRIu64, first, last);
    lks_s3_add_header(&request, "range", bytes);
    if (range->etag[0] != '\0') {
        snprintf(match, sizeof(match), "\"%s\"", range->etag);
        lks_s3_add_header(&request, "if-match", match);
    }
    return lks_s3_send(s3, &request, call, answer, error);
}

/* A range that begins past the end: how large is it then? */
static enum lks_status past_end(struct lks_s3 *s3,
                                struct range *range,
                                struct lks_call *call,
                                bool *out_past,
                                struct lks_error *error)
{
    enum lks_status status = lks_s3_stat(&s3->store, range->key, call, error);

    if (status != LKS_OK)
        return status;
    *out_past = call->object_size <= range->offset;
    range->total = call->object_size;
    range->modified_ms = call->modified_ms;
    memcpy(range->etag, call->etag, sizeof(range->etag));
    return LKS_OK;
}

/* Whether a server that was asked for a part keeps on sending all. */
static bool ignores_ranges(const struct range *range,
                           const struct lks_http_reply *reply)
{
    return reply->http == 200 &&
           (range->offset > 0 ||
            (reply->length != UINT64_MAX && reply->length > range->size));
}

static enum lks_status read_range(struct lks_s3 *s3,
                                  struct range *range,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct lks_s3_answer answer;
    struct lks_retry retry;
    uint32_t more_count = 0;
    enum lks_status status;

    lks_retry_begin(&retry, s3->budget, s3->retry_timeout_ms);
    for (;;) {
        bool past = false;
        enum outcome outcome;

        status = send_range(s3, range, call, &answer, error);
        answer.try_count = retry.try_count;
        if (ignores_ranges(range, &answer.reply))
            return lks_error_set(error, LKS_UNSUPPORTED,
                                 "the store ignores the range of a read");
        outcome = take_reply(range, &answer);
        if (outcome == OUTCOME_WHOLE) {
            lks_retry_succeeded(s3->budget);
            return LKS_OK;
        }
        if (outcome == OUTCOME_MORE && more_count++ < MORE_MAX &&
            !lks_cancelled(call->cancel))
            continue;
        if (answer.reply.http == 416) {
            status = past_end(s3, range, call, &past, error);
            if (status != LKS_OK || past)
                return status;
            forget(range);
        } else if (status != LKS_OK && answer.meaning.cure != LKS_S3_AGAIN) {
            return status;
        }
        if (!lks_retry_wait(&retry, answer.meaning.throttled,
                            answer.reply.retry_after_ms, call->cancel))
            break;
    }
    if (lks_cancelled(call->cancel))
        return lks_error_set(error, LKS_CANCELLED, "cancelled");
    if (status != LKS_OK && answer.reply.http == 0 &&
        answer.reply.reason[0] == '\0')
        return status; /* It never came to a request. */
    return lks_s3_explain(&answer, LKS_UNAVAILABLE, error);
}

static void fill_call(const struct range *range, struct lks_call *call)
{
    call->object_size = range->total;
    call->modified_ms = range->modified_ms;
    memcpy(call->etag, range->etag, sizeof(call->etag));
}

struct split {
    struct lks_s3 *s3;
    const struct range *whole;
    const struct range *first; /* the others are as large */
};

static enum lks_status read_piece(size_t index,
                                  void *arg,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct split *split = arg;
    uint64_t piece_size = split->first->size;
    uint64_t skip = (index + 1) * piece_size;
    uint64_t left = wanted(split->whole) - skip;
    struct range piece = {
        .key = split->whole->key,
        .offset = split->whole->offset + skip,
        .data = split->whole->data + skip,
        .size = (size_t)(left < piece_size ? left : piece_size),
    };
    enum lks_status status;

    memcpy(piece.etag, split->first->etag, sizeof(piece.etag));
    status = read_range(split->s3, &piece, call, error);
    if (status != LKS_OK)
        return status;
    if (piece.got != piece.size || strcmp(piece.etag, split->first->etag) != 0)
        return lks_error_set(error, LKS_UNAVAILABLE,
                             "the object changed while it was read");
    return LKS_OK;
}

/* The first piece tells the object's size and tag; the rest follow at once. */
static enum lks_status read_split(struct lks_s3 *s3,
                                  struct range *whole,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct range first = *whole;
    struct split split = {s3, whole, &first};
    enum lks_status status;
    size_t count;

    first.size = (size_t)lks_piece_size(whole->size, s3->part_size);
    status = read_range(s3, &first, call, error);
    if (status != LKS_OK)
        return status;
    whole->total = first.total;
    whole->modified_ms = first.modified_ms;
    memcpy(whole->etag, first.etag, sizeof(whole->etag));
    whole->got = wanted(whole);
    if (whole->got <= first.got)
        return LKS_OK;
    count = (whole->got - 1) / first.size;
    return lks_parallel(s3->store.env, count, s3->part_workers, read_piece,
                        &split, call, error);
}

enum lks_status lks_s3_get(struct lks_store *store,
                           const char *key,
                           uint64_t offset,
                           void *data,
                           size_t size,
                           size_t *out_size,
                           struct lks_call *call,
                           struct lks_error *error)
{
    struct lks_s3 *s3 = (struct lks_s3 *)store;
    struct range range = {
        .key = key,
        .offset = offset,
        .data = data,
        .size = size,
    };
    enum lks_status status;

    assert(size > 0);

    if (size >= 2 * s3->part_size)
        status = read_split(s3, &range, call, error);
    else
        status = read_range(s3, &range, call, error);
    if (status != LKS_OK)
        return status;
    fill_call(&range, call);
    *out_size = range.got;
    return LKS_OK;
}
