/*
 * Fuzzes what a store's XML may be: listings, errors, the time in them.
 *
 * Dictionary: s3_xml.dict
 */
#include "fuzz.h"
#include "store/s3_xml.h"

struct seen {
    unsigned int count;
};

static enum lks_status ended(const char *path,
                             const char *text,
                             void *arg,
                             struct lks_error *error)
{
    struct seen *seen = arg;

    (void)error;
    FUZZ_CHECK(strlen(path) < LKS_XML_PATH_SIZE);
    FUZZ_CHECK(strlen(text) < LKS_XML_TEXT_SIZE);
    seen->count++;
    lks_xml_time(text);
    return LKS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = fuzz_copy(data, size);
    struct lks_xml_failure failure;
    struct lks_error error = {0};
    struct seen seen = {0};
    enum lks_status status;
    char found[64];

    status = lks_xml_walk(bytes, size, ended, &seen, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK)
        FUZZ_CHECK(seen.count > 0);

    lks_xml_failure(bytes, size, &failure);
    FUZZ_CHECK(memchr(failure.code, '\0', sizeof(failure.code)) != NULL);
    FUZZ_CHECK(memchr(failure.message, '\0', sizeof(failure.message)) != NULL);
    fuzz_check_answer(lks_error_set(&error, LKS_DENIED, "%s: %s", failure.code,
                                    failure.message),
                      &error);
    if (lks_xml_find(bytes, size, "CompleteMultipartUploadResult/ETag", found,
                     sizeof(found)))
        FUZZ_CHECK(memchr(found, '\0', sizeof(found)) != NULL);
    free(bytes);
    return 0;
}
