/*
 * HTTP by libcurl: a stack of kept connections, one per request under way, each
 * an easy handle in a multi handle of its own. So a call can watch the wish to
 * cancel, and time limits that libcurl does not know, while it waits.
 *
 * libcurl repeats a request by itself when a kept connection turns out to be
 * dead. It must not: a PUT that was carried out may have killed it. So the
 * second time that a request is about to be sent, it is stopped.
 */
#include "store/s3_http.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "base/alloc.h"

#define LOOK_MS 50          /* how often a waiting call looks at its limits */
#define LINE_SIZE_MAX 9216u /* a header, with a session token in it */
#define IDLE_MAX 128u       /* connections kept for later */
#define SOCKET_BUFFER_SIZE (256L << 10)
#define SLOW_BYTES_PER_S 1024L
#define USER_AGENT "lakestream/0.1"

struct connection {
    CURL *easy;
    CURLM *multi;
    curl_socket_t socket; /* the last one that was opened for it */
};

struct lks_http {
    const struct lks_env *env;
    struct lks_http_limits limits;
    char *ca_bundle;
    struct lks_monitor *monitor;
    struct {
        struct connection idle[IDLE_MAX];
        size_t idle_count;
    } locked;
};

/* One exchange, as the callbacks see it. */
struct exchange {
    struct lks_http *http;
    const struct lks_http_request *request;
    struct lks_http_reply *reply;
    CURL *easy;
    curl_socket_t *socket; /* the connection's */
    struct curl_slist *headers;
    /* The place in the body. */
    size_t part;
    size_t part_offset;
    uint64_t body_left;
    uint64_t sent_ns; /* when the last byte was handed over; 0: not yet */
    bool began;       /* it was about to be sent */
    bool answered;    /* a status line came */
    bool overflowed;
    enum lks_status text_status;
    char curl_error[CURL_ERROR_SIZE];
};

enum lks_status lks_http_new(const struct lks_env *env,
                             const struct lks_http_limits *limits,
                             struct lks_http **out_http,
                             struct lks_error *error)
{
    struct lks_http *http = lks_alloc_zero(1, sizeof(*http));
    enum lks_status status = LKS_OK;

