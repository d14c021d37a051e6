/*
 * Signature Version 4. The canonical request is never put together in memory:
 * its pieces go to the hash as they come.
 */
#include "store/s3_sign.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include "base/bytes.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define TERMINATOR "aws4_request"
#define HASH_TEXT_SIZE (2 * SHA256_DIGEST_SIZE + 1)
#define DAY_SIZE 8 /* of the date, YYYYMMDD */
#define SECRET_SIZE_MAX 256u

struct query_pair {
    const char *name;
    size_t name_size;
    const char *value;
    size_t value_size;
};

void lks_sign_date(int64_t wall_ms, char date[LKS_SIGN_DATE_SIZE])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;

    gmtime_r(&seconds, &utc);
    strftime(date, LKS_SIGN_DATE_SIZE, "%Y%m%dT%H%M%SZ", &utc);
}

enum lks_status lks_sign_encode(const char *text,
                                bool keep_slashes,
                                struct lks_buf *out,
                                struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    for (; *text != '\0' && status == LKS_OK; text++) {
        char c = *text;

        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            (c >= '0' && c <= '9') || strchr("-._~", c) != NULL ||
            (c == '/' && keep_slashes))
            status = lks_buf_append(out, text, 1, error);
        else
            status = lks_buf_append_format(out, error, "%%%02X",
                                           (unsigned int)(unsigned char)c);
    }
    return status;
}

static void add(struct sha256_ctx *hash, const char *data, size_t size)
{
    sha256_update(hash, size, (const uint8_t *)data);
}

static void add_text(struct sha256_ctx *hash, const char *text)
{
    add(hash, text, strlen(text));
}

/* As memcmp, a shorter one first. */
static int compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t size = a_size < b_size ? a_size : b_size;
    int order = memcmp(a, b, size);

    if (order != 0)
        return order;
    return (a_size > b_size) - (a_size < b_size);
}

static bool pair_comes_before(const struct query_pair *a,
                              const struct query_pair *b)
{
    int order = compare(a->name, a->name_size, b->name, b->name_size);

    if (order == 0)
        order = compare(a->value, a->value_size, b->value, b->value_size);
    return order < 0;
}

/* Splits the query into sorted pairs, and returns how many there are. */
static size_t split_query(const char *query,
                          struct query_pair pairs[LKS_SIGN_QUERY_MAX])
{
    size_t count = 0;

    while (*query != '\0') {
        size_t size = strcspn(query, "&");
        size_t name_size = strcspn(query, "=&");
        struct query_pair pair = {query, name_size, query + name_size, 0};
        size_t place = count;

        if (name_size < size) {
            pair.value++;
            pair.value_size = size - name_size - 1;
        }
        assert(count < LKS_SIGN_QUERY_MAX);
        for (; place > 0 && pair_comes_before(&pair, &pairs[place - 1]);
             place--)
            pairs[place] = pairs[place - 1];
        pairs[place] = pair;
        count++;
        query += size;
        query += *query == '&';
    }
    return count;
}

static void add_query(struct sha256_ctx *hash, const char *query)
{
    struct query_pair pairs[LKS_SIGN_QUERY_MAX];
    size_t count = split_query(query, pairs);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            add_text(hash, "&");
        add(hash, pairs[i].name, pairs[i].name_size);
        add_text(hash, "=");
        add(hash, pairs[i].value, pairs[i].value_size);
    }
}

/* Without blanks at its ends, and with one for each run of them inside. */
static void add_trimmed(struct sha256_ctx *hash, const char *value)
{
    bool first = true;

    for (;;) {
        size_t size;

        value += strspn(value, " \t");
        size = strcspn(value, " \t");
        if (size == 0)
            return;
        if (!first)
            add_text(hash, " ");
        first = false;
        add(hash, value, size);
        value += size;
    }
}

