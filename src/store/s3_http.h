/*
 * One HTTP exchange over a kept connection: what is sent, what came back, and
 * if nothing did, how far the request had got.
 */
#ifndef LKS_STORE_S3_HTTP_H
#define LKS_STORE_S3_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/env.h"
#include "store/s3_sign.h"
#include "store/store.h"

#define LKS_REQUEST_ID_SIZE 80u
#define LKS_REGION_SIZE 64u
#define LKS_HTTP_REASON_SIZE 256u

struct lks_http_limits {
    uint64_t connect_timeout_ms;
    uint64_t first_byte_timeout_ms; /* from the last byte sent */
    uint64_t stall_timeout_ms;      /* without 1 KiB per second */
    uint64_t total_timeout_ms;
    const char *ca_bundle; /* a file; NULL or "": the system's */
    bool no_proxy;         /* whatever the environment says */
};

/* A window of an object's bytes: `size` of them from `offset` on. */
struct lks_body {
    const struct lks_part *parts;
    size_t part_count;
    uint64_t offset;
    uint64_t size;
};

struct lks_http_request {
    const char *method;
    const char *url;
    const struct lks_header *headers;
    size_t header_count;
    const struct lks_body *body; /* NULL: none */
    /* A 2xx reply's body goes to `data`, which it must not outgrow. NULL: to
     * `text`, as all other replies' do. */
    void *data;
    size_t size;
    struct lks_buf *text;
    /* The answer may take as long as all of the request may. */
    bool slow_answer;
    uint64_t timeout_ms; /* for all of it; 0: as the limits say */
    const struct lks_cancel *cancel;
};

enum lks_http_end {
    LKS_HTTP_WHOLE,     /* there is a complete reply */
    LKS_HTTP_NOT_SENT,  /* no connection: the request reached nobody */
    LKS_HTTP_BROKEN,    /* sent, and no reply, or only a part of one */
    LKS_HTTP_CANCELLED, /* the same, as the caller wished */
    LKS_HTTP_NO_MEMORY, /* not sent */
};

struct lks_http_reply {
    enum lks_http_end end;
    bool sent;   /* some of it may have reached the server */
    bool astray; /* no such host, or none that speaks TLS as it must */
    char reason[LKS_HTTP_REASON_SIZE]; /* of an end that is not WHOLE */

    int http;    /* 200, 404, ...; 0 without a status line */
    size_t size; /* bytes written to `data` */
    /* Content-Length, UINT64_MAX if it was not said. */
    uint64_t length;
    /* Content-Range, if has_range; its total is UINT64_MAX for '*'. */
    bool has_range;
    uint64_t range_first;
    uint64_t range_total;
    int64_t date_ms; /* INT64_MIN: not said */
    int64_t modified_ms;
    uint64_t retry_after_ms;
    char etag[LKS_ETAG_SIZE]; /* without its quotes */
    char request_id[LKS_REQUEST_ID_SIZE];
    char region[LKS_REGION_SIZE];
};

/* As before anything was received. */
void lks_http_reply_clear(struct lks_http_reply *reply);

/* Takes one line of a reply's head, which it changes, if it is one to know. */
void lks_http_reply_take(struct lks_http_reply *reply, char *line);

/* "Sun, 29 Nov 2026 18:25:13 GMT" in Unix milliseconds; INT64_MIN for what is
 * none. Whatever the program's locale is. */
int64_t lks_http_date(const char *text);

struct lks_http; /* connections that are kept */

enum lks_status lks_http_new(const struct lks_env *env,
                             const struct lks_http_limits *limits,
                             struct lks_http **out_http,
                             struct lks_error *error);
void lks_http_free(struct lks_http *http);

/* Sends once and never again, whatever happens. */
void lks_http_send(struct lks_http *http,
                   const struct lks_http_request *request,
                   struct lks_http_reply *out_reply);

#endif