    if (http == NULL)
        return lks_error_no_memory(error);
    http->env = env;
    http->limits = *limits;
    if (limits->ca_bundle != NULL && limits->ca_bundle[0] != '\0') {
        http->ca_bundle = lks_text_dup(limits->ca_bundle);
        if (http->ca_bundle == NULL)
            status = lks_error_no_memory(error);
    }
    if (status == LKS_OK)
        status = lks_monitor_new(env, &http->monitor, error);
    if (status == LKS_OK && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        status = lks_error_set(error, LKS_NO_MEMORY, "libcurl does not start");
    if (status != LKS_OK) {
        lks_monitor_free(env, http->monitor);
        lks_free(http->ca_bundle);
        lks_free(http);
        return status;
    }
    *out_http = http;
    return LKS_OK;
}

static void connection_done(struct connection *connection)
{
    curl_easy_cleanup(connection->easy);
    curl_multi_cleanup(connection->multi);
}

void lks_http_free(struct lks_http *http)
{
    if (http == NULL)
        return;
    for (size_t i = 0; i < http->locked.idle_count; i++)
        connection_done(&http->locked.idle[i]);
    lks_monitor_free(http->env, http->monitor);
    curl_global_cleanup();
    lks_free(http->ca_bundle);
    lks_free(http);
}

/* The one used last, since it is the least likely to be dead. */
static bool take_connection(struct lks_http *http, struct connection *taken)
{
    bool found;

    lks_monitor_enter(http->env, http->monitor);
    found = http->locked.idle_count > 0;
    if (found)
        *taken = http->locked.idle[--http->locked.idle_count];
    lks_monitor_leave(http->env, http->monitor);
    if (found)
        return true;

    taken->socket = CURL_SOCKET_BAD;
    taken->easy = curl_easy_init();
    taken->multi = curl_multi_init();
    if (taken->easy != NULL && taken->multi != NULL)
        return true;
    connection_done(taken);
    return false;
}

static void keep_connection(struct lks_http *http, struct connection *used)
{
    bool kept;

    lks_monitor_enter(http->env, http->monitor);
    kept = http->locked.idle_count < IDLE_MAX;
    if (kept)
        http->locked.idle[http->locked.idle_count++] = *used;
    lks_monitor_leave(http->env, http->monitor);
    if (!kept)
        connection_done(used);
}

/* ------------------------------------------------------- what is sent -- */

static void start_body(struct exchange *exchange)
{
    const struct lks_body *body = exchange->request->body;
    uint64_t skip = body != NULL ? body->offset : 0;

    exchange->body_left = body != NULL ? body->size : 0;
    while (body != NULL && exchange->part < body->part_count &&
           skip >= body->parts[exchange->part].size) {
        skip -= body->parts[exchange->part].size;
        exchange->part++;
    }
    exchange->part_offset = (size_t)skip;
}

static size_t read_body(char *data, size_t unit, size_t count, void *arg)
{
    struct exchange *exchange = arg;
    size_t room = unit * count;
    size_t size = 0;

    while (size < room && exchange->body_left > 0) {
        const struct lks_part *part =
            &exchange->request->body->parts[exchange->part];
        size_t piece = part->size - exchange->part_offset;

        if (piece > room - size)
            piece = room - size;
        if (piece > exchange->body_left)
            piece = (size_t)exchange->body_left;
        if (piece > 0)
            memcpy(data + size,
                   (const char *)part->data + exchange->part_offset, piece);
        size += piece;
        exchange->body_left -= piece;
        exchange->part_offset += piece;
        if (exchange->part_offset == part->size) {
            exchange->part++;
            exchange->part_offset = 0;
        }
    }
    if (exchange->body_left == 0)
        exchange->sent_ns = lks_env_now_ns(exchange->http->env);
    return size;
}

/* Called when a connection is there, right before the request goes out. */
static int before_request(
    void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct exchange *exchange = arg;

    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    if (exchange->began)
        return CURL_PREREQFUNC_ABORT;
    exchange->began = true;
    if (exchange->body_left == 0)
        exchange->sent_ns = lks_env_now_ns(exchange->http->env);
    return CURL_PREREQFUNC_OK;
}

/* ------------------------------------------------------- what comes back -- */

static int note_socket(void *arg, curl_socket_t socket, curlsocktype purpose)
{
    struct exchange *exchange = arg;

    (void)purpose;
    *exchange->socket = socket;
    return CURL_SOCKOPT_OK;
}

/*
 * Some servers send a head and then its body in two small packets, and hold the
 * second back until the first is acknowledged, which a receiver puts off for
 * 40 ms. Ceph's gateway does. So the head is acknowledged as it comes.
 */
static void acknowledge(struct exchange *exchange)
{
    int on = 1;

    if (*exchange->socket != CURL_SOCKET_BAD)
        setsockopt(*exchange->socket, IPPROTO_TCP, TCP_QUICKACK, &on,
                   sizeof(on));
}

static size_t read_header(char *data, size_t unit, size_t count, void *arg)
{
    struct exchange *exchange = arg;
    size_t size = unit * count;
    char line[512];
    size_t length = size < sizeof(line) ? size : sizeof(line) - 1;

    memcpy(line, data, length);
    line[length] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, "HTTP/", 5) == 0) {
        const char *code = strchr(line, ' ');

        lks_http_reply_clear(
            exchange->reply); /* A "100 Continue" came before. */
        exchange->reply->http = code != NULL ? (int)strtol(code, NULL, 10) : 0;
        exchange->answered = exchange->reply->http >= 200;
        acknowledge(exchange);
    } else {
        lks_http_reply_take(exchange->reply, line);
    }
    return size;
}