/* Pointers to the headers in the order of their names. */
static void sort_headers(const struct lks_signing *signing,
                         const struct lks_header **sorted)
{
    assert(signing->header_count <= LKS_SIGN_HEADERS_MAX);

    for (size_t i = 0; i < signing->header_count; i++) {
        const struct lks_header *header = &signing->headers[i];
        size_t place = i;

        for (; place > 0 && strcmp(header->name, sorted[place - 1]->name) < 0;
             place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = header;
    }
}

static void finish(struct sha256_ctx *hash, char text[HASH_TEXT_SIZE])
{
    uint8_t digest[SHA256_DIGEST_SIZE];

    sha256_digest(hash, sizeof(digest), digest);
    lks_hex_encode(digest, sizeof(digest), text);
}

static void hash_request(const struct lks_signing *signing,
                         const struct lks_header *const *sorted,
                         char text[HASH_TEXT_SIZE])
{
    struct sha256_ctx hash;

    sha256_init(&hash);
    add_text(&hash, signing->method);
    add_text(&hash, "\n");
    add_text(&hash, signing->path);
    add_text(&hash, "\n");
    add_query(&hash, signing->query);
    add_text(&hash, "\n");
    for (size_t i = 0; i < signing->header_count; i++) {
        add_text(&hash, sorted[i]->name);
        add_text(&hash, ":");
        add_trimmed(&hash, sorted[i]->value);
        add_text(&hash, "\n");
    }
    for (size_t i = 0; i < signing->header_count; i++) {
        add_text(&hash, i > 0 ? ";" : "\n");
        add_text(&hash, sorted[i]->name);
    }
    add_text(&hash, "\n");
    add_text(&hash, signing->payload_hash);
    finish(&hash, text);
}

static void mac(uint8_t key[SHA256_DIGEST_SIZE],
                size_t key_size,
                const void *data,
                size_t size,
                uint8_t out[SHA256_DIGEST_SIZE])
{
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, key_size, key);
    hmac_sha256_update(&context, size, data);
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, out);
}

/* The key of this day, region and service. */
static void derive_key(const struct lks_signing *signing,
                       uint8_t key[SHA256_DIGEST_SIZE])
{
    char secret[sizeof("AWS4") + SECRET_SIZE_MAX];
    int size = snprintf(secret, sizeof(secret), "AWS4%s", signing->secret_key);

    assert(size < (int)sizeof(secret));
    mac((uint8_t *)secret, (size_t)size, signing->date, DAY_SIZE, key);
    mac(key, SHA256_DIGEST_SIZE, signing->region, strlen(signing->region), key);
    mac(key, SHA256_DIGEST_SIZE, signing->service, strlen(signing->service),
        key);
    mac(key, SHA256_DIGEST_SIZE, TERMINATOR, strlen(TERMINATOR), key);
    explicit_bzero(secret, sizeof(secret));
}

enum lks_status lks_sign(const struct lks_signing *signing,
                         struct lks_buf *out,
                         struct lks_error *error)
{
    const struct lks_header *sorted[LKS_SIGN_HEADERS_MAX];
    char request_hash[HASH_TEXT_SIZE];
    char signature[HASH_TEXT_SIZE];
    uint8_t key[SHA256_DIGEST_SIZE];
    char text[512];
    int size;
    enum lks_status status;

    assert(strlen(signing->date) == LKS_SIGN_DATE_SIZE - 1);

    sort_headers(signing, sorted);
    hash_request(signing, sorted, request_hash);
    size = snprintf(text, sizeof(text),
                    ALGORITHM "\n%s\n%.8s/%s/%s/" TERMINATOR "\n%s",
                    signing->date, signing->date, signing->region,
                    signing->service, request_hash);
    if (size >= (int)sizeof(text))
        return lks_error_set(error, LKS_INVALID, "the region is too long");
    derive_key(signing, key);
    mac(key, sizeof(key), text, (size_t)size, key);
    lks_hex_encode(key, sizeof(key), signature);

    status =
        lks_buf_append_format(out, error,
                              ALGORITHM " Credential=%s/%.8s/%s/%s/" TERMINATOR
                                        ",SignedHeaders=",
                              signing->access_key, signing->date,
                              signing->region, signing->service);
    for (size_t i = 0; i < signing->header_count && status == LKS_OK; i++)
        status = lks_buf_append_format(out, error, "%s%s", i > 0 ? ";" : "",
                                       sorted[i]->name);
    if (status == LKS_OK)
        status = lks_buf_append_format(out, error, ",Signature=%s", signature);
    return status;
}
