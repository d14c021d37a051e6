/*
 * Fuzzes the judgement of replies: any status, any code, each kind of request.
 */
#include "fuzz.h"
#include "store/s3_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    enum lks_s3_op op = (enum lks_s3_op)(fuzz_byte(&input) % 4);
    int http = fuzz_byte(&input) << 8;
    struct lks_s3_meaning meaning;
    char *code;

    http |= fuzz_byte(&input);
    code = fuzz_text(&input);
    meaning = lks_s3_judge(op, http, code);
    FUZZ_CHECK(meaning.cure <= LKS_S3_REGION);
    /* A refusal must not be taken for success. */
    if (http < 200 || http >= 300)
        FUZZ_CHECK(meaning.status != LKS_OK);
    /* Nor is a create whose fate is unknown ever simply sent again. */
    if (http >= 500 && op == LKS_S3_CREATE && meaning.cure != LKS_S3_AGAIN)
        FUZZ_CHECK(meaning.status != LKS_EXISTS);
    free(code);
    return 0;
}
