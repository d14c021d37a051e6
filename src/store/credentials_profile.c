/*
 * A profile is taken whole or refused: to take half of one for none would go on
 * as somebody else.
 */
#include "store/credentials_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "store/credentials_ini.h"

/* In a container HOME is often a folder that its user may not look into: what
 * may be there is nobody's wish. But a file that was named has to be read. */
static bool is_there(const char *path, bool named)
{
    struct stat stat_of;

    if (stat(path, &stat_of) == 0)
        return true;
    return named && errno != ENOENT && errno != ENOTDIR;
}

/* The file that `name` names, or else ~/.aws/<standard>. Not being there is
 * like being empty; being unreadable is not. */
static enum lks_status read_shared(const char *name,
                                   const char *standard,
                                   char **out_text,
                                   struct lks_error *error)
{
    const char *path = lks_aws_variable(name);
    const char *home = lks_aws_variable("HOME");
    char at_home[1024];
    size_t bad_line;

    if (path == NULL) {
        snprintf(at_home, sizeof(at_home), "%s/.aws/%s",
                 home != NULL ? home : "", standard);
        path = at_home;
    }
    if (!is_there(path, path != at_home)) {
        *out_text = lks_text_dup("");
        return *out_text != NULL ? LKS_OK : lks_error_no_memory(error);
    }
    *out_text = lks_file_text(path, error);
    if (*out_text == NULL)
        return error != NULL ? error->status : LKS_DENIED;
    bad_line = lks_ini_bad_line(*out_text);
    if (bad_line != 0)
        return lks_error_set(error, LKS_INVALID,
                             "%.400s, line %zu: a section without its ']'",
                             path, bad_line);
    return LKS_OK;
}

enum lks_status lks_profile_read(struct lks_profile *profile,
                                 const char *name,
                                 struct lks_error *error)
{
    enum lks_status status;

    *profile = (struct lks_profile){.name = name};
    snprintf(profile->section, sizeof(profile->section), "%s%s",
             strcmp(name, "default") == 0 ? "" : "profile ", name);
    status = read_shared("AWS_CONFIG_FILE", "config", &profile->config, error);
    if (status == LKS_OK)
        status = read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials",
                             &profile->credentials, error);
    return status;
}

void lks_profile_done(struct lks_profile *profile)
{
    lks_free(profile->config);
    lks_free(profile->credentials);
}

/* The credentials file wins over the config file. */
static enum lks_ini find(const struct lks_profile *profile,
                         const char *name,
                         char *value,
                         size_t size)
{
    enum lks_ini found =
        lks_ini_find(profile->credentials, profile->name, name, value, size);

    if (found != LKS_INI_ABSENT)
        return found;
    return lks_ini_find(profile->config, profile->section, name, value, size);
}

bool lks_profile_find(struct lks_profile *profile,
                      const char *name,
                      char *value,
                      size_t size)
{
    enum lks_ini found = find(profile, name, value, size);

    if (found == LKS_INI_TOO_LONG)
        profile->too_long = name;
    return found == LKS_INI_FOUND;
}

static bool says(const struct lks_profile *profile, const char *name)
{
    char value[1];

    return find(profile, name, value, sizeof(value)) != LKS_INI_ABSENT;
}

enum lks_status lks_profile_fits(const struct lks_profile *profile,
                                 struct lks_error *error)
{
    if (profile->too_long == NULL)
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID, "profile '%s': %s is too long",
                         profile->name, profile->too_long);
}

static enum lks_status refuse_half(const struct lks_profile *profile,
                                   const char *has,
                                   const char *lacks,
                                   struct lks_error *error)
{
    return lks_error_set(error, LKS_INVALID, "profile '%s' has %s, but no %s",
                         profile->name, has, lacks);
}

static enum lks_status read_web_identity(struct lks_profile *profile,
                                         struct lks_aws *aws,
                                         struct lks_error *error)
{
    aws->source = LKS_KEYS_OF_WEB_IDENTITY;
    lks_profile_find(profile, "web_identity_token_file", aws->token_file,
                     sizeof(aws->token_file));
    lks_profile_find(profile, "role_arn", aws->role, sizeof(aws->role));
    lks_profile_find(profile, "role_session_name", aws->session,
                     sizeof(aws->session));
    if (profile->too_long == NULL && aws->role[0] == '\0')
        return refuse_half(profile, "web_identity_token_file", "role_arn",
                           error);
    return lks_profile_fits(profile, error);
}

static enum lks_status read_keys(struct lks_profile *profile,
                                 struct lks_aws *aws,
                                 struct lks_error *error)
{
    struct lks_keys *keys = &aws->keys;

    aws->source = LKS_KEYS_OF_PROFILE;
    lks_profile_find(profile, "aws_access_key_id", keys->access_key,
                     sizeof(keys->access_key));
    lks_profile_find(profile, "aws_secret_access_key", keys->secret_key,
                     sizeof(keys->secret_key));
    lks_profile_find(profile, "aws_session_token", keys->token,
                     sizeof(keys->token));
    if (profile->too_long != NULL)
        return lks_profile_fits(profile, error);
    if (keys->access_key[0] == '\0')
        return refuse_half(profile, "aws_secret_access_key",
                           "aws_access_key_id", error);
    if (keys->secret_key[0] == '\0')
        return refuse_half(profile, "aws_access_key_id",
                           "aws_secret_access_key", error);
    return LKS_OK;
}

static enum lks_status refuse_unknown(const struct lks_profile *profile,
                                      struct lks_error *error)
{
    static const char *const unknown[] = {
        "credential_process", "sso_session",       "sso_start_url",
        "source_profile",     "credential_source",
    };

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (says(profile, unknown[i]))
            return lks_error_set(error, LKS_INVALID,
                                 "profile '%s' gets its keys by %s, which is "
                                 "not known here: put them into the "
                                 "environment, as in eval \"$(aws configure "
                                 "export-credentials --format env)\"",
                                 profile->name, unknown[i]);
    }
    if (says(profile, "role_arn"))
        return refuse_half(profile, "role_arn", "web_identity_token_file",
                           error);
    if (lks_aws_variable("AWS_PROFILE") != NULL &&
        !lks_ini_has(profile->config, profile->section) &&
        !lks_ini_has(profile->credentials, profile->name))
        return lks_error_set(error, LKS_INVALID,
                             "there is no profile '%s', which AWS_PROFILE "
                             "names",
                             profile->name);
    return LKS_OK;
}

enum lks_status lks_profile_keys(struct lks_profile *profile,
                                 struct lks_aws *aws,
                                 bool *out_found,
                                 struct lks_error *error)
{
    *out_found = true;
    if (says(profile, "web_identity_token_file"))
        return read_web_identity(profile, aws, error);
    if (says(profile, "aws_access_key_id") ||
        says(profile, "aws_secret_access_key"))
        return read_keys(profile, aws, error);
    *out_found = false;
    return refuse_unknown(profile, error);
}
