/* The head of a reply: what is taken, and what is not. */
#include <stdio.h>

#include "store/s3_http.h"
#include "support/check.h"

static struct lks_http_reply reply_with(const char *text)
{
    struct lks_http_reply reply;
    char line[256];

    snprintf(line, sizeof(line), "%s", text);
    lks_http_reply_clear(&reply);
    lks_http_reply_take(&reply, line);
    return reply;
}

static void dates_are_read_in_any_locale(void **state)
{
    (void)state;
    assert_true(lks_http_date("Fri, 24 May 2013 00:00:00 GMT") ==
                1369353600000);
    assert_true(lks_http_date("Sun, 29 Feb 2032 23:59:59 GMT") ==
                1961711999000);
    assert_true(lks_http_date("Thu, 01 Jan 1970 00:00:00 GMT") == 0);
    assert_true(lks_http_date("Thu, 01 anF 1970 00:00:00 GMT") == INT64_MIN);
    assert_true(lks_http_date("1970-01-01") == INT64_MIN);
    assert_true(lks_http_date("Wed, 31 Dec 1969 23:59:59 GMT") == INT64_MIN);
    assert_true(lks_http_date("Fri, 24 May 0501 00:00:00 GMT") == INT64_MIN);
    assert_true(lks_http_date("Fri, 24 May -501 00:00:00 GMT") == INT64_MIN);
    assert_true(lks_http_date("Fri, 31 Dec 9999 23:59:59 GMT") > 0);
    assert_true(lks_http_date("") == INT64_MIN);
    assert_true(reply_with("Date: Thu, 01 Jan 1970 00:00:07 GMT").date_ms ==
                7000);
}

static void a_range_is_taken_only_when_it_is_one(void **state)
{
    static const char *const bad[] = {
        "content-range: bytes */1000",      "content-range: bytes 5/1000",
        "content-range: bytes -5-9/1000",   "content-range: items 0-9/1000",
        "content-range: bytes 0-9",         "content-range: bytes 0-9/*",
        "content-range: bytes x-9/1000",    "content-range:",
        "content-range: bytes 1e3-9/1000x",
    };
    struct lks_http_reply reply =
        reply_with("Content-Range: bytes 10-19/18446744073709551614");

    (void)state;
    assert_true(reply.has_range);
    assert_true(reply.range_first == 10);
    assert_true(reply.range_total == UINT64_MAX - 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (reply_with(bad[i]).has_range)
            fail_msg("%s", bad[i]);
    }
}

static void the_rest_is_taken_as_it_is(void **state)
{
    (void)state;
    assert_string_equal(reply_with("ETag: \"a-1\"").etag, "a-1");
    assert_string_equal(reply_with("etag: a").etag, "a");
    assert_string_equal(reply_with("ETag: \"").etag, "\"");
    assert_string_equal(reply_with("X-Amz-Request-Id: r").request_id, "r");
    assert_string_equal(reply_with("x-amz-bucket-region:eu-1").region, "eu-1");
    assert_true(reply_with("Content-Length: 12").length == 12);
    assert_true(reply_with("Content-Length: -1").length == UINT64_MAX);
    assert_true(reply_with("Retry-After: 3").retry_after_ms == 3000);
    assert_true(reply_with("Retry-After: 3601").retry_after_ms == 0);
    assert_true(reply_with("Retry-After: Thu, 01 Jan").retry_after_ms == 0);
    assert_true(reply_with("no colon").length == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_read_in_any_locale),
        cmocka_unit_test(a_range_is_taken_only_when_it_is_one),
        cmocka_unit_test(the_rest_is_taken_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
