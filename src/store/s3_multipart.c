/*
 * Uploading a large object in parts, several at a time. Nobody sees a part, so
 * a part may be sent again; what makes the object appear is one request at the
 * end, which is a write like any other and sent once.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "store/parallel.h"
#include "store/s3_client.h"

#define QUERY_SIZE (3 * LKS_UPLOAD_ID_SIZE + 64u)
#define DOCUMENT_SIZE_MAX (4u << 20)
#define REPLY_SIZE_MAX (64u << 10)
#define ABORT_TIMEOUT_MS 600u /* whoever closes a stream waits for it */

struct part_done {
    char etag[LKS_ETAG_SIZE];
    char checksum[LKS_S3_CHECKSUM_SIZE];
};

struct upload {
    struct lks_s3 *s3;
    const char *key;
    const struct lks_body *body;
    uint64_t part_size;
    size_t part_count;
    struct part_done *parts;
    struct lks_buf id; /* encoded, with a NUL */
};

static enum lks_status begin(struct upload *upload,
                             struct lks_call *call,
                             struct lks_error *error)
{
    struct lks_s3_request request = {
        .op = LKS_S3_READ, /* An upload begun twice is litter, and no harm. */
        .method = "POST",
        .key = upload->key,
        .query = "uploads=",
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    char id[LKS_UPLOAD_ID_SIZE];
    struct lks_buf text;
    enum lks_status status;

    lks_buf_init(&text, REPLY_SIZE_MAX);
    request.text = &text;
    if (upload->s3->send_checksum)
        lks_s3_add_header(&request, "x-amz-checksum-algorithm", "CRC32C");
    status = lks_s3_send_again(upload->s3, &request, call, &answer, error);
    if (status != LKS_OK)
        goto done;
    if (!lks_xml_find(text.data, text.size,
                      "InitiateMultipartUploadResult/UploadId", id,
                      sizeof(id))) {
        status = lks_error_set(error, LKS_UNSUPPORTED,
                               "the store begins no upload in parts");
        goto done;
    }
    status = lks_sign_encode(id, false, &upload->id, error);
    if (status == LKS_OK)
        status = lks_buf_append(&upload->id, "", 1, error);

done:
    lks_buf_done(&text);
    return status;
}

static enum lks_status send_part(size_t index,
                                 void *arg,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct upload *upload = arg;
    struct part_done *done = &upload->parts[index];
    struct lks_body body = *upload->body;
    char query[QUERY_SIZE];
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "PUT",
        .key = upload->key,
        .query = query,
        .body = &body,
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    enum lks_status status;

    body.offset = index * upload->part_size;
    body.size = upload->body->size - body.offset;
    if (body.size > upload->part_size)
        body.size = upload->part_size;
    snprintf(query, sizeof(query), "partNumber=%zu&uploadId=%s", index + 1,
             (const char *)upload->id.data);
    if (upload->s3->send_checksum) {
        lks_s3_checksum(&body, done->checksum);
        lks_s3_add_header(&request, "x-amz-checksum-crc32c", done->checksum);
    }
    status = lks_s3_send_again(upload->s3, &request, call, &answer, error);
    if (status == LKS_OK)
        snprintf(done->etag, sizeof(done->etag), "%s", answer.reply.etag);
    else if (status != LKS_CANCELLED)
        lks_error_prefix(error, status, "part %zu", index + 1);
    return status;
}

static enum lks_status write_document(const struct upload *upload,
                                      struct lks_buf *buf,
                                      struct lks_error *error)
{
    enum lks_status status =
        lks_buf_append_format(buf, error, "<CompleteMultipartUpload>");

    for (size_t i = 0; i < upload->part_count && status == LKS_OK; i++) {
        const struct part_done *part = &upload->parts[i];

        status = lks_buf_append_format(buf, error,
                                       "<Part><PartNumber>%zu</PartNumber>"
                                       "<ETag>\"%s\"</ETag>",
                                       i + 1, part->etag);
        if (status == LKS_OK && part->checksum[0] != '\0')
            status = lks_buf_append_format(buf, error,
                                           "<ChecksumCRC32C>%s"
                                           "</ChecksumCRC32C>",
                                           part->checksum);
        if (status == LKS_OK)
            status = lks_buf_append_format(buf, error, "</Part>");
    }
    if (status == LKS_OK)
        status =
            lks_buf_append_format(buf, error, "</CompleteMultipartUpload>");
    return status;
}

static enum lks_status complete(struct upload *upload,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct lks_part part;
    struct lks_body body = {.parts = &part, .part_count = 1};
    char query[QUERY_SIZE];
    struct lks_s3_request request = {
        .op = LKS_S3_PUT,
        .method = "POST",
        .key = upload->key,
        .query = query,
        .body = &body,
        .slow_answer = true, /* Amazon's can take minutes. */
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    struct lks_buf document;
    enum lks_status status;

    lks_buf_init(&document, DOCUMENT_SIZE_MAX);
    status = write_document(upload, &document, error);
    if (status != LKS_OK)
        goto done;
    part = (struct lks_part){document.data, document.size};
    body.size = document.size;
    snprintf(query, sizeof(query), "uploadId=%s",
             (const char *)upload->id.data);
    lks_s3_add_header(&request, "content-type", "application/xml");
    status = lks_s3_send(upload->s3, &request, call, &answer, error);

done:
    lks_buf_done(&document);
    return status;
}

/* So that nobody pays for parts without an object. What is missed is for those
 * who reclaim. */
static void give_up(struct upload *upload)
{
    struct lks_call call = LKS_CALL_INIT;
    char query[QUERY_SIZE];
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "DELETE",
        .key = upload->key,
        .query = query,
        .timeout_ms = ABORT_TIMEOUT_MS,
    };
    struct lks_s3_answer answer;

    snprintf(query, sizeof(query), "uploadId=%s",
             (const char *)upload->id.data);
    lks_s3_send(upload->s3, &request, &call, &answer, NULL);
}

enum lks_status lks_s3_put_parts(struct lks_s3 *s3,
                                 const char *key,
                                 const struct lks_body *body,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct upload upload = {
        .s3 = s3,
        .key = key,
        .body = body,
        .part_size = s3->part_size,
    };
    enum lks_status status;

    while (body->size > upload.part_size * LKS_S3_PART_COUNT_MAX)
        upload.part_size *= 2;
    if (2 * upload.part_size <= LKS_S3_SINGLE_SIZE_MAX)
        upload.part_size = lks_piece_size(body->size, upload.part_size);
    upload.part_count =
        (size_t)((body->size + upload.part_size - 1) / upload.part_size);
    lks_buf_init(&upload.id, 3 * LKS_UPLOAD_ID_SIZE);
    upload.parts = lks_alloc_zero(upload.part_count, sizeof(*upload.parts));
    if (upload.parts == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    status = begin(&upload, call, error);
    if (status != LKS_OK)
        goto done;
    status = lks_parallel(s3->store.env, upload.part_count, s3->part_workers,
                          send_part, &upload, call, error);
    if (status == LKS_OK)
        status = complete(&upload, call, error);
    /* After an unsure end the parts may be the object by now. */
    if (status != LKS_OK && status != LKS_UNSURE)
        give_up(&upload);

done:
    lks_buf_done(&upload.id);
    lks_free(upload.parts);
    return status;
}
