/*
 * What a reply means: one table, by the HTTP status and the error code in it.
 */
#ifndef LKS_STORE_S3_REPLY_H
#define LKS_STORE_S3_REPLY_H

#include <stdbool.h>

#include "base/error.h"

enum lks_s3_op {
    LKS_S3_READ, /* and all that changes nothing anybody sees */
    LKS_S3_PUT,
    LKS_S3_CREATE,
    LKS_S3_REMOVE,
};

/* What may help. The last three: the request was refused unseen, so it may be
 * sent once more, whatever it was. */
enum lks_s3_cure {
    LKS_S3_FINAL,  /* nothing will */
    LKS_S3_AGAIN,  /* time: a read is tried again */
    LKS_S3_KEYS,   /* fresh credentials */
    LKS_S3_CLOCK,  /* a signature with the server's date */
    LKS_S3_REGION, /* asking another region */
};

struct lks_s3_meaning {
    enum lks_status status; /* when there is no cure */
    enum lks_s3_cure cure;
    bool throttled;
};

/* `code` is "" where the reply named none. */
struct lks_s3_meaning lks_s3_judge(enum lks_s3_op op,
                                   int http,
                                   const char *code);

#endif
