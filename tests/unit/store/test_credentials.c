/* Credentials: the shared files as AWS's tools read them, and which source the
 * environment names. The sources themselves are asked in tests/s3. */
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/credentials_aws.h"
#include "store/credentials_fetch.h"
#include "store/credentials_ini.h"
#include "support/check.h"
#include "support/store_place.h"
#include "support/torture.h"

static char place[STORE_PLACE_SIZE];

static const char *const variables[] = {
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CA_BUNDLE",
};

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    store_place_make(place);
    setenv("HOME", place, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    store_place_remove(place);
    return 0;
}

/* Writes a file and points the variable at it. */
static void write_file(const char *variable, const char *text)
{
    char path[STORE_PLACE_SIZE + 64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", place, variable);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    setenv(variable, path, 1);
}

static void check_ini(const char *text,
                      const char *section,
                      const char *name,
                      const char *expected)
{
    char value[32] = "untouched";

    if (lks_ini_find(text, section, name, value, sizeof(value)) !=
        (expected != NULL ? LKS_INI_FOUND : LKS_INI_ABSENT))
        fail_msg("[%s] %s of '%s'", section, name, text);
    assert_string_equal(value, expected != NULL ? expected : "untouched");
}

static void settings_are_found_as_aws_tools_find_them(void **state)
{
    static const char text[] = "# comment\r\n"
                               "key = outside\n"
                               "[default]\r\n"
                               "KEY=one = two \r\n"
                               "; other = x\n"
                               "s3 =\n"
                               "  key = nested\n"
                               "empty =\n"
                               "[profile  a b]\n"
                               "key = spaced\n"
                               "[ default ]\n"
                               "late=1\n"
                               "[profile x]\n"
                               "no end";
    char value[4] = "";

    (void)state;
    check_ini(text, "default", "key", "one = two");
    check_ini(text, "default", "other", NULL);
    check_ini(text, "default", "empty", "");
    check_ini(text, "default", "late", "1");
    check_ini(text, "profile a b", "key", "spaced");
    check_ini(text, "a b", "key", NULL);
    check_ini(text, "profile x", "key", NULL);
    check_ini("", "default", "key", NULL);
    check_ini("[default", "default", "key", NULL);
    check_ini("[d]\nk=0123456789012345678901234567890", "d", "k",
              "0123456789012345678901234567890");
    assert_int_equal(lks_ini_find("[d]\nk=0123", "d", "k", value, 4),
                     LKS_INI_TOO_LONG);
    assert_string_equal(value, "");
    assert_int_equal(lks_ini_bad_line(text), 0);
    assert_int_equal(lks_ini_bad_line("[a]\n[b\n[c]"), 2);
    assert_true(lks_ini_has(text, "profile x"));
    assert_false(lks_ini_has(text, "x"));
}

static struct lks_aws *read_aws(enum lks_key_source source)
{
    struct lks_aws *aws;
    struct lks_error error;

    assert_status(LKS_OK, lks_aws_read(&aws, &error));
    assert_int_equal(aws->source, source);
    return aws;
}

static void the_environment_wins_then_identity_then_the_profile(void **state)
{
    struct lks_aws *aws;

    (void)state;
    lks_aws_free(read_aws(LKS_KEYS_OF_INSTANCE));
    setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x", 1);
    aws = read_aws(LKS_KEYS_OF_CONTAINER);
    assert_string_equal(aws->container_url, "http://169.254.170.2/v2/x");
    lks_aws_free(aws);

    write_file("AWS_SHARED_CREDENTIALS_FILE",
               "[default]\naws_access_key_id=A\naws_secret_access_key=S\n"
               "[two]\naws_access_key_id=B\naws_secret_access_key=T\n"
               "aws_session_token=U\n");
    write_file("AWS_CONFIG_FILE",
               "[profile two]\nregion=eu-west-2\nendpoint_url=http://two\n");
    aws = read_aws(LKS_KEYS_OF_PROFILE);
    assert_string_equal(aws->keys.access_key, "A");
    lks_aws_free(aws);
    setenv("AWS_PROFILE", "two", 1);
    aws = read_aws(LKS_KEYS_OF_PROFILE);
    assert_string_equal(aws->keys.secret_key, "T");
    assert_string_equal(aws->keys.token, "U");
    assert_string_equal(aws->region, "eu-west-2");
    assert_string_equal(aws->endpoint, "http://two");
    lks_aws_free(aws);

    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/token", 1);
    setenv("AWS_ROLE_ARN", "arn:x", 1);
    lks_aws_free(read_aws(LKS_KEYS_OF_WEB_IDENTITY));

    setenv("AWS_ACCESS_KEY_ID", "C", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "V", 1);
    setenv("AWS_ENDPOINT_URL", "http://all", 1);
    setenv("AWS_ENDPOINT_URL_S3", "http://s3", 1);
    setenv("AWS_DEFAULT_REGION", "r2", 1);
    aws = read_aws(LKS_KEYS_OF_ENVIRONMENT);
    assert_string_equal(aws->keys.access_key, "C");
    assert_string_equal(aws->endpoint, "http://s3");
    assert_string_equal(aws->sts_endpoint, "http://all");
    assert_string_equal(aws->region, "r2");
    lks_aws_free(aws);
}

static void check_refused(const char *part)
{
    struct lks_aws *aws;
    struct lks_error error;

    assert_status(LKS_INVALID, lks_aws_read(&aws, &error));
    assert_message_has(part);
}

static void what_cannot_be_right_is_refused_by_name(void **state)
{
    char long_text[600];

    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "A", 1);
    check_refused("AWS_SECRET_ACCESS_KEY");
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    setenv("AWS_SECRET_ACCESS_KEY", long_text, 1);
    check_refused("too long");
    unsetenv("AWS_ACCESS_KEY_ID");
    check_refused("no AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");

    setenv("AWS_PROFILE", "absent", 1);
    check_refused("absent");
    write_file("AWS_CONFIG_FILE", "[profile absent]\ncredential_process = x\n");
    check_refused("credential_process");
    unsetenv("AWS_PROFILE");

    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/", 1);
    check_refused("example.com");
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.2.x/", 1);
    check_refused("169.254.170.2.x");
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://u:pw@example.com", 1);
    check_refused("of this machine: example.com");
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1", 1);
    lks_aws_free(read_aws(LKS_KEYS_OF_CONTAINER));
}

