/* Addresses of streams: each kind, what is cut off, what is refused. */
#include "base/url.h"
#include "support/check.h"

static void check_parsed(const char *text,
                         enum lks_url_kind kind,
                         const char *authority,
                         const char *path)
{
    struct lks_error error;
    struct lks_url url;

    assert_status(LKS_OK, lks_url_parse(text, &url, &error));
    assert_int_equal(url.kind, kind);
    assert_string_equal(url.authority, authority);
    assert_string_equal(url.path, path);
}

static void check_refused(const char *text, const char *why)
{
    struct lks_error error;
    struct lks_url url;
    struct lks_url before;

    memset(&url, 0x55, sizeof(url));
    before = url;
    assert_status(LKS_INVALID, lks_url_parse(text, &url, &error));
    assert_message_has(why);
    assert_memory_equal(&url, &before, sizeof(url));
    assert_int_equal(lks_url_parse(text, &url, NULL), LKS_INVALID);
}

static void file_urls_name_a_folder(void **state)
{
    (void)state;
    check_parsed("file:///data/run", LKS_URL_FILE, "", "/data/run");
    check_parsed("file:///data/run//", LKS_URL_FILE, "", "/data/run");
    check_parsed("file:///a b/%41?#", LKS_URL_FILE, "", "/a b/%41?#");
}

static void a_plain_path_is_a_file_url(void **state)
{
    (void)state;
    check_parsed("/data/run/", LKS_URL_FILE, "", "/data/run");
    check_parsed("runs/one", LKS_URL_FILE, "", "runs/one");
    check_parsed("./a:b", LKS_URL_FILE, "", "./a:b");
    check_parsed("../x/s3://y", LKS_URL_FILE, "", "../x/s3://y");
    check_parsed(".", LKS_URL_FILE, "", ".");
    check_parsed("gr\xc3\xb6\xc3\x9f", LKS_URL_FILE, "", "gr\xc3\xb6\xc3\x9f");
}

static void mem_urls_have_a_name(void **state)
{
    (void)state;
    check_parsed("mem://test-1", LKS_URL_MEM, "test-1", "");
    check_parsed("mem://A.b_c/", LKS_URL_MEM, "A.b_c", "");
}

static void s3_urls_have_a_bucket_and_a_prefix(void **state)
{
    (void)state;
    check_parsed("s3://bucket", LKS_URL_S3, "bucket", "");
    check_parsed("s3://bucket/", LKS_URL_S3, "bucket", "");
    check_parsed("s3://b-u.cket/a", LKS_URL_S3, "b-u.cket", "a");
    check_parsed("s3://bucket/a/date=2031-01-01/.x/...//", LKS_URL_S3, "bucket",
                 "a/date=2031-01-01/.x/...");
}

static void nothing_is_no_url(void **state)
{
    (void)state;
    check_refused(NULL, "s3://bucket/prefix");
    check_refused("", "file:///folder");
    check_refused("/", "no folder");
    check_refused("file:///", "no folder");
    check_refused("file://", "whole path");
    check_refused("mem://", "needs a name");
    check_refused("s3://", "needs a bucket");
    check_refused("s3:///prefix", "needs a bucket");
}

static void other_kinds_are_refused_with_those_there_are(void **state)
{
    (void)state;
    check_refused("gs://bucket/a", "mem://name");
    check_refused("http://host/a", "s3://bucket/prefix");
    check_refused("S3://bucket/a", "is none of");
    check_refused("s3:/bucket/a", "is none of");
    check_refused("://x", "is none of");
    check_refused("a:b", "./a:b");
}

static void file_urls_with_a_host_are_refused(void **state)
{
    (void)state;
    check_refused("file://data/run", "file:///folder");
    check_refused("file://./run", "file:///folder");
}

