/*
 * One fetch of keys. Messages name the source and what it answered, and never
 * what it gave.
 */
#include "store/credentials_fetch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "store/s3_xml.h"

#define ANSWER_SIZE_MAX (64u << 10)
#define FORM_SIZE_MAX (64u << 10)
#define ROLE_NAME_SIZE 256u
#define TOKEN_SECONDS "21600" /* of a metadata service's session */

#define STS_PATH                                                               \
    "AssumeRoleWithWebIdentityResponse/"                                       \
    "AssumeRoleWithWebIdentityResult/Credentials/"

/* A small exchange with one of these services. */
struct query {
    struct lks_http *http;
    const struct lks_cancel *cancel;
    const char *what; /* for messages */
    struct lks_buf text;
    struct lks_http_reply reply;
};

static enum lks_status send_query(struct query *query,
                                  const char *method,
                                  const char *url,
                                  const struct lks_header *header,
                                  const struct lks_body *body,
                                  struct lks_error *error)
{
    struct lks_http_request request = {
        .method = method,
        .url = url,
        .headers = header,
        .header_count = header != NULL ? 1 : 0,
        .body = body,
        .text = &query->text,
        .cancel = query->cancel,
    };
    const struct lks_http_reply *reply = &query->reply;
    struct lks_xml_failure failure;

    lks_buf_clear(&query->text);
    lks_http_send(query->http, &request, &query->reply);
    if (reply->end == LKS_HTTP_CANCELLED)
        return lks_error_set(error, LKS_CANCELLED, "cancelled");
    if (reply->end == LKS_HTTP_NO_MEMORY)
        return lks_error_no_memory(error);
    if (reply->end != LKS_HTTP_WHOLE)
        return lks_error_set(error, LKS_UNAVAILABLE, "keys from %s: %s",
                             query->what, reply->reason);
    if (reply->http / 100 == 2)
        return LKS_OK;
    lks_xml_failure(query->text.data, query->text.size, &failure);
    return lks_error_set(error,
                         reply->http == 429 || reply->http >= 500 ||
                                 strcmp(failure.code, "Throttling") == 0 ||
                                 strcmp(failure.code,
                                        "IDPCommunicationError") == 0
                             ? LKS_UNAVAILABLE
                             : LKS_DENIED,
                         "keys from %s: HTTP %d %s", query->what, reply->http,
                         failure.code);
}

/* Keys go into a request's head, so nothing that could end a line there. */
static bool copy(char *to, size_t size, const char *from)
{
    if (from == NULL)
        return false;
    for (const char *c = from; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~')
            return false;
    }
    return snprintf(to, size, "%s", from) < (int)size;
}

static int64_t lifetime_of(const char *expiration, int64_t date_ms)
{
    int64_t end_ms = expiration != NULL ? lks_xml_time(expiration) : 0;

    return end_ms == 0 ? LKS_KEYS_FOR_EVER : end_ms - date_ms;
}

enum lks_status lks_keys_parse_json(const char *text,
                                    size_t size,
                                    int64_t date_ms,
                                    struct lks_keys *out_keys,
                                    int64_t *out_lifetime_ms,
                                    struct lks_error *error)
{
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char *token = json_string_value(json_object_get(json, "Token"));
    const char *end = json_string_value(json_object_get(json, "Expiration"));
    struct lks_keys keys = {.access_key = ""};
    enum lks_status status = LKS_OK;

    if (!copy(keys.access_key, sizeof(keys.access_key),
              json_string_value(json_object_get(json, "AccessKeyId"))) ||
        !copy(keys.secret_key, sizeof(keys.secret_key),
              json_string_value(json_object_get(json, "SecretAccessKey"))) ||
        !copy(keys.token, sizeof(keys.token), token != NULL ? token : "")) {
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "an answer without keys in it");
    } else {
        *out_keys = keys;
        *out_lifetime_ms = lifetime_of(end, date_ms);
    }
    explicit_bzero(&keys, sizeof(keys));
    json_decref(json);
    return status;
}

static enum lks_status take_json(const struct query *query,
                                 const struct lks_env *env,
                                 struct lks_keys *out_keys,
                                 int64_t *out_lifetime_ms,
                                 struct lks_error *error)
{
    int64_t date_ms = query->reply.date_ms;
    enum lks_status status;

    if (date_ms == INT64_MIN)
        date_ms = lks_env_wall_ms(env);
    status =
        lks_keys_parse_json((const char *)query->text.data, query->text.size,
                            date_ms, out_keys, out_lifetime_ms, error);
    if (status != LKS_OK)
        lks_error_prefix(error, status, "keys from %s", query->what);
    return status;
}