static void check_profile_refused(const char *settings, const char *part)
{
    char text[LKS_TOKEN_SIZE + 256];

    snprintf(text, sizeof(text), "[default]\n%s\n", settings);
    write_file("AWS_SHARED_CREDENTIALS_FILE", text);
    check_refused(part);
}

static void half_an_identity_is_not_left_for_the_next(void **state)
{
    (void)state;
    setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x", 1);
    check_profile_refused("aws_access_key_id=A", "no aws_secret_access_key");
    check_profile_refused("aws_secret_access_key=S", "no aws_access_key_id");
    check_profile_refused("aws_access_key_id=A\naws_secret_access_key=",
                          "no aws_secret_access_key");
    check_profile_refused("web_identity_token_file=/t\naws_access_key_id=A\n"
                          "aws_secret_access_key=S",
                          "no role_arn");
    check_profile_refused("role_arn=arn:x", "no web_identity_token_file");
    check_profile_refused("role_arn=arn:x\nsource_profile=y", "source_profile");
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/token", 1);
    check_refused("no AWS_ROLE_ARN");
}

static void a_setting_that_does_not_fit_is_not_taken_for_absent(void **state)
{
    static const char *const names[] = {
        "aws_access_key_id",
        "aws_secret_access_key",
        "aws_session_token",
    };
    char text[LKS_TOKEN_SIZE + 200];
    char expected[64];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int size = snprintf(text, sizeof(text),
                            "aws_access_key_id=A\naws_secret_access_key=S\n"
                            "%s=",
                            names[i]);

        memset(text + size, 'x', LKS_TOKEN_SIZE);
        text[size + (int)LKS_TOKEN_SIZE] = '\0';
        snprintf(expected, sizeof(expected), "%s is too long", names[i]);
        check_profile_refused(text, expected);
    }
}

static void a_file_that_cannot_be_read_is_not_taken_for_absent(void **state)
{
    char path[STORE_PLACE_SIZE + 64];
    struct lks_aws *aws;
    struct lks_error error;

    (void)state;
    setenv("AWS_CONFIG_FILE", "/dev/null/config", 1);
    lks_aws_free(read_aws(LKS_KEYS_OF_INSTANCE));
    /* Root may read everything, but cannot follow a link to itself. */
    snprintf(path, sizeof(path), "%s/loop", place);
    assert_int_equal(symlink(path, path), 0);
    setenv("AWS_CONFIG_FILE", path, 1);
    assert_status(LKS_DENIED, lks_aws_read(&aws, &error));
    assert_message_has(path);
    unsetenv("AWS_CONFIG_FILE");
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    assert_status(LKS_DENIED, lks_aws_read(&aws, &error));
    assert_message_has(path);
    write_file("AWS_SHARED_CREDENTIALS_FILE", "\n[default\n");
    check_refused("line 2");
}

