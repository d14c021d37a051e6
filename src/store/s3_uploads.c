/*
 * Uploads that were begun and not ended: ListMultipartUploads, and
 * AbortMultipartUpload.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/s3_client.h"

#define QUERY_SIZE_MAX 16384u

/* A listing under way, and the element that is being read. */
struct listing {
    struct lks_s3_pages pages;
    const char *prefix;
    struct lks_upload *uploads;
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
    struct lks_s3_pages *pages = &listing->pages;
    struct lks_upload *upload = &listing->uploads[pages->count];
    size_t prefix_size = strlen(pages->s3->prefix);
    const char *key = listing->key + prefix_size;

    memcpy(listing->last_key, listing->key, sizeof(listing->key));
    memcpy(listing->last_id, listing->id, sizeof(listing->last_id));
    if (strncmp(listing->key, pages->s3->prefix, prefix_size) != 0 ||
        !lks_key_is_valid(key) || pages->count == pages->max)
        return;
    snprintf(upload->key, sizeof(upload->key), "%s", key);
    memcpy(upload->id, listing->id, sizeof(upload->id));
    pages->count++;
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
        listing->pages.truncated = strcmp(text, "true") == 0;
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

static enum lks_status write_query(struct lks_buf *query,
                                   void *arg,
                                   struct lks_error *error)
{
    const struct listing *listing = arg;
    const struct lks_s3_pages *pages = &listing->pages;
    enum lks_status status;

    status = lks_buf_append_format(query, error, "encoding-type=url");
    if (status == LKS_OK && listing->last_key[0] != '\0')
        status = lks_buf_append_format(query, error, "&key-marker=");
    if (status == LKS_OK)
        status = lks_sign_encode(listing->last_key, false, query, error);
    if (status == LKS_OK)
        status = lks_buf_append_format(query, error, "&max-uploads=%zu&prefix=",
                                       pages->max - pages->count);
    if (status == LKS_OK)
        status = lks_sign_encode(pages->s3->prefix, false, query, error);
    if (status == LKS_OK)
        status = lks_sign_encode(listing->prefix, false, query, error);
    if (status == LKS_OK && listing->last_key[0] != '\0')
        status = lks_buf_append_format(query, error, "&upload-id-marker=");
    if (status == LKS_OK)
        status = lks_sign_encode(listing->last_id, false, query, error);
    if (status == LKS_OK)
        status = lks_buf_append_format(query, error, "&uploads=");
    return status;
}

static void begin_page(const struct lks_buf *text, void *arg)
{
    struct listing *listing = arg;
    char encoding[8];

    listing->is_encoded =
        lks_xml_find(text->data, text->size,
                     "ListMultipartUploadsResult/EncodingType", encoding,
                     sizeof(encoding));
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
    enum lks_status status;

    if (listing == NULL)
        return lks_error_no_memory(error);
    listing->pages = (struct lks_s3_pages){
        .s3 = (struct lks_s3 *)store,
        .query_size_max = QUERY_SIZE_MAX,
        .max = max,
        .marker = listing->last_id,
        .write_query = write_query,
        .begin = begin_page,
        .ended = element_ended,
        .arg = listing,
    };
    listing->prefix = prefix;
    listing->uploads = uploads;
    if (after != NULL) {
        snprintf(listing->last_key, sizeof(listing->last_key), "%s%s",
                 listing->pages.s3->prefix, after->key);
        memcpy(listing->last_id, after->id, sizeof(listing->last_id));
    }
    status = lks_s3_read_pages(&listing->pages, call, error);
    if (status == LKS_OK)
        *out_count = listing->pages.count;
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
