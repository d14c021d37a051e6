/*
 * Where a stream lives: file:///folder, mem://name, s3://bucket/prefix. A plain
 * path counts as file://.
 */
#ifndef LKS_BASE_URL_H
#define LKS_BASE_URL_H

#include "base/error.h"

#define LKS_URL_SIZE_MAX 1024u

enum lks_url_kind {
    LKS_URL_FILE, /* `path` is absolute or relative to the working folder */
    LKS_URL_MEM,  /* `authority` is the name */
    LKS_URL_S3,   /* `authority` is the bucket, `path` the prefix or empty */
};

struct lks_url {
    enum lks_url_kind kind;
    char authority[256];
    char path[LKS_URL_SIZE_MAX]; /* without a slash at its end */
};

/* LKS_INVALID says what is wrong and which kinds there are. */
enum lks_status lks_url_parse(const char *text,
                              struct lks_url *out_url,
                              struct lks_error *error);

#endif
