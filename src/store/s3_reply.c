/*
 * The table of replies. docs/store.md, "Replies", is this table in words; the
 * first row that fits counts.
 */
#include "store/s3_reply.h"

#include <assert.h>
#include <string.h>

#define ANY NULL
#define ALL (-1) /* an HTTP status: every one; 4xx: see CLASS */
#define CLASS(n) (-100 * (n))

struct row {
    int http;
    const char *code;
    /* A read, a put, a create, a removal. */
    enum lks_status status[4];
    enum lks_s3_cure cure;
    bool throttled;
};

#define SAME(status)                                                           \
    {                                                                          \
        status, status, status, status                                         \
    }
#define READ_ELSE(read, write)                                                 \
    {                                                                          \
        read, write, write, write                                              \
    }
#define UNKNOWN READ_ELSE(LKS_UNAVAILABLE, LKS_UNSURE)

/* On create: the object is there. Anything else sent no condition. */
#define THERE                                                                  \
    {                                                                          \
        LKS_UNAVAILABLE, LKS_UNSUPPORTED, LKS_EXISTS, LKS_UNSUPPORTED          \
    }

static const struct row rows[] = {
    /* Refused unseen, and curable. Amazon says 400 for an old token. */
    {ALL, "ExpiredToken", SAME(LKS_DENIED), LKS_S3_KEYS, false},
    {ALL, "ExpiredTokenException", SAME(LKS_DENIED), LKS_S3_KEYS, false},
    {ALL, "TokenRefreshRequired", SAME(LKS_DENIED), LKS_S3_KEYS, false},
    {ALL, "InvalidToken", SAME(LKS_DENIED), LKS_S3_KEYS, false},
    {ALL, "InvalidAccessKeyId", SAME(LKS_DENIED), LKS_S3_KEYS, false},
    {ALL, "RequestTimeTooSkewed", SAME(LKS_DENIED), LKS_S3_CLOCK, false},
    {ALL, "RequestExpired", SAME(LKS_DENIED), LKS_S3_CLOCK, false},
    {ALL, "AuthorizationHeaderMalformed", SAME(LKS_DENIED), LKS_S3_REGION,
     false},
    {301, ANY, SAME(LKS_INVALID), LKS_S3_REGION, false},
    {302, ANY, SAME(LKS_INVALID), LKS_S3_REGION, false},
    {307, ANY, SAME(LKS_INVALID), LKS_S3_REGION, false},
    {308, ANY, SAME(LKS_INVALID), LKS_S3_REGION, false},

    /* Throttled, by whichever name. */
    {ALL, "SlowDown", UNKNOWN, LKS_S3_AGAIN, true},
    {ALL, "SlowDownRead", UNKNOWN, LKS_S3_AGAIN, true},
    {ALL, "SlowDownWrite", UNKNOWN, LKS_S3_AGAIN, true},
    {ALL, "RequestLimitExceeded", UNKNOWN, LKS_S3_AGAIN, true},
    {ALL, "Throttling", UNKNOWN, LKS_S3_AGAIN, true},
    {ALL, "ThrottlingException", UNKNOWN, LKS_S3_AGAIN, true},
    {429, ANY, UNKNOWN, LKS_S3_AGAIN, true},
    {503, ANY, UNKNOWN, LKS_S3_AGAIN, true},

    /* The name is taken. */
    {412, ANY, THERE, LKS_S3_AGAIN, false},
    {304, ANY, THERE, LKS_S3_AGAIN, false},
    {409, "ObjectAlreadyExists", THERE, LKS_S3_AGAIN, false},
    {409, "FileAlreadyExists", THERE, LKS_S3_AGAIN, false},
    {409, "FileImmutable", THERE, LKS_S3_AGAIN, false},
    {409, "KeyAlreadyExists", THERE, LKS_S3_AGAIN, false},
    {409, "PreconditionFailed", THERE, LKS_S3_AGAIN, false},
    /* A race is under way: ConditionalRequestConflict, OperationAborted. */
    {409, ANY, UNKNOWN, LKS_S3_AGAIN, false},

    /* It did not arrive whole: the sender may send it again. */
    {400, "RequestTimeout", UNKNOWN, LKS_S3_AGAIN, false},
    {400, "IncompleteBody", UNKNOWN, LKS_S3_AGAIN, false},
    {400, "BadDigest", UNKNOWN, LKS_S3_AGAIN, false},
    {400, "XAmzContentChecksumMismatch", UNKNOWN, LKS_S3_AGAIN, false},
    {400, "XAmzContentSHA256Mismatch", UNKNOWN, LKS_S3_AGAIN, false},
    {408, ANY, UNKNOWN, LKS_S3_AGAIN, false},

    /* Answers that are one. */
    {404, "NoSuchBucket", SAME(LKS_INVALID), LKS_S3_FINAL, false},
    {400, "InvalidBucketName", SAME(LKS_INVALID), LKS_S3_FINAL, false},
    {400, "EntityTooLarge", SAME(LKS_INVALID), LKS_S3_FINAL, false},
    {413, ANY, SAME(LKS_INVALID), LKS_S3_FINAL, false},
    {404, "NoSuchUpload", SAME(LKS_UNAVAILABLE), LKS_S3_FINAL, false},
    {404, ANY, READ_ELSE(LKS_NOT_FOUND, LKS_UNSURE), LKS_S3_FINAL, false},
    {403, "QuotaExceeded", SAME(LKS_UNAVAILABLE), LKS_S3_FINAL, false},
    {507, ANY, SAME(LKS_UNAVAILABLE), LKS_S3_FINAL, false},
    {401, ANY, SAME(LKS_DENIED), LKS_S3_FINAL, false},
    {403, ANY, SAME(LKS_DENIED), LKS_S3_FINAL, false},
    {407, ANY, SAME(LKS_DENIED), LKS_S3_FINAL, false},
    {400, ANY, SAME(LKS_UNSUPPORTED), LKS_S3_FINAL, false},
    {405, ANY, SAME(LKS_UNSUPPORTED), LKS_S3_FINAL, false},
    {411, ANY, SAME(LKS_UNSUPPORTED), LKS_S3_FINAL, false},
    {501, ANY, SAME(LKS_UNSUPPORTED), LKS_S3_FINAL, false},
    {416, ANY, SAME(LKS_UNSUPPORTED), LKS_S3_AGAIN, false},

    /* InternalError in a 200 that had begun too early is one of these. */
    {CLASS(2), "", SAME(LKS_OK), LKS_S3_FINAL, false},
    {CLASS(2), ANY, UNKNOWN, LKS_S3_AGAIN, false},
    {CLASS(5), ANY, UNKNOWN, LKS_S3_AGAIN, false},
    {ALL, ANY, UNKNOWN, LKS_S3_FINAL, false},
};

static bool fits(const struct row *row, int http, const char *code)
{
    if (row->http >= 0 && row->http != http)
        return false;
    if (row->http <= CLASS(1) && row->http != CLASS(http / 100))
        return false;
    return row->code == ANY || strcmp(row->code, code) == 0;
}

struct lks_s3_meaning lks_s3_judge(enum lks_s3_op op,
                                   int http,
                                   const char *code)
{
    const struct row *row = rows;

    assert(code != NULL);

    while (!fits(row, http, code))
        row++; /* The last one fits everything. */
    return (struct lks_s3_meaning){row->status[op], row->cure, row->throttled};
}
