/*
 * Listing objects: ListObjectsV2 after a name. Keys come percent-encoded, since
 * XML cannot hold all that a foreign key may.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "store/s3_client.h"

#define QUERY_SIZE_MAX 8192u

/* A listing under way, and the element that is being read. */
struct listing {
    struct lks_s3_pages pages;
    const char *prefix;
    struct lks_listed *listed;
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
    struct lks_s3_pages *pages = &listing->pages;
    struct lks_listed *listed = &listing->listed[pages->count];
    size_t prefix_size = strlen(pages->s3->prefix);
    const char *key = listing->key + prefix_size;

    snprintf(listing->last, sizeof(listing->last), "%s", listing->key);
    if (strncmp(listing->key, pages->s3->prefix, prefix_size) != 0 ||
        !lks_key_is_valid(key) || pages->count == pages->max)
        return;
    snprintf(listed->key, sizeof(listed->key), "%s", key);
    listed->size = listing->size;
    listed->modified_ms = listing->modified_ms;
    pages->count++;
}

static enum lks_status element_ended(const char *path,
                                     const char *text,
                                     void *arg,
                                     struct lks_error *error)
{
    struct listing *listing = arg;

    if (strcmp(path, "ListBucketResult/IsTruncated") == 0) {
        listing->pages.truncated = strcmp(text, "true") == 0;
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

static enum lks_status write_query(struct lks_buf *query,
                                   void *arg,
                                   struct lks_error *error)
{
    const struct listing *listing = arg;
    const struct lks_s3_pages *pages = &listing->pages;
    enum lks_status status;

    status = lks_buf_append_format(query, error,
                                   "encoding-type=url&list-type=2&"
                                   "max-keys=%zu&prefix=",
                                   pages->max - pages->count);
    if (status == LKS_OK)
        status = lks_sign_encode(pages->s3->prefix, false, query, error);
    if (status == LKS_OK)
        status = lks_sign_encode(listing->prefix, false, query, error);
    if (status == LKS_OK && listing->last[0] != '\0')
        status = lks_buf_append_format(query, error, "&start-after=");
    if (status == LKS_OK)
        status = lks_sign_encode(listing->last, false, query, error);
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
    enum lks_status status;

    if (listing == NULL)
        return lks_error_no_memory(error);
    listing->pages = (struct lks_s3_pages){
        .s3 = (struct lks_s3 *)store,
        .query_size_max = QUERY_SIZE_MAX,
        .max = max,
        .marker = listing->last,
        .write_query = write_query,
        .ended = element_ended,
        .arg = listing,
    };
    listing->prefix = prefix;
    listing->listed = listed;
    if (after[0] != '\0')
        snprintf(listing->last, sizeof(listing->last), "%s%s",
                 listing->pages.s3->prefix, after);

    status = lks_s3_read_pages(&listing->pages, call, error);
    if (status == LKS_OK)
        *out_count = listing->pages.count;
    lks_free(listing);
    return status;
}
