/* XML: what servers answer, what they should not, and memory that runs out. */
#include "base/buf.h"
#include "store/s3_xml.h"
#include "support/check.h"
#include "support/torture.h"

#define LISTING                                                                \
    "<?xml version=\"1.0\"?><ListBucketResult "                                \
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"                       \
    "<IsTruncated>false</IsTruncated><Contents><Key>a&amp;b</Key>"             \
    "<Size>12</Size></Contents><Contents><Key>c</Key></Contents>"              \
    "</ListBucketResult>"

static enum lks_status collect(const char *path,
                               const char *text,
                               void *arg,
                               struct lks_error *error)
{
    struct lks_buf *seen = arg;

    return lks_buf_append_format(seen, error, "%s=%s;", path, text);
}

static void check_walk(const char *xml, const char *expected)
{
    struct lks_error error;
    struct lks_buf seen;

    lks_buf_init(&seen, 65536);
    assert_status(LKS_OK,
                  lks_xml_walk(xml, strlen(xml), collect, &seen, &error));
    assert_status(LKS_OK, lks_buf_append(&seen, "", 1, &error));
    assert_string_equal((char *)seen.data, expected);
    lks_buf_done(&seen);
}

static void elements_come_as_they_end(void **state)
{
    (void)state;
    check_walk("<a/>", "a=;");
    check_walk("<s:a xmlns:s=\"x\"><s:b>1</s:b><b> 2 </b></s:a>",
               "a/b=1;a/b= 2 ;a=;");
    check_walk(LISTING, "ListBucketResult/IsTruncated=false;"
                        "ListBucketResult/Contents/Key=a&b;"
                        "ListBucketResult/Contents/Size=12;"
                        "ListBucketResult/Contents=;"
                        "ListBucketResult/Contents/Key=c;"
                        "ListBucketResult/Contents=;ListBucketResult=;");
}

static enum lks_status ignore(const char *path,
                              const char *text,
                              void *arg,
                              struct lks_error *error)
{
    (void)path;
    (void)text;
    (void)arg;
    (void)error;
    return LKS_OK;
}

static void what_is_no_document_of_s3_is_corrupt(void **state)
{
    static const char *const bad[] = {
        "",
        "text",
        "<a>",
        "<a></b>",
        "<a>\xff</a>",
        "<a/><b/>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM \"http://x/\"><a/>",
    };
    struct lks_error error;
    char deep[4096] = "";
    char *wide;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_status(LKS_CORRUPT, lks_xml_walk(bad[i], strlen(bad[i]), ignore,
                                                NULL, &error));
    for (int i = 0; i < 1000; i++)
        memcpy(deep + 3 * i, "<a>", 4);
    assert_status(LKS_CORRUPT,
                  lks_xml_walk(deep, strlen(deep), ignore, NULL, &error));
    assert_message_has("deeply");

    wide = calloc(1, LKS_XML_TEXT_SIZE + 16);
    assert_non_null(wide);
    memset(wide, 'x', LKS_XML_TEXT_SIZE + 8);
    memcpy(wide, "<a>", 3);
    memcpy(wide + LKS_XML_TEXT_SIZE + 4, "</a>", 4);
    assert_status(LKS_CORRUPT, lks_xml_walk(wide, LKS_XML_TEXT_SIZE + 8, ignore,
                                            NULL, &error));
    assert_message_has("too long");
    free(wide);
}

static void a_failure_tells_its_code_and_more(void **state)
{
    static const char s3[] =
        "<Error><Code>AuthorizationHeaderMalformed</Code><Message>one\ntwo"
        "</Message><Region>eu-west-1</Region><RequestId>R1</RequestId></Error>";
    static const char sts[] =
        "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>"
        "</Error><RequestId>R2</RequestId></ErrorResponse>";
    static const char page[] = "<html><body>502 Bad Gateway</body></html>";
    struct lks_xml_failure failure;

    (void)state;
    lks_xml_failure(s3, strlen(s3), &failure);
    assert_string_equal(failure.code, "AuthorizationHeaderMalformed");
    assert_string_equal(failure.message, "one two");
    assert_string_equal(failure.region, "eu-west-1");
    assert_string_equal(failure.request_id, "R1");
    lks_xml_failure(sts, strlen(sts), &failure);
    assert_string_equal(failure.code, "ExpiredToken");
    assert_string_equal(failure.request_id, "R2");
    lks_xml_failure(page, strlen(page), &failure);
    assert_string_equal(failure.code, "");
    lks_xml_failure(LISTING, strlen(LISTING), &failure);
    assert_string_equal(failure.code, "");
    lks_xml_failure(NULL, 0, &failure);
    assert_string_equal(failure.code, "");
}

static void the_first_of_a_path_is_found(void **state)
{
    char text[4];

    (void)state;
    assert_true(lks_xml_find(LISTING, strlen(LISTING),
                             "ListBucketResult/Contents/Key", text, 4));
    assert_string_equal(text, "a&b");
    assert_false(lks_xml_find(LISTING, strlen(LISTING), "Key", text, 4));
}

static void times_are_whole_seconds(void **state)
{
    (void)state;
    assert_true(lks_xml_time("1970-01-01T00:00:01.999Z") == 1000);
    assert_true(lks_xml_time("2013-05-24T00:00:00Z") == 1369353600000);
    assert_true(lks_xml_time("yesterday") == 0);
}

static enum lks_status walk_once(void *arg)
{
    (void)arg;
    return lks_xml_walk(LISTING, strlen(LISTING), ignore, NULL, NULL);
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    torture(walk_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_come_as_they_end),
        cmocka_unit_test(what_is_no_document_of_s3_is_corrupt),
        cmocka_unit_test(a_failure_tells_its_code_and_more),
        cmocka_unit_test(the_first_of_a_path_is_found),
        cmocka_unit_test(times_are_whole_seconds),
        cmocka_unit_test(it_survives_any_allocation_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
