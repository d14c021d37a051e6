/* The table of replies, row by row, as docs/store.md tells it. */
#include "store/s3_reply.h"
#include "support/check.h"

struct expectation {
    int http;
    const char *code;
    enum lks_status read;
    enum lks_status put;
    enum lks_status create;
    enum lks_status remove;
    enum lks_s3_cure cure;
    bool throttled;
};

#define OK LKS_OK
#define UNAVAIL LKS_UNAVAILABLE
#define UNSURE LKS_UNSURE
#define DENIED LKS_DENIED
#define UNSUPP LKS_UNSUPPORTED
#define INVALID LKS_INVALID

static const struct expectation table[] = {
    {200, "", OK, OK, OK, OK, LKS_S3_FINAL, false},
    {201, "", OK, OK, OK, OK, LKS_S3_FINAL, false},
    {204, "", OK, OK, OK, OK, LKS_S3_FINAL, false},
    {206, "", OK, OK, OK, OK, LKS_S3_FINAL, false},
    /* An error in a 200's body. */
    {200, "InternalError", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN,
     false},
    {200, "SlowDown", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, true},
    /* The name is taken; nobody but a create asked. */
    {412, "PreconditionFailed", UNAVAIL, UNSUPP, LKS_EXISTS, UNSUPP,
     LKS_S3_AGAIN, false},
    {412, "", UNAVAIL, UNSUPP, LKS_EXISTS, UNSUPP, LKS_S3_AGAIN, false},
    {304, "", UNAVAIL, UNSUPP, LKS_EXISTS, UNSUPP, LKS_S3_AGAIN, false},
    {409, "ObjectAlreadyExists", UNAVAIL, UNSUPP, LKS_EXISTS, UNSUPP,
     LKS_S3_AGAIN, false},
    {409, "FileAlreadyExists", UNAVAIL, UNSUPP, LKS_EXISTS, UNSUPP,
     LKS_S3_AGAIN, false},
    {409, "PreconditionFailed", UNAVAIL, UNSUPP, LKS_EXISTS, UNSUPP,
     LKS_S3_AGAIN, false},
    /* A race under way. */
    {409, "ConditionalRequestConflict", UNAVAIL, UNSURE, UNSURE, UNSURE,
     LKS_S3_AGAIN, false},
    {409, "OperationAborted", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN,
     false},
    {409, "", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, false},
    /* Too much load. */
    {429, "", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, true},
    {503, "SlowDown", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, true},
    {503, "ServiceUnavailable", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN,
     true},
    {400, "RequestLimitExceeded", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN,
     true},
    /* Unknown: it may still land. */
    {500, "InternalError", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN,
     false},
    {502, "", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, false},
    {504, "", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, false},
    {408, "", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, false},
    {400, "RequestTimeout", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN,
     false},
    {400, "BadDigest", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_AGAIN, false},
    {418, "", UNAVAIL, UNSURE, UNSURE, UNSURE, LKS_S3_FINAL, false},
    /* Refused unseen, and curable. */
    {400, "ExpiredToken", DENIED, DENIED, DENIED, DENIED, LKS_S3_KEYS, false},
    {403, "ExpiredToken", DENIED, DENIED, DENIED, DENIED, LKS_S3_KEYS, false},
    {403, "InvalidAccessKeyId", DENIED, DENIED, DENIED, DENIED, LKS_S3_KEYS,
     false},
    {403, "RequestTimeTooSkewed", DENIED, DENIED, DENIED, DENIED, LKS_S3_CLOCK,
     false},
    {400, "AuthorizationHeaderMalformed", DENIED, DENIED, DENIED, DENIED,
     LKS_S3_REGION, false},
    {301, "PermanentRedirect", INVALID, INVALID, INVALID, INVALID,
     LKS_S3_REGION, false},
    {307, "TemporaryRedirect", INVALID, INVALID, INVALID, INVALID,
     LKS_S3_REGION, false},
    /* Refused for good. */
    {403, "AccessDenied", DENIED, DENIED, DENIED, DENIED, LKS_S3_FINAL, false},
    {403, "SignatureDoesNotMatch", DENIED, DENIED, DENIED, DENIED, LKS_S3_FINAL,
     false},
    {401, "", DENIED, DENIED, DENIED, DENIED, LKS_S3_FINAL, false},
    {400, "InvalidArgument", UNSUPP, UNSUPP, UNSUPP, UNSUPP, LKS_S3_FINAL,
     false},
    {405, "MethodNotAllowed", UNSUPP, UNSUPP, UNSUPP, UNSUPP, LKS_S3_FINAL,
     false},
    {501, "NotImplemented", UNSUPP, UNSUPP, UNSUPP, UNSUPP, LKS_S3_FINAL,
     false},
    {404, "NoSuchBucket", INVALID, INVALID, INVALID, INVALID, LKS_S3_FINAL,
     false},
    {400, "EntityTooLarge", INVALID, INVALID, INVALID, INVALID, LKS_S3_FINAL,
     false},
    {404, "NoSuchKey", LKS_NOT_FOUND, UNSURE, UNSURE, UNSURE, LKS_S3_FINAL,
     false},
    {404, "", LKS_NOT_FOUND, UNSURE, UNSURE, UNSURE, LKS_S3_FINAL, false},
    {507, "", UNAVAIL, UNAVAIL, UNAVAIL, UNAVAIL, LKS_S3_FINAL, false},
    {403, "QuotaExceeded", UNAVAIL, UNAVAIL, UNAVAIL, UNAVAIL, LKS_S3_FINAL,
     false},
};

static void each_reply_means_what_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct expectation *row = &table[i];
        const enum lks_status expected[] = {row->read, row->put, row->create,
                                            row->remove};

        for (int op = LKS_S3_READ; op <= LKS_S3_REMOVE; op++) {
            struct lks_s3_meaning meaning =
                lks_s3_judge((enum lks_s3_op)op, row->http, row->code);

            if (meaning.status != expected[op] || meaning.cure != row->cure ||
                meaning.throttled != row->throttled)
                fail_msg("op %d, HTTP %d %s: %s, cure %d, throttled %d", op,
                         row->http, row->code, lks_status_name(meaning.status),
                         meaning.cure, meaning.throttled);
        }
    }
}

/* The one mistake that would cost data: to take for certain what is not. */
static void a_create_is_done_only_by_2xx_and_exists_only_by_its_codes(
    void **state)
{
    (void)state;
    for (int http = 100; http < 600; http++) {
        enum lks_status status = lks_s3_judge(LKS_S3_CREATE, http, "").status;

        assert_true((status == LKS_OK) == (http / 100 == 2));
        assert_true((status == LKS_EXISTS) == (http == 412 || http == 304));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reply_means_what_the_table_says),
        cmocka_unit_test(
            a_create_is_done_only_by_2xx_and_exists_only_by_its_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