static size_t read_reply(char *data, size_t unit, size_t count, void *arg)
{
    struct exchange *exchange = arg;
    const struct lks_http_request *request = exchange->request;
    struct lks_http_reply *reply = exchange->reply;
    size_t size = unit * count;

    if (request->data != NULL && reply->http / 100 == 2) {
        if (size > request->size - reply->size) {
            exchange->overflowed = true;
            return CURL_WRITEFUNC_ERROR;
        }
        memcpy((char *)request->data + reply->size, data, size);
        reply->size += size;
        return size;
    }
    if (request->text == NULL)
        return size;
    exchange->text_status = lks_buf_append(request->text, data, size, NULL);
    return exchange->text_status == LKS_OK ? size : CURL_WRITEFUNC_ERROR;
}

/* ---------------------------------------------------------- the exchange -- */

static bool add_header(struct exchange *exchange,
                       const char *name,
                       const char *value)
{
    char line[LINE_SIZE_MAX];
    /* "name;" is how libcurl is told to send an empty one. */
    int size = snprintf(line, sizeof(line), "%s%s%s", name,
                        value[0] == '\0' ? ";" : ": ", value);
    struct curl_slist *longer;

    if (size >= (int)sizeof(line))
        return false;
    longer = curl_slist_append(exchange->headers, line);
    if (longer == NULL)
        return false;
    exchange->headers = longer;
    return true;
}

static bool set_headers(struct exchange *exchange)
{
    const struct lks_http_request *request = exchange->request;

    for (size_t i = 0; i < request->header_count; i++) {
        if (strcmp(request->headers[i].name, "host") != 0 &&
            !add_header(exchange, request->headers[i].name,
                        request->headers[i].value))
            return false;
    }
    /* Waiting for "100 Continue" would cost each write a round trip. */
    exchange->headers = curl_slist_append(exchange->headers, "Expect:");
    return exchange->headers != NULL;
}

static void set_method(struct exchange *exchange)
{
    const struct lks_http_request *request = exchange->request;
    CURL *easy = exchange->easy;

    if (request->body != NULL) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                         (curl_off_t)request->body->size);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    } else if (strcmp(request->method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    }
}

static void set_limits(struct exchange *exchange)
{
    const struct lks_http_limits *limits = &exchange->http->limits;
    CURL *easy = exchange->easy;

    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)limits->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(exchange->request->timeout_ms > 0
                                ? exchange->request->timeout_ms
                                : limits->total_timeout_ms));
    if (!exchange->request->slow_answer) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_PER_S);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                         (long)(limits->stall_timeout_ms + 999) / 1000);
    }
    /* Without it, giving up waits for a name server that does not answer. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
}

static void set_up(struct exchange *exchange)
{
    CURL *easy = exchange->easy;

    curl_easy_setopt(easy, CURLOPT_URL, exchange->request->url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, USER_AGENT);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->curl_error);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, read_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, read_reply);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, note_socket);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, SOCKET_BUFFER_SIZE);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, SOCKET_BUFFER_SIZE);
    if (exchange->http->ca_bundle != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, exchange->http->ca_bundle);
    if (exchange->http->limits.no_proxy)
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    set_method(exchange);
    set_limits(exchange);
}

/* Whether the answer has been due for too long. */
static bool is_late(const struct exchange *exchange)
{
    uint64_t limit_ms = exchange->http->limits.first_byte_timeout_ms;

    if (exchange->answered || exchange->sent_ns == 0 ||
        exchange->request->slow_answer)
        return false;
    return lks_env_now_ns(exchange->http->env) - exchange->sent_ns >
           limit_ms * LKS_NS_PER_MS;
}

