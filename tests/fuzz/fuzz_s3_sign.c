/*
 * Fuzzes signing: a request of any parts, and encoding of any text.
 */
#include "fuzz.h"
#include "store/credentials.h"
#include "store/s3_sign.h"

#define SIZE_LIMIT (1u << 20)
#define YEAR_10000_MS UINT64_C(253402300800000)

/* Queries are our own, and have no more pairs than they may. */
static void limit_query(char *query)
{
    unsigned int count = 1;

    for (char *at = query; *at != '\0'; at++) {
        if (*at == '&' && ++count > LKS_SIGN_QUERY_MAX)
            *at = '.';
    }
}

/* Everything but the unreserved characters is encoded, and comes back. */
static void encode(const char *text, bool keep_slashes)
{
    struct lks_error error = {0};
    struct lks_buf buf;
    size_t at = 0;

    lks_buf_init(&buf, SIZE_LIMIT);
    FUZZ_CHECK(lks_sign_encode(text, keep_slashes, &buf, &error) == LKS_OK);
    for (size_t i = 0; i < buf.size; i++, at++) {
        uint8_t byte = buf.data[i];

        if (byte == '%') {
            FUZZ_CHECK(i + 2 < buf.size);
            FUZZ_CHECK(
                lks_hex_decode((const char *)&buf.data[i + 1], &byte, 1));
            i += 2;
        }
        FUZZ_CHECK(byte == (uint8_t)text[at]);
    }
    FUZZ_CHECK(text[at] == '\0');
    lks_buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    size_t header_count = fuzz_byte(&input) % 4;
    struct lks_header headers[4];
    struct lks_error error = {0};
    enum lks_status status;
    char *texts[14];
    char date[LKS_SIGN_DATE_SIZE];
    struct lks_buf buf;

    lks_sign_date((int64_t)(fuzz_number(&input) % YEAR_10000_MS), date);
    for (size_t i = 0; i < 14; i++)
        texts[i] = fuzz_text(&input);
    for (size_t i = 0; i < header_count; i++)
        headers[i] = (struct lks_header){texts[6 + 2 * i], texts[7 + 2 * i]};

    limit_query(texts[1]);
    if (strlen(texts[5]) >= LKS_SECRET_KEY_SIZE)
        texts[5][LKS_SECRET_KEY_SIZE - 1] = '\0';
    encode(texts[0], false);
    encode(texts[0], true);
    lks_buf_init(&buf, SIZE_LIMIT);
    status = lks_sign(
        &(struct lks_signing){
            .method = "GET",
            .path = texts[0],
            .query = texts[1],
            .headers = headers,
            .header_count = header_count,
            .payload_hash = LKS_SIGN_UNSIGNED,
            .date = date,
            .region = texts[2],
            .service = texts[3],
            .access_key = texts[4],
            .secret_key = texts[5],
        },
        &buf, &error);
    FUZZ_CHECK(status == LKS_OK || status == LKS_INVALID);
    lks_buf_done(&buf);
    for (size_t i = 0; i < 14; i++)
        free(texts[i]);
    return 0;
}
