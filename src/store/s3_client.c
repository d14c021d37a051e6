/*
 * A request on its way: its URL, its signature, its answer's meaning, and the
 * cures for what a server refuses to look at. docs/store.md, "Replies".
 */
#include "store/s3_client.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/trace.h"

#define URL_SIZE_MAX 8192u
#define ERROR_BODY_SIZE_MAX (64u << 10)
#define AUTHORIZATION_SIZE_MAX 2048u

/* A clock that is off by less is not why a request was refused. */
#define SKEW_MIN_MS 240000

/* What goes out, and has to live until it is out. */
struct outgoing {
    struct lks_keys keys;
    struct lks_buf url; /* ends with a NUL */
    struct lks_buf authorization;
    size_t path_at; /* within url */
    char host[LKS_S3_HOST_SIZE + 256];
    char region[LKS_REGION_SIZE];
    char date[LKS_SIGN_DATE_SIZE];
    struct lks_header headers[LKS_SIGN_HEADERS_MAX];
    size_t header_count;
};

void lks_s3_add_header(struct lks_s3_request *request,
                       const char *name,
                       const char *value)
{
    assert(request->header_count < LKS_S3_HEADERS_MAX);
    request->headers[request->header_count++] =
        (struct lks_header){name, value};
}

static void add(struct outgoing *out, const char *name, const char *value)
{
    assert(out->header_count < LKS_SIGN_HEADERS_MAX);
    out->headers[out->header_count++] = (struct lks_header){name, value};
}

/* The region and the server's time. */
static void look_at_locked_part(struct lks_s3 *s3, struct outgoing *out)
{
    int64_t now_ms = lks_env_wall_ms(s3->store.env);

    lks_monitor_enter(s3->store.env, s3->monitor);
    memcpy(out->region, s3->locked.region, sizeof(out->region));
    now_ms += s3->locked.clock_add_ms;
    lks_monitor_leave(s3->store.env, s3->monitor);
    lks_sign_date(now_ms, out->date);
}

static void write_host(const struct lks_s3 *s3, struct outgoing *out)
{
    char amazon[LKS_REGION_SIZE + 64];
    const char *host = s3->host;

    if (host[0] == '\0') {
        bool in_china = strncmp(out->region, "cn-", 3) == 0;

        snprintf(amazon, sizeof(amazon), "s3.%s.amazonaws.com%s", out->region,
                 in_china ? ".cn" : "");
        host = amazon;
    }
    snprintf(out->host, sizeof(out->host), "%s%s%s",
             s3->bucket_in_host ? s3->bucket : "",
             s3->bucket_in_host ? "." : "", host);
}

static enum lks_status write_url(const struct lks_s3 *s3,
                                 const struct lks_s3_request *request,
                                 struct outgoing *out,
                                 struct lks_error *error)
{
    struct lks_buf *url = &out->url;
    enum lks_status status;

    status =
        lks_buf_append_format(url, error, "%s://%s", s3->scheme, out->host);
    out->path_at = url->size;
    if (status == LKS_OK)
        status = lks_buf_append_format(url, error, "%s", s3->path);
    if (status == LKS_OK && (request->key != NULL || url->size == out->path_at))
        status = lks_buf_append(url, "/", 1, error);
    if (status == LKS_OK && request->key != NULL)
        status = lks_sign_encode(s3->prefix, true, url, error);
    if (status == LKS_OK && request->key != NULL)
        status = lks_sign_encode(request->key, true, url, error);
    if (status == LKS_OK)
        status = lks_buf_append(url, "", 1, error);
    return status;
}

static enum lks_status sign(struct lks_s3 *s3,
                            const struct lks_s3_request *request,
                            struct outgoing *out,
                            struct lks_error *error)
{
    struct lks_signing signing = {
        .method = request->method,
        .path = (const char *)out->url.data + out->path_at,
        .query = request->query != NULL ? request->query : "",
        .payload_hash = LKS_SIGN_UNSIGNED,
        .date = out->date,
        .region = out->region,
        .service = "s3",
        .access_key = out->keys.access_key,
        .secret_key = out->keys.secret_key,
    };
    enum lks_status status;

    status = lks_keychain_get(s3->keychain, request->cancel, &out->keys, error);
    if (status != LKS_OK)
        return status;
    add(out, "host", out->host);
    add(out, "x-amz-content-sha256", LKS_SIGN_UNSIGNED);
    add(out, "x-amz-date", out->date);
    if (out->keys.token[0] != '\0')
        add(out, "x-amz-security-token", out->keys.token);
    signing.headers = out->headers;
    signing.header_count = out->header_count;
    status = lks_sign(&signing, &out->authorization, error);
    if (status == LKS_OK)
        status = lks_buf_append(&out->authorization, "", 1, error);
    if (status == LKS_OK)
        add(out, "authorization", (const char *)out->authorization.data);
    return status;
}

static enum lks_status prepare(struct lks_s3 *s3,
                               const struct lks_s3_request *request,
                               struct outgoing *out,
                               struct lks_error *error)
{
    enum lks_status status;

