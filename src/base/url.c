/*
 * Parsing the address of a stream. Nothing is decoded: what is written is the
 * folder's name or the key's. Characters that mean something else in a URL, or
 * that a store and its signature may spell differently, are refused instead.
 */
#include "base/url.h"

#include <stdbool.h>
#include <string.h>

#define NAME_BYTES                                                             \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define S3_PATH_BYTES NAME_BYTES "/!*'()=+@,:&$~"

/* S3 allows 1,024 bytes of key; ours need up to 257 after the prefix. */
#define S3_PATH_SIZE_MAX 767u

#define BUCKET_SIZE_MIN 3u

#define KINDS "file:///folder, mem://name or s3://bucket/prefix"

static enum lks_status refuse(const char *text,
                              const char *why,
                              struct lks_error *error)
{
    /* What stands before an @ may be a password. */
    if (strchr(text, '@') != NULL)
        return lks_error_set(error, LKS_INVALID, "the URL %s", why);
    return lks_error_set(error, LKS_INVALID, "URL '%.200s' %s", text, why);
}

static bool has_only(const char *text, const char *bytes)
{
    return text[strspn(text, bytes)] == '\0';
}

static bool has_control_bytes(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    }
    return false;
}

/* The size without slashes at the end. */
static size_t trimmed_size(const char *text)
{
    size_t size = strlen(text);

    while (size > 0 && text[size - 1] == '/')
        size--;
    return size;
}

/* Whether a segment is empty, or one that a client may resolve away; the path
 * does not end with a slash. */
static bool has_bad_segment(const char *path)
{
    while (*path != '\0') {
        size_t size = strcspn(path, "/");

        if (size == 0 || (size <= 2 && strspn(path, ".") == size))
            return true;
        path += size;
        if (*path == '/')
            path++;
    }
    return false;
}

static enum lks_status parse_file(const char *text,
                                  const char *path,
                                  struct lks_url *url,
                                  struct lks_error *error)
{
    size_t size = trimmed_size(path);

    if (size == 0)
        return refuse(text, "names no folder", error);
    url->kind = LKS_URL_FILE;
    memcpy(url->path, path, size);
    return LKS_OK;
}

static enum lks_status parse_mem(const char *text,
                                 const char *name,
                                 struct lks_url *url,
                                 struct lks_error *error)
{
    size_t size = trimmed_size(name);

    if (size == 0 || size >= sizeof(url->authority))
        return refuse(text, "needs a name of 1 to 255 bytes", error);
    url->kind = LKS_URL_MEM;
    memcpy(url->authority, name, size);
    if (!has_only(url->authority, NAME_BYTES))
        return refuse(text, "may only have letters, digits, '.', '_' and '-'",
                      error);
    return LKS_OK;
}

static enum lks_status parse_s3(const char *text,
                                const char *rest,
                                struct lks_url *url,
                                struct lks_error *error)
{
    size_t bucket_size = strcspn(rest, "/");
    const char *path = rest + bucket_size + (rest[bucket_size] == '/');
    size_t path_size = trimmed_size(path);

    if (bucket_size < BUCKET_SIZE_MIN || bucket_size >= sizeof(url->authority))
        return refuse(text, "needs a bucket of 3 to 255 bytes", error);
    url->kind = LKS_URL_S3;
    memcpy(url->authority, rest, bucket_size);
    if (!has_only(url->authority, NAME_BYTES) || url->authority[0] == '.' ||
        url->authority[0] == '-')
        return refuse(text, "has a bucket that cannot be one", error);

    if (path_size > S3_PATH_SIZE_MAX)
        return refuse(text, "has a prefix of more than 767 bytes", error);
    memcpy(url->path, path, path_size);
    if (!has_only(url->path, S3_PATH_BYTES))
        return refuse(text,
                      "may only have letters, digits and ._-/!*'()=+@,:&$~",
                      error);
    if (has_bad_segment(url->path))
        return refuse(text, "has a segment that is empty, '.' or '..'", error);
    return LKS_OK;
}

/* What follows `scheme` in `text`, or NULL when it begins differently. */
static const char *after(const char *text, const char *scheme)
{
    size_t size = strlen(scheme);

    return strncmp(text, scheme, size) == 0 ? text + size : NULL;
}

static enum lks_status parse(const char *text,
                             struct lks_url *url,
                             struct lks_error *error)
{
    const char *rest;

    if ((rest = after(text, "file://")) != NULL) {
        if (*rest != '/')
            return refuse(text, "needs a whole path, as file:///folder", error);
        return parse_file(text, rest, url, error);
    }
    if ((rest = after(text, "mem://")) != NULL)
        return parse_mem(text, rest, url, error);
    if ((rest = after(text, "s3://")) != NULL)
        return parse_s3(text, rest, url, error);
    /* "s3:/bucket" is a slip, and not the folder "s3:". */
    if (strcspn(text, ":") < strcspn(text, "/"))
        return refuse(text, "is none of " KINDS ", or a path (write ./a:b)",
                      error);
    return parse_file(text, text, url, error);
}

enum lks_status lks_url_parse(const char *text,
                              struct lks_url *out_url,
                              struct lks_error *error)
{
    struct lks_url url;
    enum lks_status status;

    if (text == NULL || *text == '\0')
        return lks_error_set(error, LKS_INVALID,
                             "a URL is needed: " KINDS ", or a path");
    if (has_control_bytes(text))
        return lks_error_set(error, LKS_INVALID,
                             "the URL has control characters");
    if (strlen(text) >= LKS_URL_SIZE_MAX)
        return refuse(text, "has 1024 bytes or more", error);

    memset(&url, 0, sizeof(url));
    status = parse(text, &url, error);
    if (status == LKS_OK)
        *out_url = url;
    return status;
}
