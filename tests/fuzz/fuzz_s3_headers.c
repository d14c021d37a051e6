/*
 * Fuzzes the head of a server's reply, line by line.
 */
#include "fuzz.h"
#include "store/s3_http.h"

static void check_text(const char *text, size_t size)
{
    FUZZ_CHECK(memchr(text, '\0', size) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct lks_http_reply reply;
    struct lks_error error = {0};

    lks_http_reply_clear(&reply);
    while (input.left > 0) {
        char *line = fuzz_text(&input);

        lks_http_reply_take(&reply, line);
        free(line);
    }
    check_text(reply.etag, sizeof(reply.etag));
    check_text(reply.request_id, sizeof(reply.request_id));
    check_text(reply.region, sizeof(reply.region));
    FUZZ_CHECK(reply.retry_after_ms <= UINT64_C(3600000));
    fuzz_check_answer(lks_error_set(&error, LKS_DENIED, "request id %s",
                                    reply.request_id),
                      &error);
    return 0;
}
