/*
 * The store in S3 and all that speak it: opening one, from a URL, the options
 * and what the machine says. The operations are in s3_get.c, s3_put.c and so
 * on; what is required of a server, in docs/store.md.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/credentials_aws.h"
#include "store/parallel.h"
#include "store/s3_client.h"

#define REGION_FALLBACK "us-east-1"

static void s3_close(struct lks_store *store)
{
    struct lks_s3 *s3 = (struct lks_s3 *)store;

    lks_http_free(s3->http);
    lks_keychain_release(s3->keychain);
    lks_retry_budget_free(s3->budget);
    lks_monitor_free(s3->store.env, s3->monitor);
    lks_free(s3);
}

static const struct lks_store_ops s3_ops = {
    .get = lks_s3_get,
    .put = lks_s3_put,
    .list = lks_s3_list,
    .remove = lks_s3_remove,
    .stat = lks_s3_stat,
    .uploads = lks_s3_uploads,
    .abort = lks_s3_abort,
    .close = s3_close,
};

/* A password that somebody put there is not repeated. */
static enum lks_status refuse_endpoint(const char *endpoint,
                                       struct lks_error *error)
{
    enum lks_status status;

    if (strchr(endpoint, '@') != NULL)
        return lks_error_set(error, LKS_INVALID,
                             "the endpoint has a user or a password in it: it "
                             "is only http://host[:port] or "
                             "https://host[:port], and keys are given as "
                             "credentials");
    status = lks_check_control("the endpoint", endpoint, error);
    if (status != LKS_OK)
        return status;
    return lks_error_set(error, LKS_INVALID,
                         "the endpoint '%.200s' is not http://host[:port] or "
                         "https://host[:port]",
                         endpoint);
}

/* "http://host:port/base" into scheme, host, path; without the port that the
 * scheme implies, as it is in the header that gets signed. */
static enum lks_status parse_endpoint(struct lks_s3 *s3,
                                      const char *endpoint,
                                      struct lks_error *error)
{
    const char *host = strstr(endpoint, "://");
    const char *implied;
    size_t size;

    if (host == NULL ||
        lks_check_control("the endpoint", endpoint, NULL) != LKS_OK)
        return refuse_endpoint(endpoint, error);
    snprintf(s3->scheme, sizeof(s3->scheme), "%.*s", (int)(host - endpoint),
             endpoint);
    if (strcmp(s3->scheme, "http") != 0 && strcmp(s3->scheme, "https") != 0)
        return refuse_endpoint(endpoint, error);
    host += 3;
    size = strcspn(host, "/");
    if (size == 0 || size >= sizeof(s3->host) || host[size - 1] == ':' ||
        strcspn(host, "@?# ") < strlen(host))
        return refuse_endpoint(endpoint, error);
    snprintf(s3->host, sizeof(s3->host), "%.*s", (int)size, host);
    implied = strcmp(s3->scheme, "http") == 0 ? ":80" : ":443";
    if (size > strlen(implied) &&
        strcmp(s3->host + size - strlen(implied), implied) == 0)
        s3->host[size - strlen(implied)] = '\0';

    snprintf(s3->store.place, sizeof(s3->store.place), " at %.7s://%.200s",
             s3->scheme, s3->host);
    host += size;
    size = strlen(host);
    while (size > 0 && host[size - 1] == '/')
        size--;
    if (size + sizeof(s3->bucket) + 2 > sizeof(s3->path))
        return refuse_endpoint(endpoint, error);
    snprintf(s3->path, sizeof(s3->path), "%.*s", (int)size, host);
    return LKS_OK;
}

/* A name with dots does not match the certificate for *.s3.amazonaws.com. */
static bool wants_bucket_in_host(const struct lks_s3 *s3,
                                 const struct lks_options *options)
{
    switch (lks_options_number(options, LKS_OPTION_S3_ADDRESSING)) {
    case 0:
        return s3->host[0] == '\0' && strchr(s3->bucket, '.') == NULL;
    case 1:
        return false;
    default:
        return true;
    }
}

static enum lks_status find_place(struct lks_s3 *s3,
                                  const char *bucket,
                                  const char *prefix,
                                  const struct lks_options *options,
                                  const struct lks_aws *aws,
                                  struct lks_error *error)
{
    const char *endpoint = lks_options_text(options, LKS_OPTION_ENDPOINT);
    const char *region = lks_options_text(options, LKS_OPTION_REGION);
    size_t path_size;
    enum lks_status status;