static void names_and_buckets_with_other_bytes_are_refused(void **state)
{
    (void)state;
    check_refused("mem://a/b", "may only have");
    check_refused("mem://a b", "may only have");
    check_refused("s3://ab/x", "3 to 255");
    check_refused("s3://buck et/x", "bucket");
    check_refused("s3://bucket:80/x", "bucket");
    check_refused("s3://.bucket/x", "bucket");
    check_refused("s3://-bucket/x", "bucket");
}

static void prefixes_that_may_be_read_differently_are_refused(void **state)
{
    (void)state;
    check_refused("s3://bucket//a", "segment");
    check_refused("s3://bucket/a//b", "segment");
    check_refused("s3://bucket/./a", "segment");
    check_refused("s3://bucket/a/..", "segment");
    check_refused("s3://bucket/a?b", "may only have");
    check_refused("s3://bucket/a#b", "may only have");
    check_refused("s3://bucket/a b", "may only have");
    check_refused("s3://bucket/a%20b", "may only have");
    check_refused("s3://bucket/\xc3\xa4", "may only have");
}

static void control_bytes_are_refused_everywhere(void **state)
{
    char text[2 * LKS_URL_SIZE_MAX];

    (void)state;
    /* They must not get into the message about another fault, either. */
    memset(text, '\x1b', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    check_refused(text, "control");
    check_refused("/a\nb", "control");
    check_refused("mem://a\tb", "control");
    check_refused("s3://bucket/a\x7f", "control");
    check_refused("file:///a\x1b[0m", "control");
}

static void a_password_does_not_get_into_the_message(void **state)
{
    struct lks_error error;
    struct lks_url url;

    (void)state;
    assert_status(LKS_INVALID,
                  lks_url_parse("s3://key:secret@bucket/a", &url, &error));
    assert_null(strstr(error.message, "secret"));
}

/* `text` of `size` bytes: the beginning, then as many x as it takes. */
static void fill(char *text, const char *beginning, size_t size)
{
    memset(text, 'x', size);
    memcpy(text, beginning, strlen(beginning));
    text[size] = '\0';
}

static void each_part_may_be_as_long_as_its_limit(void **state)
{
    char text[LKS_URL_SIZE_MAX + 1];

    (void)state;
    fill(text, "/", LKS_URL_SIZE_MAX - 1);
    check_parsed(text, LKS_URL_FILE, "", text);
    fill(text, "/", LKS_URL_SIZE_MAX);
    check_refused(text, "1024 bytes");

    fill(text, "mem://", 6 + 255);
    check_parsed(text, LKS_URL_MEM, text + 6, "");
    fill(text, "mem://", 6 + 256);
    check_refused(text, "1 to 255");

    fill(text, "s3://", 5 + 255);
    check_parsed(text, LKS_URL_S3, text + 5, "");
    fill(text, "s3://", 5 + 256);
    check_refused(text, "3 to 255");
    check_parsed("s3://abc", LKS_URL_S3, "abc", "");

    fill(text, "s3://bucket/", 12 + 767);
    check_parsed(text, LKS_URL_S3, "bucket", text + 12);
    fill(text, "s3://bucket/", 12 + 768);
    check_refused(text, "767");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_urls_name_a_folder),
        cmocka_unit_test(a_plain_path_is_a_file_url),
        cmocka_unit_test(mem_urls_have_a_name),
        cmocka_unit_test(s3_urls_have_a_bucket_and_a_prefix),
        cmocka_unit_test(nothing_is_no_url),
        cmocka_unit_test(other_kinds_are_refused_with_those_there_are),
        cmocka_unit_test(file_urls_with_a_host_are_refused),
        cmocka_unit_test(names_and_buckets_with_other_bytes_are_refused),
        cmocka_unit_test(prefixes_that_may_be_read_differently_are_refused),
        cmocka_unit_test(control_bytes_are_refused_everywhere),
        cmocka_unit_test(a_password_does_not_get_into_the_message),
        cmocka_unit_test(each_part_may_be_as_long_as_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
