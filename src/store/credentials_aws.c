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
#include "store/credentials_ini.h"

#define FILE_SIZE_MAX (1u << 20)
#define SECTION_SIZE 160u

/* The two files' texts, "" if there is no such file. */
struct shared {
    char *config;
    char *credentials;
    char section[SECTION_SIZE]; /* the profile's, in config */
};

/* A variable's value; an empty one counts as not set. */
static const char *variable(const char *name)
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
    const char *text = variable(name);

    if (text == NULL || value[0] != '\0')
        return true;
    return snprintf(value, size, "%s", text) < (int)size;
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

/* The file that `name` names, or else ~/.aws/<standard>. Not being there is
 * like being empty. */
static enum lks_status read_shared(const char *name,
                                   const char *standard,
                                   char **out_text,
                                   struct lks_error *error)
{
    const char *path = variable(name);
    const char *home = variable("HOME");
    char at_home[1024];
    FILE *file;

    if (path == NULL) {
        snprintf(at_home, sizeof(at_home), "%s/.aws/%s",
                 home != NULL ? home : "", standard);
        path = at_home;
    }
    file = fopen(path, "re");
    if (file == NULL) {
        *out_text = lks_text_dup("");
        return *out_text != NULL ? LKS_OK : lks_error_no_memory(error);
    }
    fclose(file);
    *out_text = lks_file_text(path, error);
    if (*out_text != NULL)
        return LKS_OK;
    return error != NULL ? error->status : LKS_DENIED;
}

/* The credentials file wins over the config file. */
static bool of_profile(const struct shared *shared,
                       const struct lks_aws *aws,
                       const char *name,
                       char *value,
                       size_t size)
{
    return lks_ini_find(shared->credentials, aws->profile, name, value, size) ||
           lks_ini_find(shared->config, shared->section, name, value, size);
}

static bool profile_says(const struct shared *shared,
                         const struct lks_aws *aws,
                         const char *name)
{
    char value[1024];

    return of_profile(shared, aws, name, value, sizeof(value));
}

static enum lks_status read_environment_keys(struct lks_aws *aws,
                                             struct lks_error *error)
{
    struct lks_keys *keys = &aws->keys;

    aws->source = LKS_KEYS_OF_ENVIRONMENT;
    if (variable("AWS_ACCESS_KEY_ID") == NULL)
        return lks_error_set(error, LKS_INVALID,
                             "AWS_SECRET_ACCESS_KEY is set, but no "
                             "AWS_ACCESS_KEY_ID");
    if (variable("AWS_SECRET_ACCESS_KEY") == NULL)
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

/* A profile with keys, or a web identity of its own. */
static bool read_profile(const struct shared *shared, struct lks_aws *aws)
{
    struct lks_keys *keys = &aws->keys;

    if (of_profile(shared, aws, "role_arn", aws->role, sizeof(aws->role)) &&
        of_profile(shared, aws, "web_identity_token_file", aws->token_file,
                   sizeof(aws->token_file))) {
        of_profile(shared, aws, "role_session_name", aws->session,
                   sizeof(aws->session));
        aws->source = LKS_KEYS_OF_WEB_IDENTITY;
        return true;
    }
    if (!of_profile(shared, aws, "aws_access_key_id", keys->access_key,
                    sizeof(keys->access_key)) ||
        !of_profile(shared, aws, "aws_secret_access_key", keys->secret_key,
                    sizeof(keys->secret_key)))
        return false;
    of_profile(shared, aws, "aws_session_token", keys->token,
               sizeof(keys->token));
    aws->source = LKS_KEYS_OF_PROFILE;
    return true;
}

static enum lks_status refuse_profile(const struct shared *shared,
                                      const struct lks_aws *aws,
                                      bool asked_for,
                                      struct lks_error *error)
{
    static const char *const unknown[] = {
        "credential_process", "sso_session",       "sso_start_url",
        "source_profile",     "credential_source",
    };

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (profile_says(shared, aws, unknown[i]))
            return lks_error_set(error, LKS_INVALID,
                                 "profile '%s' gets its keys by %s, which is "
                                 "not known here: put them into the "
                                 "environment, as in eval \"$(aws configure "
                                 "export-credentials --format env)\"",
                                 aws->profile, unknown[i]);
    }
    if (asked_for && !lks_ini_has(shared->config, shared->section) &&
        !lks_ini_has(shared->credentials, aws->profile))
        return lks_error_set(error, LKS_INVALID,
                             "there is no profile '%s', which AWS_PROFILE "
                             "names",
                             aws->profile);
    return LKS_OK;
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
    const char *relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");

