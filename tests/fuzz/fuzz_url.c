/*
 * Fuzzes the address of a stream.
 */
#include "base/url.h"
#include "fuzz.h"

static const char *scheme_of(enum lks_url_kind kind)
{
    switch (kind) {
    case LKS_URL_MEM:
        return "mem://";
    case LKS_URL_S3:
        return "s3://";
    case LKS_URL_FILE:
        break;
    }
    return "";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    char *text = fuzz_text(&input);
    struct lks_error error = {0};
    struct lks_url again;
    struct lks_url url;
    enum lks_status status;

    status = lks_url_parse(text, &url, &error);
    FUZZ_CHECK(status == LKS_OK || status == LKS_INVALID);
    if (status == LKS_INVALID) {
        fuzz_check_answer(status, &error);
    } else {
        char whole[2 * LKS_URL_SIZE_MAX];
        bool slash = url.kind == LKS_URL_S3 && url.path[0] != '\0';

        FUZZ_CHECK(memchr(url.authority, '\0', sizeof(url.authority)) != NULL);
        FUZZ_CHECK(memchr(url.path, '\0', sizeof(url.path)) != NULL);
        if (url.path[0] != '\0')
            FUZZ_CHECK(url.path[strlen(url.path) - 1] != '/');
        /* Its parts make the same address. */
        snprintf(whole, sizeof(whole), "%s%s%s%s", scheme_of(url.kind),
                 url.authority, slash ? "/" : "", url.path);
        if (strncmp(text, "file://", 7) != 0) {
            FUZZ_CHECK(lks_url_parse(whole, &again, &error) == LKS_OK);
            FUZZ_CHECK(again.kind == url.kind);
            FUZZ_CHECK(strcmp(again.authority, url.authority) == 0);
            FUZZ_CHECK(strcmp(again.path, url.path) == 0);
        }
    }
    free(text);
    return 0;
}
