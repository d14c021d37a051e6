/*
 * The S3 client inside: one bucket, one prefix, and how a request gets there.
 */
#ifndef LKS_STORE_S3_CLIENT_H
#define LKS_STORE_S3_CLIENT_H

#include "store/credentials.h"
#include "store/retry.h"
#include "store/s3_http.h"
#include "store/s3_reply.h"
#include "store/s3_xml.h"
#include "store/store.h"

#define LKS_S3_REPLY_SIZE_MAX (8u << 20) /* of a listing's XML */
#define LKS_S3_HEADERS_MAX 6u
#define LKS_S3_HOST_SIZE 512u
#define LKS_S3_PREFIX_SIZE (3u * LKS_KEY_SIZE_MAX + 3072u) /* encoded */
#define LKS_S3_SINGLE_SIZE_MAX (UINT64_C(5) << 30)         /* of one PUT */
#define LKS_S3_PART_COUNT_MAX 10000u
#define LKS_S3_RAW_KEY_SIZE 1025u /* of foreign keys too: S3's own limit */
#define LKS_S3_MARKER_SIZE 1025u  /* a key or an upload's id */

struct lks_s3 {
    struct lks_store store;
    struct lks_http *http;
    struct lks_retry_budget *budget;
    struct lks_keychain *keychain; /* NULL: anonymous */

    /* Where it is: scheme://host + path + /prefix + key. */
    char scheme[8];
    char host[LKS_S3_HOST_SIZE]; /* "": Amazon's, by the region */
    char path[LKS_S3_HOST_SIZE]; /* of the endpoint, then /bucket if need be */
    char bucket[256];
    char prefix[1024]; /* "" or with a '/' at its end; not encoded */
    bool bucket_in_host;

    bool send_checksum;
    uint64_t multipart_size; /* larger objects go up in parts */
    uint64_t part_size;
    uint32_t part_workers;
    uint64_t retry_timeout_ms;

    struct lks_monitor *monitor;
    struct {
        char region[LKS_REGION_SIZE];
        int64_t clock_add_ms; /* the server's clock is ahead by this */
        bool reached;         /* it has answered something */
        bool down;            /* since it last did anything for us */
        bool told;
        uint64_t down_since_ns;
    } locked;
};

struct lks_s3_request {
    enum lks_s3_op op;
    const char *method;
    const char *key;   /* below the prefix; NULL: the bucket */
    const char *query; /* encoded; NULL: none */
    struct lks_header headers[LKS_S3_HEADERS_MAX];
    size_t header_count;
    const struct lks_body *body;
    void *data; /* as in struct lks_http_request */
    size_t size;
    struct lks_buf *text;
    bool slow_answer;
    uint64_t timeout_ms;
    const struct lks_cancel *cancel;
};

struct lks_s3_answer {
    struct lks_http_reply reply;
    struct lks_xml_failure failure;
    struct lks_s3_meaning meaning;
    uint32_t try_count;
};

void lks_s3_add_header(struct lks_s3_request *request,
                       const char *name,
                       const char *value);

/* Sends once; only what was refused unseen is cured and sent once more. */
enum lks_status lks_s3_send(struct lks_s3 *s3,
                            const struct lks_s3_request *request,
                            struct lks_call *call,
                            struct lks_s3_answer *out_answer,
                            struct lks_error *error);

/* For requests that may be repeated: until it is answered or given up. */
enum lks_status lks_s3_send_again(struct lks_s3 *s3,
                                  const struct lks_s3_request *request,
                                  struct lks_call *call,
                                  struct lks_s3_answer *out_answer,
                                  struct lks_error *error);

/* Sets the message that tells of this answer; returns `status`. */
enum lks_status lks_s3_explain(const struct lks_s3_answer *answer,
                               enum lks_status status,
                               struct lks_error *error);

/* After each answer: tells the log once of a store that is down for long, and
 * takes the hope (LKS_S3_AGAIN) from one that never was where we look. */
void lks_s3_watch(struct lks_s3 *s3,
                  uint64_t began_ns,
                  struct lks_s3_answer *answer);

/* The operations, one file each. */
enum lks_status lks_s3_get(struct lks_store *store,
                           const char *key,
                           uint64_t offset,
                           void *data,
                           size_t size,
                           size_t *out_size,
                           struct lks_call *call,
                           struct lks_error *error);
enum lks_status lks_s3_stat(struct lks_store *store,
                            const char *key,
                            struct lks_call *call,
                            struct lks_error *error);
enum lks_status lks_s3_put(struct lks_store *store,
                           const char *key,
                           const struct lks_part *parts,
                           size_t part_count,
                           bool only_if_absent,
                           struct lks_call *call,
                           struct lks_error *error);
enum lks_status lks_s3_list(struct lks_store *store,
                            const char *prefix,
                            const char *after,
                            size_t max,
                            struct lks_listed *listed,
                            size_t *out_count,
                            struct lks_call *call,
                            struct lks_error *error);
enum lks_status lks_s3_remove(struct lks_store *store,
                              const char *const *keys,
                              size_t key_count,
                              struct lks_call *call,
                              struct lks_error *error);

enum lks_status lks_s3_uploads(struct lks_store *store,
                               const char *prefix,
                               const struct lks_upload *after,
                               size_t max,
                               struct lks_upload *uploads,
                               size_t *out_count,
                               struct lks_call *call,
                               struct lks_error *error);
enum lks_status lks_s3_abort(struct lks_store *store,
                             const struct lks_upload *upload,
                             struct lks_call *call,
                             struct lks_error *error);

/* A listing under way. */
struct lks_s3_pages {
    struct lks_s3 *s3;
    size_t query_size_max;
    size_t max;
    size_t count;       /* found so far; `ended` counts */
    bool truncated;     /* so the page says; `ended` reads it */
    const char *marker; /* the page's last, which `ended` keeps */

    /* The next page's, in order of its names as signing wants it. */
    enum lks_status (*write_query)(struct lks_buf *query,
                                   void *arg,
                                   struct lks_error *error);
    /* What must be known before the first element; may be NULL. */
    void (*begin)(const struct lks_buf *text, void *arg);
    lks_xml_fn *ended;
    void *arg;
};

/* Asks for pages until there is enough, or no more. */
enum lks_status lks_s3_read_pages(struct lks_s3_pages *pages,
                                  struct lks_call *call,
                                  struct lks_error *error);

/* A key as listings have it under encoding-type=url; false for what is no
 * encoding or holds a NUL. */
bool lks_s3_decode_key(const char *text, char *key, size_t key_size);

/* Uploads in parts, several at a time; aborted if it fails. */
enum lks_status lks_s3_put_parts(struct lks_s3 *s3,
                                 const char *key,
                                 const struct lks_body *body,
                                 struct lks_call *call,
                                 struct lks_error *error);

/* "x-amz-checksum-crc32c"'s value for these bytes. */
#define LKS_S3_CHECKSUM_SIZE 9u
void lks_s3_checksum(const struct lks_body *body,
                     char text[LKS_S3_CHECKSUM_SIZE]);

#endif