    aws->source = LKS_KEYS_OF_CONTAINER;
    if (relative != NULL)
        snprintf(aws->container_url, sizeof(aws->container_url),
                 "http://169.254.170.2%s", relative);
    else
        snprintf(aws->container_url, sizeof(aws->container_url), "%s", full);
    if (!is_safe_container_url(aws->container_url))
        return lks_error_set(error, LKS_INVALID,
                             "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither "
                             "https nor of this machine: %.200s",
                             aws->container_url);
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
    aws->instance_disabled = is_true(variable("AWS_EC2_METADATA_DISABLED"));
    take_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", aws->instance_url,
                  sizeof(aws->instance_url));
    if (aws->instance_url[0] == '\0')
        snprintf(aws->instance_url, sizeof(aws->instance_url),
                 "http://169.254.169.254");
    if (aws->instance_url[strlen(aws->instance_url) - 1] == '/')
        aws->instance_url[strlen(aws->instance_url) - 1] = '\0';
}

/* The standard order. */
static enum lks_status find_source(const struct shared *shared,
                                   struct lks_aws *aws,
                                   struct lks_error *error)
{
    bool asked_for = variable("AWS_PROFILE") != NULL;
    enum lks_status status;

    if (variable("AWS_ACCESS_KEY_ID") != NULL ||
        variable("AWS_SECRET_ACCESS_KEY") != NULL)
        return read_environment_keys(aws, error);
    if (variable("AWS_WEB_IDENTITY_TOKEN_FILE") != NULL &&
        variable("AWS_ROLE_ARN") != NULL) {
        aws->source = LKS_KEYS_OF_WEB_IDENTITY;
        if (take_variable("AWS_WEB_IDENTITY_TOKEN_FILE", aws->token_file,
                          sizeof(aws->token_file)) &&
            take_variable("AWS_ROLE_ARN", aws->role, sizeof(aws->role)) &&
            take_variable("AWS_ROLE_SESSION_NAME", aws->session,
                          sizeof(aws->session)))
            return LKS_OK;
        return lks_error_set(error, LKS_INVALID,
                             "AWS_ROLE_ARN or its like is too long");
    }
    if (read_profile(shared, aws))
        return LKS_OK;
    status = refuse_profile(shared, aws, asked_for, error);
    if (status != LKS_OK)
        return status;
    if (variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != NULL ||
        variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") != NULL)
        return read_container(aws, error);
    read_instance(aws);
    return LKS_OK;
}

/* Where to, other than who as. */
static bool read_places(const struct shared *shared, struct lks_aws *aws)
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
        of_profile(shared, aws, "endpoint_url", aws->endpoint,
                   sizeof(aws->endpoint));
    if (aws->region[0] == '\0')
        of_profile(shared, aws, "region", aws->region, sizeof(aws->region));
    if (aws->ca_bundle[0] == '\0')
        of_profile(shared, aws, "ca_bundle", aws->ca_bundle,
                   sizeof(aws->ca_bundle));
    return fits;
}

enum lks_status lks_aws_read(struct lks_aws **out_aws, struct lks_error *error)
{
    struct lks_aws *aws = lks_alloc_zero(1, sizeof(*aws));
    struct shared shared = {NULL, NULL, ""};
    enum lks_status status;

    if (aws == NULL)
        return lks_error_no_memory(error);
    status = read_shared("AWS_CONFIG_FILE", "config", &shared.config, error);
    if (status == LKS_OK)
        status = read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials",
                             &shared.credentials, error);
    if (status != LKS_OK)
        goto done;

    if (!take_variable("AWS_PROFILE", aws->profile, sizeof(aws->profile))) {
        status = lks_error_set(error, LKS_INVALID, "AWS_PROFILE is too long");
        goto done;
    }
    if (aws->profile[0] == '\0')
        snprintf(aws->profile, sizeof(aws->profile), "default");
    snprintf(shared.section, sizeof(shared.section), "%s%s",
             strcmp(aws->profile, "default") == 0 ? "" : "profile ",
             aws->profile);
    if (!read_places(&shared, aws)) {
        status = lks_error_set(error, LKS_INVALID,
                               "AWS_ENDPOINT_URL or its like is too long");
        goto done;
    }
    status = find_source(&shared, aws, error);
    if (status == LKS_OK) {
        *out_aws = aws;
        aws = NULL;
    }

done:
    lks_aws_free(aws);
    lks_free(shared.config);
    lks_free(shared.credentials);
    return status;
}

void lks_aws_free(struct lks_aws *aws)
{
    if (aws != NULL)
        explicit_bzero(aws, sizeof(*aws));
    lks_free(aws);
}
