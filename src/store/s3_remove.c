/*
 * Removing: one DeleteObjects for many keys. What it answers per key is as
 * telling as a status of its own: Ceph says "UnknownError" of a key that two
 * remove at once.
 *
 * A removal that the server answered with a failure is sent again, since with
 * the answer it is over. One whose answer was lost is not: it may still land,
 * when the name is somebody's again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/md5.h>

#include "store/s3_client.h"

#define DOCUMENT_SIZE_MAX (8u << 20)
#define REPLY_SIZE_MAX (4u << 20)
#define MD5_TEXT_SIZE 25u

/* The first key that was not removed. */
struct refusal {
    enum lks_status status;
    bool throttled;
    char key[LKS_KEY_SIZE_MAX + 1];
    char code[64];
};

/* "&" and the like may be in a prefix, not in a key. */
static enum lks_status append_escaped(struct lks_buf *buf,
                                      const char *text,
                                      struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    for (; *text != '\0' && status == LKS_OK; text++) {
        if (strchr("&<>\"'", *text) != NULL)
            status = lks_buf_append_format(buf, error, "&#%d;", *text);
        else
            status = lks_buf_append(buf, text, 1, error);
    }
    return status;
}

static enum lks_status write_document(const struct lks_s3 *s3,
                                      const char *const *keys,
                                      size_t key_count,
                                      struct lks_buf *buf,
                                      struct lks_error *error)
{
    enum lks_status status =
        lks_buf_append_format(buf, error, "<Delete><Quiet>true</Quiet>");

    for (size_t i = 0; i < key_count && status == LKS_OK; i++) {
        status = lks_buf_append_format(buf, error, "<Object><Key>");
        if (status == LKS_OK)
            status = append_escaped(buf, s3->prefix, error);
        if (status == LKS_OK)
            status =
                lks_buf_append_format(buf, error, "%s</Key></Object>", keys[i]);
    }
    if (status == LKS_OK)
        status = lks_buf_append_format(buf, error, "</Delete>");
    return status;
}

/* Content-MD5: what S3 and all its likenesses want of this request. */
static void md5_of(const struct lks_buf *buf, char text[MD5_TEXT_SIZE])
{
    struct md5_ctx context;
    uint8_t digest[MD5_DIGEST_SIZE];

    md5_init(&context);
    md5_update(&context, buf->size, buf->data);
    md5_digest(&context, sizeof(digest), digest);
    base64_encode_raw(text, sizeof(digest), digest);
    text[MD5_TEXT_SIZE - 1] = '\0';
}

static enum lks_status element_ended(const char *path,
                                     const char *text,
                                     void *arg,
                                     struct lks_error *error)
{
    struct refusal *refusal = arg;

    (void)error;
    if (refusal->status != LKS_OK)
        return LKS_OK;
    if (strcmp(path, "DeleteResult/Error/Key") == 0) {
        snprintf(refusal->key, sizeof(refusal->key), "%s", text);
    } else if (strcmp(path, "DeleteResult/Error/Code") == 0) {
        snprintf(refusal->code, sizeof(refusal->code), "%s", text);
    } else if (strcmp(path, "DeleteResult/Error") == 0) {
        int http = strcmp(refusal->code, "AccessDenied") == 0 ? 403 : 500;
        struct lks_s3_meaning meaning =
            lks_s3_judge(LKS_S3_REMOVE, http, refusal->code);

        /* "NoSuchKey": it is gone, which is what was wanted. */
        if (strcmp(refusal->code, "NoSuchKey") != 0)
            refusal->status = meaning.status;
        refusal->throttled |= meaning.throttled;
    }
    return LKS_OK;
}

static enum lks_status read_answer(const struct lks_buf *text,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    struct refusal refusal = {.status = LKS_OK};
    enum lks_status status;

    status =
        lks_xml_walk(text->data, text->size, element_ended, &refusal, error);
    call->throttled |= refusal.throttled;
    if (status == LKS_CORRUPT)
        return lks_error_prefix(error, LKS_UNSURE,
                                "an answer that cannot be read");
    if (status == LKS_OK && refusal.status != LKS_OK)
        return lks_error_set(error, refusal.status, "%.120s: %s", refusal.key,
                             refusal.code);
    return status;
}

/* Sends until what the server answers is final, or it does not answer. */
static enum lks_status send_until_final(struct lks_s3 *s3,
                                        const struct lks_s3_request *request,
                                        struct lks_call *call,
                                        struct lks_error *error)
{
    struct lks_retry retry;
    struct lks_s3_answer answer;
    enum lks_status status;

    lks_retry_begin(&retry, s3->budget, s3->retry_timeout_ms);
    do {
        status = lks_s3_send(s3, request, call, &answer, error);
        if (status == LKS_OK)
            status = read_answer(request->text, call, error);
        if (status != LKS_UNSURE || answer.reply.end != LKS_HTTP_WHOLE)
            return status;
    } while (lks_retry_wait(&retry, call->throttled,
                            answer.reply.retry_after_ms, call->cancel));
    return status;
}

enum lks_status lks_s3_remove(struct lks_store *store,
                              const char *const *keys,
                              size_t key_count,
                              struct lks_call *call,
                              struct lks_error *error)
{
    struct lks_s3 *s3 = (struct lks_s3 *)store;
    char md5[MD5_TEXT_SIZE];
    struct lks_buf document;
    struct lks_buf text;
    struct lks_part part;
    struct lks_body body = {.parts = &part, .part_count = 1};
    struct lks_s3_request request = {
        .op = LKS_S3_REMOVE,
        .method = "POST",
        .query = "delete=",
        .body = &body,
        .text = &text,
        .cancel = call->cancel,
    };
    enum lks_status status;

    lks_buf_init(&document, DOCUMENT_SIZE_MAX);
    lks_buf_init(&text, REPLY_SIZE_MAX);
    status = write_document(s3, keys, key_count, &document, error);
    if (status != LKS_OK)
        goto done;
    part = (struct lks_part){document.data, document.size};
    body.size = document.size;
    md5_of(&document, md5);
    lks_s3_add_header(&request, "content-md5", md5);
    lks_s3_add_header(&request, "content-type", "application/xml");
    status = send_until_final(s3, &request, call, error);

done:
    lks_buf_done(&document);
    lks_buf_done(&text);
    return status;
}