    snprintf(s3->bucket, sizeof(s3->bucket), "%s", bucket);
    snprintf(s3->prefix, sizeof(s3->prefix), "%s%s", prefix,
             prefix[0] != '\0' ? "/" : "");
    if (endpoint[0] == '\0')
        endpoint = aws->endpoint;
    snprintf(s3->scheme, sizeof(s3->scheme), "https");
    if (endpoint[0] != '\0') {
        status = parse_endpoint(s3, endpoint, error);
        if (status != LKS_OK)
            return status;
    }
    if (region[0] == '\0')
        region = aws->region[0] != '\0' ? aws->region : REGION_FALLBACK;
    status = lks_check_control("the region", region, error);
    if (status != LKS_OK)
        return status;
    snprintf(s3->locked.region, sizeof(s3->locked.region), "%s", region);

    s3->bucket_in_host = wants_bucket_in_host(s3, options);
    path_size = strlen(s3->path);
    if (!s3->bucket_in_host)
        snprintf(s3->path + path_size, sizeof(s3->path) - path_size, "/%s",
                 s3->bucket);
    return LKS_OK;
}

static void read_options(struct lks_s3 *s3, const struct lks_options *options)
{
    s3->send_checksum =
        lks_options_number(options, LKS_OPTION_S3_CHECKSUM) == 0;
    s3->multipart_size =
        lks_options_number(options, LKS_OPTION_MULTIPART_BYTES);
    s3->part_size = lks_options_number(options, LKS_OPTION_PART_BYTES);
    s3->part_workers =
        (uint32_t)lks_options_number(options, LKS_OPTION_PART_TRANSFERS);
    s3->retry_timeout_ms =
        lks_options_number(options, LKS_OPTION_RETRY_TIMEOUT_MS);
}

static enum lks_status connect_http(struct lks_s3 *s3,
                                    const struct lks_options *options,
                                    const struct lks_aws *aws,
                                    struct lks_error *error)
{
    const char *ca_bundle = lks_options_text(options, LKS_OPTION_CA_BUNDLE);
    struct lks_http_limits limits = {
        .connect_timeout_ms =
            lks_options_number(options, LKS_OPTION_CONNECT_TIMEOUT_MS),
        .first_byte_timeout_ms =
            lks_options_number(options, LKS_OPTION_FIRST_BYTE_TIMEOUT_MS),
        .stall_timeout_ms =
            lks_options_number(options, LKS_OPTION_STALL_TIMEOUT_MS),
        .total_timeout_ms =
            lks_options_number(options, LKS_OPTION_REQUEST_TIMEOUT_MS),
        .ca_bundle = ca_bundle[0] != '\0' ? ca_bundle : aws->ca_bundle,
    };

    return lks_http_new(s3->store.env, &limits, &s3->http, error);
}

enum lks_status lks_store_s3_open(const char *bucket,
                                  const char *prefix,
                                  const struct lks_env *env,
                                  const struct lks_options *options,
                                  struct lks_store **out_store,
                                  struct lks_error *error)
{
    struct lks_s3 *s3 = lks_alloc_zero(1, sizeof(*s3));
    struct lks_aws *aws = NULL;
    enum lks_status status;

    if (s3 == NULL)
        return lks_error_no_memory(error);
    lks_store_init(&s3->store, &s3_ops, env, "s3://%s%s%s", bucket,
                   prefix[0] != '\0' ? "/" : "", prefix);
    read_options(s3, options);
    status = lks_aws_read(&aws, error);
    if (status == LKS_OK)
        status = find_place(s3, bucket, prefix, options, aws, error);
    if (status == LKS_OK)
        status = lks_monitor_new(env, &s3->monitor, error);
    if (status == LKS_OK)
        status = lks_retry_budget_new(env, &s3->budget, error);
    if (status == LKS_OK)
        status = connect_http(s3, options, aws, error);
    if (status == LKS_OK &&
        lks_options_number(options, LKS_OPTION_S3_CREDENTIALS) == 0)
        status = lks_keychain_acquire(env, aws, &s3->keychain, error);
    if (status == LKS_OK) {
        *out_store = &s3->store;
        s3 = NULL;
    }
    lks_aws_free(aws);
    if (s3 != NULL)
        s3_close(&s3->store);
    return status;
}
