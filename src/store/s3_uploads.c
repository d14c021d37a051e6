/*
 * Uploads that were begun and not ended: ListMultipartUploads, page by page
 * until there is enough, and AbortMultipartUpload.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/s3_client.h"

#define QUERY_SIZE_MAX 16384u
#define PAGE_COUNT_MAX 100000u

/* A listing under way, and the element that is being read. */
struct listing {
    struct lks_s3 *s3;
    struct lks_upload *uploads;
    size_t max;
    size_t count;
    bool truncated;
    bool is_encoded; /* not all servers do it */
    /* The page's last, whole. */
    char last_key[LKS_S3_RAW_KEY_SIZE + LKS_KEY_SIZE_MAX];
    char last_id[LKS_UPLOAD_ID_SIZE];

    char key[LKS_S3_RAW_KEY_SIZE];
    char id[LKS_UPLOAD_ID_SIZE];
};

/* Keeps an upload of a key that is one of ours; others are passed over. */
static void take_upload(struct listing *listing)
{
    struct lks_upload *upload = &listing->uploads[listing->count];
    size_t prefix_size = strlen(listing->s3->prefix);
    const char *key = listing->key + prefix_size;

    memcpy(listing->last_key, listing->key, sizeof(listing->key));
    memcpy(listing->last_id, listing->id, sizeof(listing->last_id));
    if (strncmp(listing->key, listing->s3->prefix, prefix_size) != 0 ||
        !lks_key_is_valid(key) || listing->count == listing->max)
        return;
    snprintf(upload->key, sizeof(upload->key), "%s", key);
    memcpy(upload->id, listing->id, sizeof(upload->id));
    listing->count++;
}

static bool read_key(struct listing *listing, const char *text)
{
    if (listing->is_encoded)
        return lks_s3_decode_key(text, listing->key, sizeof(listing->key));
    return snprintf(listing->key, sizeof(listing->key), "%s", text) <
           (int)sizeof(listing->key);
}

static enum lks_status element_ended(const char *path,
                                     const char *text,
                                     void *arg,
                                     struct lks_error *error)
{
    struct listing *listing = arg;

    if (strcmp(path, "ListMultipartUploadsResult/IsTruncated") == 0) {
        listing->truncated = strcmp(text, "true") == 0;
    } else if (strcmp(path, "ListMultipartUploadsResult/Upload/Key") == 0) {
        if (!read_key(listing, text))
            return lks_error_set(error, LKS_CORRUPT, "a key that is none");
    } else if (strcmp(path, "ListMultipartUploadsResult/Upload/UploadId") ==
               0) {
        if (snprintf(listing->id, sizeof(listing->id), "%s", text) >=
            (int)sizeof(listing->id))
            return lks_error_set(error, LKS_CORRUPT, "an id that is too long");
    } else if (strcmp(path, "ListMultipartUploadsResult/Upload") == 0) {
        take_upload(listing);
    }
    return LKS_OK;
}

/* The query, in order of its names as signing wants it. */
static enum lks_status write_query(const struct listing *listing,
                                   const char *prefix,
                                   struct lks_buf *query,
                                   struct lks_error *error)
{
    enum lks_status status;

    lks_buf_clear(query);
    status = lks_buf_append_format(query, error, "encoding-type=url");
    if (status == LKS_OK && listing->last_key[0] != '\0')
        status = lks_buf_append_format(query, error, "&key-marker=");
    if (status == LKS_OK)
        status = lks_sign_encode(listing->last_key, false, query, error);
    if (status == LKS_OK)
        status = lks_buf_append_format(query, error, "&max-uploads=%zu&prefix=",
                                       listing->max - listing->count);
    if (status == LKS_OK)
        status = lks_sign_encode(listing->s3->prefix, false, query, error);
    if (status == LKS_OK)
        status = lks_sign_encode(prefix, false, query, error);
    if (status == LKS_OK && listing->last_key[0] != '\0')
        status = lks_buf_append_format(query, error, "&upload-id-marker=");
    if (status == LKS_OK)
        status = lks_sign_encode(listing->last_id, false, query, error);
    if (status == LKS_OK)
        status = lks_buf_append_format(query, error, "&uploads=");
    if (status == LKS_OK)
        status = lks_buf_append(query, "", 1, error);
    return status;
}

static enum lks_status read_page(struct listing *listing,
                                 const struct lks_buf *text,
                                 struct lks_error *error)
{
    char before[LKS_UPLOAD_ID_SIZE];
    char encoding[8];
    enum lks_status status;

    memcpy(before, listing->last_id, sizeof(before));
    listing->truncated = false;
    listing->is_encoded =
        lks_xml_find(text->data, text->size,
                     "ListMultipartUploadsResult/EncodingType", encoding,
                     sizeof(encoding));
    status =
        lks_xml_walk(text->data, text->size, element_ended, listing, error);
    if (status == LKS_CORRUPT)
        return lks_error_prefix(error, LKS_UNAVAILABLE,
                                "a listing that cannot be read");
    if (status == LKS_OK && listing->truncated &&
        strcmp(listing->last_id, before) == 0)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the store says that more follows and sends none");
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
    enum lks_status status = write_query(listing, prefix, query, error);

    if (status != LKS_OK)
        return status;
    request.query = (const char *)query->data;
    status = lks_s3_send_again(listing->s3, &request, call, &answer, error);
    return status == LKS_OK ? read_page(listing, text, error) : status;
}

enum lks_status lks_s3_uploads(struct lks_store *store,
                               const char *prefix,
                               const struct lks_upload *after,
                               size_t max,
                               struct lks_upload *uploads,
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
    listing->uploads = uploads;
    listing->max = max;
    listing->truncated = true;
    if (after != NULL) {
        snprintf(listing->last_key, sizeof(listing->last_key), "%s%s",
                 listing->s3->prefix, after->key);
        memcpy(listing->last_id, after->id, sizeof(listing->last_id));
    }
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

enum lks_status lks_s3_abort(struct lks_store *store,
                             const struct lks_upload *upload,
                             struct lks_call *call,
                             struct lks_error *error)
{
    struct lks_s3 *s3 = (struct lks_s3 *)store;
    /* An id is used once, so that this may be sent again at will. */
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "DELETE",
        .key = upload->key,
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    struct lks_buf query;
    enum lks_status status;

    memset(&answer, 0, sizeof(answer));
    lks_buf_init(&query, QUERY_SIZE_MAX);
    status = lks_buf_append_format(&query, error, "uploadId=");
    if (status == LKS_OK)
        status = lks_sign_encode(upload->id, false, &query, error);
    if (status == LKS_OK)
        status = lks_buf_append(&query, "", 1, error);
    if (status == LKS_OK) {
        request.query = (const char *)query.data;
        status = lks_s3_send_again(s3, &request, call, &answer, error);
    }
    lks_buf_done(&query);
    if (strcmp(answer.failure.code, "NoSuchUpload") == 0)
        return LKS_OK;
    return status;
}
