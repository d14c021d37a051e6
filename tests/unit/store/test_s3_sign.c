/* Signature v4 on the examples that Amazon publishes: those of S3's reference,
 * "Signature Calculations for the Authorization Header", and of the general
 * test suite. */
#include "base/alloc.h"

#include "store/s3_sign.h"
#include "support/check.h"

#define EMPTY_HASH                                                             \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define S3_DATE "20130524T000000Z"
#define S3_HOST "examplebucket.s3.amazonaws.com"

struct example {
    const char *method;
    const char *path;
    const char *query;
    struct lks_header headers[6];
    const char *payload_hash;
    const char *signature;
};

static const struct lks_signing s3 = {
    .date = S3_DATE,
    .region = "us-east-1",
    .service = "s3",
    .access_key = "AKIAIOSFODNN7EXAMPLE",
    .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

static const struct lks_signing general = {
    .date = "20150830T123600Z",
    .region = "us-east-1",
    .service = "service",
    .access_key = "AKIDEXAMPLE",
    .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

static void check(const struct lks_signing *account,
                  const struct example *example)
{
    struct lks_signing signing = *account;
    struct lks_error error;
    struct lks_buf out;
    char *text;

    signing.method = example->method;
    signing.path = example->path;
    signing.query = example->query;
    signing.headers = example->headers;
    while (example->headers[signing.header_count].name != NULL)
        signing.header_count++;
    signing.payload_hash = example->payload_hash;

    lks_buf_init(&out, 4096);
    assert_status(LKS_OK, lks_sign(&signing, &out, &error));
    text = lks_buf_take_text(&out);
    assert_non_null(text);
    if (strstr(text, example->signature) == NULL)
        fail_msg("%s %s?%s: %s", example->method, example->path, example->query,
                 text);
    lks_free(text);
}

static void examples_of_s3_are_signed_alike(void **state)
{
    static const struct example examples[] = {
        {"GET",
         "/test.txt",
         "",
         {{"host", S3_HOST},
          {"range", "bytes=0-9"},
          {"x-amz-content-sha256", EMPTY_HASH},
          {"x-amz-date", S3_DATE}},
         EMPTY_HASH,
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
        {"PUT",
         "/test%24file.text",
         "",
         {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
          {"host", S3_HOST},
          {"x-amz-date", S3_DATE},
          {"date", "Fri, 24 May 2013 00:00:00 GMT"},
          {"x-amz-content-sha256",
           "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"}},
         "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
        {"GET",
         "/",
         "lifecycle",
         {{"host", S3_HOST},
          {"x-amz-content-sha256", EMPTY_HASH},
          {"x-amz-date", S3_DATE}},
         EMPTY_HASH,
         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
        {"GET",
         "/",
         "prefix=J&max-keys=2",
         {{"host", S3_HOST},
          {"x-amz-content-sha256", EMPTY_HASH},
          {"x-amz-date", S3_DATE}},
         EMPTY_HASH,
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check(&s3, &examples[i]);
}

static void examples_of_the_general_suite_are_signed_alike(void **state)
{
    static const struct example examples[] = {
        {"GET",
         "/",
         "",
         {{"host", "example.amazonaws.com"},
          {"x-amz-date", "20150830T123600Z"}},
         EMPTY_HASH,
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        /* get-vanilla-query-order-key-case */
        {"GET",
         "/",
         "Param2=value2&Param1=value1",
         {{"host", "example.amazonaws.com"},
          {"x-amz-date", "20150830T123600Z"}},
         EMPTY_HASH,
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        /* post-vanilla */
        {"POST",
         "/",
         "",
         {{"host", "example.amazonaws.com"},
          {"x-amz-date", "20150830T123600Z"}},
         EMPTY_HASH,
         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check(&general, &examples[i]);
}

static void a_query_in_any_order_is_signed_alike(void **state)
{
    static const struct example orders[] = {
        {"GET",
         "/",
         "max-keys=2&prefix=J",
         {{"host", S3_HOST},
          {"x-amz-content-sha256", EMPTY_HASH},
          {"x-amz-date", S3_DATE}},
         EMPTY_HASH,
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
        {"GET",
         "/",
         "prefix=J&max-keys=2",
         {{"x-amz-date", "  " S3_DATE " "},
          {"host", S3_HOST},
          {"x-amz-content-sha256", EMPTY_HASH}},
         EMPTY_HASH,
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
    };

    (void)state;
    check(&s3, &orders[0]);
    check(&s3, &orders[1]);
}

static void dates_are_written_as_the_standard_wants_them(void **state)
{
    char date[LKS_SIGN_DATE_SIZE];

    (void)state;
    lks_sign_date(INT64_C(1369353600000), date);
    assert_string_equal(date, S3_DATE);
    lks_sign_date(INT64_C(1440938160999), date);
    assert_string_equal(date, "20150830T123600Z");
}

static void all_but_plain_bytes_are_encoded(void **state)
{
    struct lks_error error;
    struct lks_buf out;

    (void)state;
    lks_buf_init(&out, 256);
    assert_status(LKS_OK,
                  lks_sign_encode("aZ09-._~/ +%$\xc3\xa4", true, &out, &error));
    assert_status(LKS_OK, lks_sign_encode("/", false, &out, &error));
    assert_status(LKS_OK, lks_buf_append(&out, "", 1, &error));
    assert_string_equal((char *)out.data, "aZ09-._~/%20%2B%25%24%C3%A4%2F");
    lks_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_of_s3_are_signed_alike),
        cmocka_unit_test(examples_of_the_general_suite_are_signed_alike),
        cmocka_unit_test(a_query_in_any_order_is_signed_alike),
        cmocka_unit_test(dates_are_written_as_the_standard_wants_them),
        cmocka_unit_test(all_but_plain_bytes_are_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