static void a_home_that_cannot_be_looked_into_holds_no_files(void **state)
{
    char path[STORE_PLACE_SIZE + 64];

    (void)state;
    snprintf(path, sizeof(path), "%s/loop", place);
    assert_int_equal(symlink(path, path), 0);
    unsetenv("AWS_CONFIG_FILE");
    unsetenv("AWS_SHARED_CREDENTIALS_FILE");
    setenv("HOME", path, 1);
    lks_aws_free(read_aws(LKS_KEYS_OF_INSTANCE));
}

static void what_could_end_a_header_is_refused_by_name(void **state)
{
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        setenv("AWS_ACCESS_KEY_ID", "A", 1);
        setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
        setenv(names[i], "A\r\nx-injected: 1", 1);
        check_refused(names[i]);
        setenv(names[i], "A\x7f", 1);
        check_refused(names[i]);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    check_profile_refused("aws_access_key_id=A\naws_secret_access_key=S\rx",
                          "aws_secret_access_key");
}

static void json_without_keys_is_not_taken_for_keys(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"AccessKeyId\": \"A\"}",
        "{\"AccessKeyId\": 1, \"SecretAccessKey\": \"S\"}",
        "{\"Code\": \"Failed\", \"Message\": \"no role\"}",
        "{\"AccessKeyId\": \"A\\r\\nX: y\", \"SecretAccessKey\": \"S\"}",
        "{\"AccessKeyId\": \"A\", \"SecretAccessKey\": \"S\", "
        "\"Token\": \"T\\nX\"}",
    };
    static const char good[] =
        "{\"Code\": \"Success\", \"AccessKeyId\": \"A\", \"Token\": \"T\", "
        "\"SecretAccessKey\": \"S\", \"Expiration\": \"1970-01-01T00:01:00Z\"}";
    struct lks_error error;
    struct lks_keys keys;
    int64_t lifetime_ms;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_status(LKS_UNAVAILABLE,
                      lks_keys_parse_json(bad[i], strlen(bad[i]), 0, &keys,
                                          &lifetime_ms, &error));
    assert_status(LKS_OK, lks_keys_parse_json(good, strlen(good), 20000, &keys,
                                              &lifetime_ms, &error));
    assert_string_equal(keys.access_key, "A");
    assert_string_equal(keys.secret_key, "S");
    assert_string_equal(keys.token, "T");
    assert_true(lifetime_ms == 40000);
}

static void stores_of_a_process_share_a_keychain(void **state)
{
    struct lks_keychain *first;
    struct lks_keychain *second;
    struct lks_keychain *other;
    struct lks_aws *aws;
    struct lks_keys keys;
    struct lks_error error;

    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "A", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    aws = read_aws(LKS_KEYS_OF_ENVIRONMENT);
    assert_status(LKS_OK,
                  lks_keychain_acquire(lks_env_real(), aws, &first, &error));
    assert_status(LKS_OK,
                  lks_keychain_acquire(lks_env_real(), aws, &second, &error));
    assert_ptr_equal(first, second);
    aws->keys.access_key[0] = 'B';
    assert_status(LKS_OK,
                  lks_keychain_acquire(lks_env_real(), aws, &other, &error));
    assert_ptr_not_equal(first, other);
    assert_status(LKS_OK, lks_keychain_get(first, NULL, &keys, &error));
    assert_string_equal(keys.access_key, "A");
    assert_false(lks_keychain_refused(first, &keys));
    assert_status(LKS_OK, lks_keychain_get(other, NULL, &keys, &error));
    assert_string_equal(keys.access_key, "B");
    lks_keychain_release(first);
    assert_status(LKS_OK, lks_keychain_get(second, NULL, &keys, &error));
    lks_keychain_release(second);
    lks_keychain_release(other);
    lks_keychain_release(NULL);
    lks_aws_free(aws);
}

static enum lks_status read_once(void *arg)
{
    struct lks_aws *aws = NULL;
    struct lks_error error;
    enum lks_status status = lks_aws_read(&aws, &error);

    (void)arg;
    lks_aws_free(aws);
    return status;
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    write_file("AWS_CONFIG_FILE", "[default]\nregion = x\n");
    torture(read_once, NULL);
}

#define clean_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(settings_are_found_as_aws_tools_find_them),
        clean_test(the_environment_wins_then_identity_then_the_profile),
        clean_test(what_cannot_be_right_is_refused_by_name),
        clean_test(half_an_identity_is_not_left_for_the_next),
        clean_test(a_setting_that_does_not_fit_is_not_taken_for_absent),
        clean_test(a_file_that_cannot_be_read_is_not_taken_for_absent),
        clean_test(a_home_that_cannot_be_looked_into_holds_no_files),
        clean_test(what_could_end_a_header_is_refused_by_name),
        clean_test(json_without_keys_is_not_taken_for_keys),
        clean_test(stores_of_a_process_share_a_keychain),
        clean_test(it_survives_any_allocation_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