    out->header_count = 0;
    lks_buf_clear(&out->url);
    lks_buf_clear(&out->authorization);
    look_at_locked_part(s3, out);
    write_host(s3, out);
    status = write_url(s3, request, out, error);
    if (status != LKS_OK)
        return status;

    for (size_t i = 0; i < request->header_count; i++)
        add(out, request->headers[i].name, request->headers[i].value);
    if (s3->keychain != NULL)
        status = sign(s3, request, out, error);
    if (status == LKS_OK && request->query != NULL) {
        out->url.size--;
        status = lks_buf_append_format(&out->url, error, "?%s", request->query);
        if (status == LKS_OK)
            status = lks_buf_append(&out->url, "", 1, error);
    }
    return status;
}

/* A refusal without a body: a HEAD's answer has none. */
static enum lks_s3_cure guess_cure(const struct lks_s3 *s3,
                                   const struct lks_http_reply *reply)
{
    int64_t skew_ms;

    if (reply->date_ms == INT64_MIN)
        return LKS_S3_KEYS;
    skew_ms = reply->date_ms - lks_env_wall_ms(s3->store.env);
    return skew_ms > SKEW_MIN_MS || skew_ms < -SKEW_MIN_MS ? LKS_S3_CLOCK
                                                           : LKS_S3_KEYS;
}

static void judge(struct lks_s3 *s3,
                  const struct lks_s3_request *request,
                  const struct lks_buf *text,
                  struct lks_s3_answer *answer)
{
    const struct lks_http_reply *reply = &answer->reply;

    lks_xml_failure(text->data, text->size, &answer->failure);
    if (reply->request_id[0] == '\0')
        memcpy(answer->reply.request_id, answer->failure.request_id,
               sizeof(answer->reply.request_id));
    answer->meaning =
        lks_s3_judge(request->op, reply->http, answer->failure.code);
    if ((reply->http == 403 || reply->http == 400) &&
        answer->failure.code[0] == '\0' && strcmp(request->method, "HEAD") == 0)
        answer->meaning.cure = guess_cure(s3, reply);
}

/* What an exchange without a whole reply means. */
static enum lks_status judge_silence(const struct lks_s3_request *request,
                                     struct lks_s3_answer *answer)
{
    bool read = request->op == LKS_S3_READ;

    answer->meaning =
        (struct lks_s3_meaning){LKS_UNAVAILABLE, LKS_S3_AGAIN, false};
    memset(&answer->failure, 0, sizeof(answer->failure));
    switch (answer->reply.end) {
    case LKS_HTTP_NO_MEMORY:
        answer->meaning.cure = LKS_S3_FINAL;
        answer->meaning.status = LKS_NO_MEMORY;
        break;
    case LKS_HTTP_CANCELLED:
        answer->meaning.cure = LKS_S3_FINAL;
        answer->meaning.status =
            read || !answer->reply.sent ? LKS_CANCELLED : LKS_UNSURE;
        break;
    case LKS_HTTP_BROKEN:
        if (!read)
            answer->meaning.status = LKS_UNSURE;
        break;
    case LKS_HTTP_NOT_SENT:
    case LKS_HTTP_WHOLE:
        break;
    }
    return answer->meaning.status;
}

static bool cure_clock(struct lks_s3 *s3, const struct lks_http_reply *reply)
{
    if (reply->date_ms == INT64_MIN)
        return false;
    lks_monitor_enter(s3->store.env, s3->monitor);
    s3->locked.clock_add_ms = reply->date_ms - lks_env_wall_ms(s3->store.env);
    lks_monitor_leave(s3->store.env, s3->monitor);
    return true;
}

static bool cure_region(struct lks_s3 *s3,
                        const struct lks_s3_answer *answer,
                        const struct outgoing *out)
{
    const char *region = answer->reply.region[0] != '\0'
                             ? answer->reply.region
                             : answer->failure.region;

    if (region[0] == '\0' || strcmp(region, out->region) == 0 ||
        strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") !=
            strlen(region))
        return false;
    lks_monitor_enter(s3->store.env, s3->monitor);
    snprintf(s3->locked.region, sizeof(s3->locked.region), "%s", region);
    lks_monitor_leave(s3->store.env, s3->monitor);
    return true;
}

/* Whether the request, which was refused unseen, deserves a second look. */
static bool cure(struct lks_s3 *s3,
                 const struct lks_s3_answer *answer,
                 const struct outgoing *out)
{
    switch (answer->meaning.cure) {
    case LKS_S3_KEYS:
        return s3->keychain != NULL &&
               lks_keychain_refused(s3->keychain, &out->keys);
    case LKS_S3_CLOCK:
        return cure_clock(s3, &answer->reply);
    case LKS_S3_REGION:
        return cure_region(s3, answer, out);
    case LKS_S3_FINAL:
    case LKS_S3_AGAIN:
        break;
    }
    return false;
}