/* ------------------------------------------------------- a web identity -- */

static enum lks_status write_form(const struct lks_aws *aws,
                                  struct lks_buf *form,
                                  struct lks_error *error)
{
    char *token = lks_file_text(aws->token_file, error);
    enum lks_status status;

    if (token == NULL)
        return error != NULL ? error->status : LKS_DENIED;
    token[strcspn(token, "\r\n")] = '\0';
    status = lks_buf_append_format(form, error,
                                   "Action=AssumeRoleWithWebIdentity"
                                   "&Version=2011-06-15&RoleSessionName=");
    if (status == LKS_OK)
        status = lks_sign_encode(aws->session[0] != '\0' ? aws->session
                                                         : "lakestream",
                                 false, form, error);
    if (status == LKS_OK)
        status = lks_buf_append_format(form, error, "&RoleArn=");
    if (status == LKS_OK)
        status = lks_sign_encode(aws->role, false, form, error);
    if (status == LKS_OK)
        status = lks_buf_append_format(form, error, "&WebIdentityToken=");
    if (status == LKS_OK)
        status = lks_sign_encode(token, false, form, error);
    explicit_bzero(token, strlen(token));
    lks_free(token);
    return status;
}

static bool take_sts(const struct query *query,
                     const struct lks_env *env,
                     struct lks_keys *keys,
                     int64_t *out_lifetime_ms)
{
    const struct lks_buf *text = &query->text;
    int64_t date_ms = query->reply.date_ms;
    char end[64] = "";

    if (date_ms == INT64_MIN)
        date_ms = lks_env_wall_ms(env);
    memset(keys, 0, sizeof(*keys));
    lks_xml_find(text->data, text->size, STS_PATH "Expiration", end,
                 sizeof(end));
    *out_lifetime_ms = lifetime_of(end, date_ms);
    return lks_xml_find(text->data, text->size, STS_PATH "AccessKeyId",
                        keys->access_key, sizeof(keys->access_key)) &&
           lks_xml_find(text->data, text->size, STS_PATH "SecretAccessKey",
                        keys->secret_key, sizeof(keys->secret_key)) &&
           lks_xml_find(text->data, text->size, STS_PATH "SessionToken",
                        keys->token, sizeof(keys->token));
}

static enum lks_status fetch_web_identity(struct query *query,
                                          const struct lks_env *env,
                                          const struct lks_aws *aws,
                                          struct lks_keys *out_keys,
                                          int64_t *out_lifetime_ms,
                                          struct lks_error *error)
{
    static const struct lks_header type = {"content-type",
                                           "application/x-www-form-urlencoded"};
    struct lks_part part;
    struct lks_body body = {.parts = &part, .part_count = 1};
    struct lks_buf form;
    char url[640];
    enum lks_status status;

    query->what = "the token service (web identity)";
    if (aws->sts_endpoint[0] != '\0')
        snprintf(url, sizeof(url), "%s", aws->sts_endpoint);
    else
        snprintf(url, sizeof(url), "https://sts.%s%samazonaws.com", aws->region,
                 aws->region[0] != '\0' ? "." : "");

    lks_buf_init(&form, FORM_SIZE_MAX);
    status = write_form(aws, &form, error);
    if (status == LKS_OK) {
        part = (struct lks_part){form.data, form.size};
        body.size = form.size;
        status = send_query(query, "POST", url, &type, &body, error);
        explicit_bzero(form.data, form.size);
    }
    lks_buf_done(&form);
    if (status == LKS_OK && !take_sts(query, env, out_keys, out_lifetime_ms))
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "keys from %s: an answer without keys in it",
                               query->what);
    return status;
}

/* ------------------------------------------------------------ a container --
 */

static enum lks_status fetch_container(struct query *query,
                                       const struct lks_env *env,
                                       const struct lks_aws *aws,
                                       struct lks_keys *out_keys,
                                       int64_t *out_lifetime_ms,
                                       struct lks_error *error)
{
    struct lks_header header = {"authorization", aws->container_token};
    char *token = NULL;
    enum lks_status status;

    query->what = "the container's address";
    if (aws->container_token_file[0] != '\0') {
        token = lks_file_text(aws->container_token_file, error);
        if (token == NULL)
            return error != NULL ? error->status : LKS_DENIED;
        token[strcspn(token, "\r\n")] = '\0';
        header.value = token;
    }
    status = send_query(query, "GET", aws->container_url,
                        header.value[0] != '\0' ? &header : NULL, NULL, error);
    if (token != NULL)
        explicit_bzero(token, strlen(token));
    lks_free(token);
    if (status != LKS_OK)
        return status;
    return take_json(query, env, out_keys, out_lifetime_ms, error);
}

