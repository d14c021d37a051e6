/*
 * Signature Version 4: a request, a moment and keys become the value of its
 * Authorization header. Pure; held to Amazon's published examples.
 *
 * libcurl can sign too, but the 7.88 of Debian 12 signs a query in the order
 * it was given, while the standard wants it sorted (docs/store.md, "Signing").
 */
#ifndef LKS_STORE_S3_SIGN_H
#define LKS_STORE_S3_SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define LKS_SIGN_HEADERS_MAX 16u
#define LKS_SIGN_QUERY_MAX 16u
#define LKS_SIGN_DATE_SIZE 17u /* 20130524T000000Z and the NUL */

/* For bodies that TLS or a checksum header protects. */
#define LKS_SIGN_UNSIGNED "UNSIGNED-PAYLOAD"

struct lks_header {
    const char *name; /* in lower case */
    const char *value;
};

struct lks_signing {
    const char *method;
    const char *path;  /* as it is sent: encoded, from the first slash on */
    const char *query; /* as it is sent, without the '?'; "" for none */
    const struct lks_header *headers; /* in any order; all get signed */
    size_t header_count;
    const char *payload_hash;
    const char *date; /* of lks_sign_date(), also in header x-amz-date */
    const char *region;
    const char *service;
    const char *access_key;
    const char *secret_key;
};

/* "20130524T000000Z" */
void lks_sign_date(int64_t wall_ms, char date[LKS_SIGN_DATE_SIZE]);

/* Appends the header's value, without a NUL. */
enum lks_status lks_sign(const struct lks_signing *signing,
                         struct lks_buf *out,
                         struct lks_error *error);

/* Appends `text`, with %XX for all but [A-Za-z0-9._~-], and '/' if kept. */
enum lks_status lks_sign_encode(const char *text,
                                bool keep_slashes,
                                struct lks_buf *out,
                                struct lks_error *error);

#endif
