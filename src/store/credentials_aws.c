/*
 * Which source of keys is configured. The first one that is counts, and it is
 * never left for another when it fails: a job that quietly went on as somebody
 * else would be worse than one that stops. docs/store.md, "Credentials".
 */
#include "store/credentials_aws.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/credentials_profile.h"

#define FILE_SIZE_MAX (1u << 20)

const char *lks_aws_variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_true(const char *value)
{
    return value != NULL && strcasecmp(value, "true") == 0;
}

/* False when it is set and does not fit. */
static bool take_variable(const char *name, char *value, size_t size)
{
    const char *text = lks_aws_variable(name);

    if (text == NULL || value[0] != '\0')
        return true;
    return snprintf(value, size, "%s", text) < (int)size;
}

enum lks_status lks_check_control(const char *what,
                                  const char *text,
                                  struct lks_error *error)
{
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return lks_error_set(error, LKS_INVALID,
                                 "%s has a control character, such as a "
                                 "line's end, in it",
                                 what);
    }
    return LKS_OK;
}

char *lks_file_text(const char *path, struct lks_error *error)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    if (file == NULL) {
        lks_error_set(error, LKS_DENIED, "%.400s: %s", path, strerror(errno));
        return NULL;
    }
    text = lks_alloc(FILE_SIZE_MAX + 1);
    if (text == NULL) {
        lks_error_no_memory(error);
        goto done;
    }
    size = fread(text, 1, FILE_SIZE_MAX + 1, file);
    if (ferror(file) || size > FILE_SIZE_MAX) {
        lks_error_set(error, LKS_DENIED,
                      "%.400s cannot be read, or is larger "
                      "than 1 MiB",
                      path);
        lks_free(text);
        text = NULL;
        goto done;
    }
    text[size] = '\0';

done:
    fclose(file);
    return text;
}

static enum lks_status read_environment_keys(struct lks_aws *aws,
                                             struct lks_error *error)
{
    struct lks_keys *keys = &aws->keys;

    aws->source = LKS_KEYS_OF_ENVIRONMENT;
    if (lks_aws_variable("AWS_ACCESS_KEY_ID") == NULL)
        return lks_error_set(error, LKS_INVALID,
                             "AWS_SECRET_ACCESS_KEY is set, but no "
                             "AWS_ACCESS_KEY_ID");
    if (lks_aws_variable("AWS_SECRET_ACCESS_KEY") == NULL)
        return lks_error_set(error, LKS_INVALID,
                             "AWS_ACCESS_KEY_ID is set, but no "
                             "AWS_SECRET_ACCESS_KEY");
    if (take_variable("AWS_ACCESS_KEY_ID", keys->access_key,
                      sizeof(keys->access_key)) &&
        take_variable("AWS_SECRET_ACCESS_KEY", keys->secret_key,
                      sizeof(keys->secret_key)) &&
        take_variable("AWS_SESSION_TOKEN", keys->token, sizeof(keys->token)))
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "the keys in the environment are too long");
}

/* Who may be told a container's token. */
static bool is_safe_container_url(const char *url)
{
    static const char *const safe[] = {
        "https://",
        "http://127.",
        "http://localhost",
        "http://[::1]",
        "http://169.254.170.2",
        "http://169.254.170.23",
        "http://[fd00:ec2::23]",
    };

    for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++) {
        size_t size = strlen(safe[i]);

        if (strncmp(url, safe[i], size) == 0 &&
            (i < 2 || strchr(":/", url[size]) != NULL))
            return true;
    }
    return false;
}

static enum lks_status read_container(struct lks_aws *aws,
                                      struct lks_error *error)
{
    const char *relative =
        lks_aws_variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = lks_aws_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *user_end;

    aws->source = LKS_KEYS_OF_CONTAINER;
    if (relative != NULL)
        snprintf(aws->container_url, sizeof(aws->container_url),
                 "http://169.254.170.2%s", relative);
    else
        snprintf(aws->container_url, sizeof(aws->container_url), "%s", full);
    /* A password that somebody put there is not repeated. */
    user_end = strrchr(aws->container_url, '@');
    if (!is_safe_container_url(aws->container_url))
        return lks_error_set(error, LKS_INVALID,
                             "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither "
                             "https nor of this machine: %.200s",
                             user_end != NULL ? user_end + 1
                                              : aws->container_url);
    if (take_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN", aws->container_token,
                      sizeof(aws->container_token)) &&
        take_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                      aws->container_token_file,
                      sizeof(aws->container_token_file)))
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "AWS_CONTAINER_AUTHORIZATION_TOKEN is too long");
}

static void read_instance(struct lks_aws *aws)
{
    aws->source = LKS_KEYS_OF_INSTANCE;
    aws->instance_disabled =
        is_true(lks_aws_variable("AWS_EC2_METADATA_DISABLED"));
    take_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", aws->instance_url,
                  sizeof(aws->instance_url));
    if (aws->instance_url[0] == '\0')
        snprintf(aws->instance_url, sizeof(aws->instance_url),
                 "http://169.254.169.254");
    if (aws->instance_url[strlen(aws->instance_url) - 1] == '/')
        aws->instance_url[strlen(aws->instance_url) - 1] = '\0';
}