/* ------------------------------------------------------------ an instance --
 */

static enum lks_status no_source(struct lks_error *error)
{
    return lks_error_set(
        error, LKS_DENIED,
        "no credentials: neither AWS_ACCESS_KEY_ID, nor a web identity, a "
        "profile, a container or a machine that gives some. For a public "
        "bucket set s3_credentials=none");
}

static void copy_answer(const struct query *query, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)query->text.size,
             query->text.data != NULL ? (const char *)query->text.data : "");
    text[strcspn(text, "\r\n")] = '\0';
}

static enum lks_status fetch_instance(struct query *query,
                                      const struct lks_env *env,
                                      const struct lks_aws *aws,
                                      struct lks_keys *out_keys,
                                      int64_t *out_lifetime_ms,
                                      struct lks_error *error)
{
    static const char path[] = "/latest/meta-data/iam/security-credentials/";
    static const struct lks_part nothing = {"", 0};
    static const struct lks_body empty = {&nothing, 1, 0, 0};
    static const struct lks_header ttl = {
        "x-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS};
    char session[512];
    char role[ROLE_NAME_SIZE];
    char url[1024];
    struct lks_header header = {"x-aws-ec2-metadata-token", session};
    enum lks_status status;

    query->what = "the machine's metadata service";
    if (aws->instance_disabled)
        return no_source(error);
    snprintf(url, sizeof(url), "%s/latest/api/token", aws->instance_url);
    status = send_query(query, "PUT", url, &ttl, &empty, error);
    /* Nobody there: this is not such a machine. */
    if (status == LKS_UNAVAILABLE && query->reply.end == LKS_HTTP_NOT_SENT)
        return no_source(error);
    if (status != LKS_OK)
        return status;
    copy_answer(query, session, sizeof(session));

    snprintf(url, sizeof(url), "%s%s", aws->instance_url, path);
    status = send_query(query, "GET", url, &header, NULL, error);
    if (status == LKS_DENIED && query->reply.http == 404)
        return no_source(error); /* A machine without a role. */
    if (status != LKS_OK)
        return status;
    copy_answer(query, role, sizeof(role));

    snprintf(url, sizeof(url), "%s%s%s", aws->instance_url, path, role);
    status = send_query(query, "GET", url, &header, NULL, error);
    if (status != LKS_OK)
        return status;
    return take_json(query, env, out_keys, out_lifetime_ms, error);
}

/* -------------------------------------------------------------- a profile --
 */

/* Reads the files again: somebody may have put fresh keys there. */
static enum lks_status fetch_profile(struct lks_keys *out_keys,
                                     int64_t *out_lifetime_ms,
                                     struct lks_error *error)
{
    struct lks_aws *aws;
    enum lks_status status = lks_aws_read(&aws, error);

    if (status != LKS_OK)
        return status;
    if (aws->source != LKS_KEYS_OF_PROFILE) {
        status =
            lks_error_set(error, LKS_DENIED,
                          "profile '%s' has no keys any more", aws->profile);
    } else {
        *out_keys = aws->keys;
        *out_lifetime_ms = LKS_KEYS_FOR_EVER;
    }
    lks_aws_free(aws);
    return status;
}

enum lks_status lks_keys_fetch(const struct lks_env *env,
                               const struct lks_aws *aws,
                               struct lks_http *http,
                               const struct lks_cancel *cancel,
                               struct lks_keys *out_keys,
                               int64_t *out_lifetime_ms,
                               struct lks_error *error)
{
    struct query query = {.http = http, .cancel = cancel};
    enum lks_status status = LKS_OK;

    lks_buf_init(&query.text, ANSWER_SIZE_MAX);
    switch (aws->source) {
    case LKS_KEYS_OF_ENVIRONMENT:
        *out_keys = aws->keys;
        *out_lifetime_ms = LKS_KEYS_FOR_EVER;
        break;
    case LKS_KEYS_OF_PROFILE:
        status = fetch_profile(out_keys, out_lifetime_ms, error);
        break;
    case LKS_KEYS_OF_WEB_IDENTITY:
        status = fetch_web_identity(&query, env, aws, out_keys, out_lifetime_ms,
                                    error);
        break;
    case LKS_KEYS_OF_CONTAINER:
        status =
            fetch_container(&query, env, aws, out_keys, out_lifetime_ms, error);
        break;
    case LKS_KEYS_OF_INSTANCE:
        status =
            fetch_instance(&query, env, aws, out_keys, out_lifetime_ms, error);
        break;
    }
    if (query.text.data != NULL)
        explicit_bzero(query.text.data, query.text.size);
    lks_buf_done(&query.text);
    return status;
}