static void exchange(struct lks_s3 *s3,
                     const struct lks_s3_request *request,
                     const struct outgoing *out,
                     struct lks_call *call,
                     struct lks_s3_answer *answer)
{
    struct lks_buf own;
    struct lks_http_request sent = {
        .method = request->method,
        .url = (const char *)out->url.data,
        .headers = out->headers,
        .header_count = out->header_count,
        .body = request->body,
        .data = request->data,
        .size = request->size,
        .text = request->text != NULL ? request->text : &own,
        .slow_answer = request->slow_answer,
        .timeout_ms = request->timeout_ms,
        .cancel = request->cancel,
    };
    uint64_t began_ns = lks_env_now_ns(s3->store.env);

    lks_buf_init(&own, ERROR_BODY_SIZE_MAX);
    lks_buf_clear(sent.text);
    lks_http_send(s3->http, &sent, &answer->reply);
    call->request_count++;
    if (answer->reply.date_ms != INT64_MIN)
        call->date_ms = answer->reply.date_ms;
    if (answer->reply.end == LKS_HTTP_WHOLE)
        judge(s3, request, sent.text, answer);
    else
        judge_silence(request, answer);
    lks_s3_watch(s3, began_ns, answer);
    call->throttled |= answer->meaning.throttled;
    LKS_TRACE(LKS_AREA_STORE, "%s %s http=%d %s%s %s", request->method,
              (const char *)out->url.data + out->path_at, answer->reply.http,
              answer->failure.code, answer->reply.reason,
              answer->reply.request_id);
    lks_buf_done(&own);
}

enum lks_status lks_s3_explain(const struct lks_s3_answer *answer,
                               enum lks_status status,
                               struct lks_error *error)
{
    const struct lks_http_reply *reply = &answer->reply;
    const struct lks_xml_failure *failure = &answer->failure;
    char tries[40] = "";
    char id[LKS_REQUEST_ID_SIZE + 16] = "";

    if (answer->try_count > 1)
        snprintf(tries, sizeof(tries), " after %" PRIu32 " tries",
                 answer->try_count);
    if (reply->request_id[0] != '\0')
        snprintf(id, sizeof(id), ", request id %s", reply->request_id);
    if (reply->end != LKS_HTTP_WHOLE)
        return lks_error_set(error, status, "%s: %s%s%s",
                             reply->sent ? "no whole reply" : "not sent",
                             reply->reason, tries, id);
    return lks_error_set(error, status, "HTTP %d%s%s%s%s%s%s", reply->http,
                         failure->code[0] != '\0' ? " " : "", failure->code,
                         tries, id, failure->message[0] != '\0' ? ": " : "",
                         failure->message);
}

enum lks_status lks_s3_send(struct lks_s3 *s3,
                            const struct lks_s3_request *request,
                            struct lks_call *call,
                            struct lks_s3_answer *out_answer,
                            struct lks_error *error)
{
    struct outgoing out;
    unsigned int cured = 0;
    enum lks_status status;

    lks_buf_init(&out.url, URL_SIZE_MAX);
    lks_buf_init(&out.authorization, AUTHORIZATION_SIZE_MAX);
    memset(out_answer, 0, sizeof(*out_answer));
    out_answer->try_count = 1;

    for (;;) {
        unsigned int bit;

        status = prepare(s3, request, &out, error);
        if (status != LKS_OK) {
            /* Nothing was sent. Keys may be there next time. */
            out_answer->meaning = (struct lks_s3_meaning){
                status, status == LKS_UNAVAILABLE ? LKS_S3_AGAIN : LKS_S3_FINAL,
                false};
            goto done;
        }
        exchange(s3, request, &out, call, out_answer);
        bit = 1u << out_answer->meaning.cure;
        if ((cured & bit) != 0 || !cure(s3, out_answer, &out))
            break;
        cured |= bit; /* Each only once. */
    }
    status = out_answer->meaning.status;
    if (status != LKS_OK)
        lks_s3_explain(out_answer, status, error);

done:
    explicit_bzero(&out.keys, sizeof(out.keys));
    lks_buf_done(&out.url);
    lks_buf_done(&out.authorization);
    return status;
}

enum lks_status lks_s3_send_again(struct lks_s3 *s3,
                                  const struct lks_s3_request *request,
                                  struct lks_call *call,
                                  struct lks_s3_answer *out_answer,
                                  struct lks_error *error)
{
    struct lks_retry retry;

    lks_retry_begin(&retry, s3->budget, s3->retry_timeout_ms);
    for (;;) {
        enum lks_status status =
            lks_s3_send(s3, request, call, out_answer, error);

        out_answer->try_count = retry.try_count;
        if (status == LKS_OK)
            lks_retry_succeeded(s3->budget);
        if (status == LKS_OK || out_answer->meaning.cure != LKS_S3_AGAIN)
            return status;
        if (lks_retry_wait(&retry, out_answer->meaning.throttled,
                           out_answer->reply.retry_after_ms, request->cancel))
            continue;
        if (lks_cancelled(request->cancel))
            return lks_error_set(error, LKS_CANCELLED, "cancelled");
        if (out_answer->reply.http != 0 || out_answer->reply.reason[0] != '\0')
            lks_s3_explain(out_answer, status, error);
        return status;
    }
}
