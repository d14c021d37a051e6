/*
 * Listing: ListObjectsV2 after a name, page by page until there is enough. Keys
 * come percent-encoded, since XML cannot hold all that a foreign key may.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "store/s3_client.h"

#define QUERY_SIZE_MAX 8192u
#define PAGE_COUNT_MAX 100000u

/* A listing under way, and the element that is being read. */
struct listing {
    struct lks_s3 *s3;
    struct lks_listed *listed;
    size_t max;
    size_t count;
    bool truncated;
    char last[LKS_S3_RAW_KEY_SIZE]; /* the page's last key, whole */

    char key[LKS_S3_RAW_KEY_SIZE];
    uint64_t size;
    int64_t modified_ms;
};

bool lks_s3_decode_key(const char *text, char *key, size_t key_size)
{
    size_t count = 0;

    for (; *text != '\0'; text++) {
        uint8_t byte = (uint8_t)*text;

        if (count + 1 >= key_size)
            return false;
        if (byte == '+') {
            byte = ' ';
        } else if (byte == '%') {
            if (!lks_hex_decode(text + 1, &byte, 1) || byte == 0)
                return false;
            text += 2;
        }
        key[count++] = (char)byte;
    }
    key[count] = '\0';
    return true;
}

/* Keeps a key that is one of ours; others are passed over. */
static void take_key(struct listing *listing)
{
    size_t prefix_size = strlen(listing->s3->prefix);
    const char *key = listing->key + prefix_size;

    snprintf(listing->last, sizeof(listing->last), "%s", listing->key);
    if (strncmp(listing->key, listing->s3->prefix, prefix_size) != 0 ||
        !lks_key_is_valid(key) || listing->count == listing->max)
        return;
    snprintf(listing->listed[listing->count].key, LKS_KEY_SIZE_MAX + 1, "%s",
             key);
    listing->listed[listing->count].size = listing->size;
    listing->listed[listing->count].modified_ms = listing->modified_ms;
    listing->count++;
}

static enum lks_status element_ended(const char *path,
                                     const char *text,
                                     void *arg,
                                     struct lks_error *error)
{
    struct listing *listing = arg;

    if (strcmp(path, "ListBucketResult/IsTruncated") == 0) {
        listing->truncated = strcmp(text, "true") == 0;
    } else if (strcmp(path, "ListBucketResult/Contents/Key") == 0) {
        if (!lks_s3_decode_key(text, listing->key, sizeof(listing->key)))
            return lks_error_set(error, LKS_CORRUPT, "a key that is none");
    } else if (strcmp(path, "ListBucketResult/Contents/Size") == 0) {
        if (!lks_parse_u64(text, &listing->size))
            return lks_error_set(error, LKS_CORRUPT, "a size that is none");
    } else if (strcmp(path, "ListBucketResult/Contents/LastModified") == 0) {
        /* Whole seconds, as a read's Last-Modified says it. */
        listing->modified_ms = lks_xml_time(text);
    } else if (strcmp(path, "ListBucketResult/Contents") == 0) {
        take_key(listing);
    }
    return LKS_OK;
}

/* The query, in order of its names as signing wants it. */
static enum lks_status write_query(const struct listing *listing,
                                   const char *prefix,
                                   size_t max,
                                   struct lks_buf *query,
                                   struct lks_error *error)
{
    enum lks_status status;

    lks_buf_clear(query);
    status = lks_buf_append_format(query, error,
                                   "encoding-type=url&list-type=2&"
                                   "max-keys=%zu&prefix=",
                                   max);
    if (status == LKS_OK)
        status = lks_sign_encode(listing->s3->prefix, false, query, error);
    if (status == LKS_OK)
        status = lks_sign_encode(prefix, false, query, error);
    if (status == LKS_OK && listing->last[0] != '\0')
        status = lks_buf_append_format(query, error, "&start-after=");
    if (status == LKS_OK)
        status = lks_sign_encode(listing->last, false, query, error);
    if (status == LKS_OK)
        status = lks_buf_append(query, "", 1, error);
    return status;
}

static enum lks_status list_page(struct listing *listing,
                                 const char *prefix,
                                 struct lks_buf *query,
                                 struct lks_buf *text,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "GET",
        .text = text,
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    char before[LKS_S3_RAW_KEY_SIZE];
    enum lks_status status;

    status = write_query(listing, prefix, listing->max - listing->count, query,
                         error);
    if (status != LKS_OK)
        return status;
    request.query = (const char *)query->data;
    status = lks_s3_send_again(listing->s3, &request, call, &answer, error);
    if (status != LKS_OK)
        return status;

    memcpy(before, listing->last, sizeof(before));
    listing->truncated = false;
    status =
        lks_xml_walk(text->data, text->size, element_ended, listing, error);
    if (status == LKS_CORRUPT)
        return lks_error_prefix(error, LKS_UNAVAILABLE,
                                "a listing that cannot be read");
    if (status == LKS_OK && listing->truncated &&
        strcmp(listing->last, before) == 0)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the store says that more follows and sends none");
    return status;
}

enum lks_status lks_s3_list(struct lks_store *store,
                            const char *prefix,
                            const char *after,
                            size_t max,
                            struct lks_listed *listed,
                            size_t *out_count,
                            struct lks_call *call,
                            struct lks_error *error)
{
    struct listing *listing = lks_alloc_zero(1, sizeof(*listing));
    struct lks_buf query;
    struct lks_buf text;
    enum lks_status status = LKS_OK;

    lks_buf_init(&query, QUERY_SIZE_MAX);
    lks_buf_init(&text, LKS_S3_REPLY_SIZE_MAX);
    if (listing == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    listing->s3 = (struct lks_s3 *)store;
    listing->listed = listed;
    listing->max = max;
    listing->truncated = true;
    if (after[0] != '\0')
        snprintf(listing->last, sizeof(listing->last), "%s%s",
                 listing->s3->prefix, after);

    for (size_t page = 0;
         page < PAGE_COUNT_MAX && listing->truncated && listing->count < max;
         page++) {
        status = list_page(listing, prefix, &query, &text, call, error);
        if (status != LKS_OK)
            goto done;
    }
    *out_count = listing->count;

done:
    lks_buf_done(&query);
    lks_buf_done(&text);
    lks_free(listing);
    return status;
}