static enum lks_status read_web_identity(struct lks_aws *aws,
                                         struct lks_error *error)
{
    aws->source = LKS_KEYS_OF_WEB_IDENTITY;
    if (lks_aws_variable("AWS_ROLE_ARN") == NULL)
        return lks_error_set(error, LKS_INVALID,
                             "AWS_WEB_IDENTITY_TOKEN_FILE is set, but no "
                             "AWS_ROLE_ARN");
    if (take_variable("AWS_WEB_IDENTITY_TOKEN_FILE", aws->token_file,
                      sizeof(aws->token_file)) &&
        take_variable("AWS_ROLE_ARN", aws->role, sizeof(aws->role)) &&
        take_variable("AWS_ROLE_SESSION_NAME", aws->session,
                      sizeof(aws->session)))
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "AWS_ROLE_ARN or its like is too long");
}

/* The standard order. */
static enum lks_status find_source(struct lks_profile *profile,
                                   struct lks_aws *aws,
                                   struct lks_error *error)
{
    bool found;
    enum lks_status status;

    if (lks_aws_variable("AWS_ACCESS_KEY_ID") != NULL ||
        lks_aws_variable("AWS_SECRET_ACCESS_KEY") != NULL)
        return read_environment_keys(aws, error);
    if (lks_aws_variable("AWS_WEB_IDENTITY_TOKEN_FILE") != NULL)
        return read_web_identity(aws, error);
    status = lks_profile_keys(profile, aws, &found, error);
    if (status != LKS_OK || found)
        return status;
    if (lks_aws_variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != NULL ||
        lks_aws_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") != NULL)
        return read_container(aws, error);
    read_instance(aws);
    return LKS_OK;
}

/* Where to, other than who as. */
static bool read_places(struct lks_profile *profile, struct lks_aws *aws)
{
    bool fits =
        take_variable("AWS_ENDPOINT_URL_S3", aws->endpoint,
                      sizeof(aws->endpoint)) &&
        take_variable("AWS_ENDPOINT_URL", aws->endpoint,
                      sizeof(aws->endpoint)) &&
        take_variable("AWS_ENDPOINT_URL_STS", aws->sts_endpoint,
                      sizeof(aws->sts_endpoint)) &&
        take_variable("AWS_ENDPOINT_URL", aws->sts_endpoint,
                      sizeof(aws->sts_endpoint)) &&
        take_variable("AWS_REGION", aws->region, sizeof(aws->region)) &&
        take_variable("AWS_DEFAULT_REGION", aws->region, sizeof(aws->region)) &&
        take_variable("AWS_CA_BUNDLE", aws->ca_bundle, sizeof(aws->ca_bundle));

    if (aws->endpoint[0] == '\0')
        lks_profile_find(profile, "endpoint_url", aws->endpoint,
                         sizeof(aws->endpoint));
    if (aws->region[0] == '\0')
        lks_profile_find(profile, "region", aws->region, sizeof(aws->region));
    if (aws->ca_bundle[0] == '\0')
        lks_profile_find(profile, "ca_bundle", aws->ca_bundle,
                         sizeof(aws->ca_bundle));
    return fits;
}

/* These go into a request's head, where a line's end would begin another. */
static enum lks_status refuse_control(const struct lks_aws *aws,
                                      struct lks_error *error)
{
    bool of_profile = aws->source == LKS_KEYS_OF_PROFILE;
    const struct {
        const char *value;
        const char *variable;
        const char *setting;
    } parts[] = {
        {aws->keys.access_key, "AWS_ACCESS_KEY_ID", "aws_access_key_id"},
        {aws->keys.secret_key, "AWS_SECRET_ACCESS_KEY",
         "aws_secret_access_key"},
        {aws->keys.token, "AWS_SESSION_TOKEN", "aws_session_token"},
        {aws->container_token, "AWS_CONTAINER_AUTHORIZATION_TOKEN", ""},
    };
    enum lks_status status;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        status =
            lks_check_control(of_profile ? parts[i].setting : parts[i].variable,
                              parts[i].value, error);
        if (status != LKS_OK)
            return status;
    }
    return LKS_OK;
}

enum lks_status lks_aws_read(struct lks_aws **out_aws, struct lks_error *error)
{
    struct lks_aws *aws = lks_alloc_zero(1, sizeof(*aws));
    struct lks_profile profile = {.too_long = NULL};
    enum lks_status status;

    if (aws == NULL)
        return lks_error_no_memory(error);
    if (!take_variable("AWS_PROFILE", aws->profile, sizeof(aws->profile))) {
        status = lks_error_set(error, LKS_INVALID, "AWS_PROFILE is too long");
        goto done;
    }
    if (aws->profile[0] == '\0')
        snprintf(aws->profile, sizeof(aws->profile), "default");
    status = lks_profile_read(&profile, aws->profile, error);
    if (status != LKS_OK)
        goto done;
    if (!read_places(&profile, aws)) {
        status = lks_error_set(error, LKS_INVALID,
                               "AWS_ENDPOINT_URL or its like is too long");
        goto done;
    }
    status = find_source(&profile, aws, error);
    if (status == LKS_OK)
        status = lks_profile_fits(&profile, error);
    if (status == LKS_OK)
        status = refuse_control(aws, error);
    if (status == LKS_OK) {
        *out_aws = aws;
        aws = NULL;
    }

done:
    lks_aws_free(aws);
    lks_profile_done(&profile);
    return status;
}

void lks_aws_free(struct lks_aws *aws)
{
    if (aws != NULL)
        explicit_bzero(aws, sizeof(*aws));
    lks_free(aws);
}