/* Runs until libcurl is done with it, or we are: then false. */
static bool run(struct exchange *exchange,
                CURLM *multi,
                enum lks_http_end *out_end,
                CURLcode *out_result)
{
    int running = 1;
    int left;
    CURLMsg *message;

    for (;;) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            break;
        if (running == 0)
            break;
        if (lks_cancelled(exchange->request->cancel)) {
            *out_end = LKS_HTTP_CANCELLED;
            snprintf(exchange->curl_error, CURL_ERROR_SIZE, "cancelled");
            return false;
        }
        if (is_late(exchange)) {
            snprintf(exchange->curl_error, CURL_ERROR_SIZE,
                     "no answer in %llu ms",
                     (unsigned long long)
                         exchange->http->limits.first_byte_timeout_ms);
            return false;
        }
        if (curl_multi_poll(multi, NULL, 0, LOOK_MS, NULL) != CURLM_OK)
            break;
    }
    *out_result = CURLE_FAILED_INIT;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE)
            *out_result = message->data.result;
    }
    return true;
}

static bool is_astray(CURLcode result)
{
    return result == CURLE_COULDNT_RESOLVE_HOST ||
           result == CURLE_SSL_CONNECT_ERROR ||
           result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CACERT_BADFILE;
}

/* libcurl quotes a proxy's address whole, with the password in it. */
static bool quotes_proxy(const char *text, CURLcode result)
{
    static const char unsupported[] = "Unsupported proxy";

    return strncmp(text, unsupported, sizeof(unsupported) - 1) == 0 ||
           (result == CURLE_COULDNT_RESOLVE_PROXY && strchr(text, '\''));
}

static void conclude(struct exchange *exchange, CURLcode result)
{
    struct lks_http_reply *reply = exchange->reply;

    if (exchange->overflowed)
        snprintf(exchange->curl_error, CURL_ERROR_SIZE,
                 "more bytes than were asked for");
    if (exchange->text_status != LKS_OK)
        snprintf(exchange->curl_error, CURL_ERROR_SIZE,
                 "a reply larger than any should be");
    if (exchange->curl_error[0] == '\0' && result != CURLE_OK)
        snprintf(exchange->curl_error, CURL_ERROR_SIZE, "%s",
                 curl_easy_strerror(result));
    if (quotes_proxy(exchange->curl_error, result))
        snprintf(
            exchange->curl_error, CURL_ERROR_SIZE,
            "the proxy's address (HTTPS_PROXY or its like) is none that can "
            "be used");
    reply->astray = is_astray(result);
    /* Refused before all was sent: an answer all the same. */
    if (result == CURLE_OK)
        reply->end = LKS_HTTP_WHOLE;
    else if (result == CURLE_OUT_OF_MEMORY && !exchange->began)
        reply->end = LKS_HTTP_NO_MEMORY;
}

void lks_http_send(struct lks_http *http,
                   const struct lks_http_request *request,
                   struct lks_http_reply *out_reply)
{
    struct exchange exchange = {
        .http = http,
        .request = request,
        .reply = out_reply,
    };
    struct connection connection = {NULL, NULL, CURL_SOCKET_BAD};
    enum lks_http_end end = LKS_HTTP_BROKEN;
    CURLcode result = CURLE_OK;

    lks_http_reply_clear(out_reply);
    out_reply->end = LKS_HTTP_NO_MEMORY;
    if (!take_connection(http, &connection))
        return;
    exchange.easy = connection.easy;
    exchange.socket = &connection.socket;
    start_body(&exchange);
    if (!set_headers(&exchange))
        goto done;
    set_up(&exchange);

    if (curl_multi_add_handle(connection.multi, connection.easy) != CURLM_OK)
        goto done;
    if (run(&exchange, connection.multi, &end, &result)) {
        out_reply->end = LKS_HTTP_BROKEN;
        conclude(&exchange, result);
    } else {
        out_reply->end = end;
    }
    curl_multi_remove_handle(connection.multi, connection.easy);
    out_reply->sent = exchange.began;
    if (out_reply->end == LKS_HTTP_BROKEN && !exchange.began)
        out_reply->end = LKS_HTTP_NOT_SENT;
    snprintf(out_reply->reason, sizeof(out_reply->reason), "%s",
             exchange.curl_error);

done:
    curl_slist_free_all(exchange.headers);
    curl_easy_reset(connection.easy);
    keep_connection(http, &connection);
}
