/*
 * Writing an object by one PUT. What the answer means is the table's to say;
 * nothing here sends it a second time.
 */
#include <assert.h>
#include <inttypes.h>

#include <nettle/base64.h>

#include "base/crc32c.h"
#include "store/s3_client.h"

void lks_s3_checksum(const struct lks_body *body,
                     char text[LKS_S3_CHECKSUM_SIZE])
{
    uint64_t skip = body->offset;
    uint64_t left = body->size;
    uint32_t crc = 0;
    uint8_t bytes[4];

    for (size_t i = 0; i < body->part_count && left > 0; i++) {
        const struct lks_part *part = &body->parts[i];
        size_t size;

        if (skip >= part->size) {
            skip -= part->size;
            continue;
        }
        size = part->size - (size_t)skip;
        if (size > left)
            size = (size_t)left;
        crc = lks_crc32c_more(crc, (const uint8_t *)part->data + skip, size);
        left -= size;
        skip = 0;
    }
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(crc >> (24 - 8 * i));
    base64_encode_raw(text, sizeof(bytes), bytes);
    text[LKS_S3_CHECKSUM_SIZE - 1] = '\0';
}

static enum lks_status put_at_once(struct lks_s3 *s3,
                                   const char *key,
                                   const struct lks_body *body,
                                   bool only_if_absent,
                                   struct lks_call *call,
                                   struct lks_error *error)
{
    char checksum[LKS_S3_CHECKSUM_SIZE];
    struct lks_s3_request request = {
        .op = only_if_absent ? LKS_S3_CREATE : LKS_S3_PUT,
        .method = "PUT",
        .key = key,
        .body = body,
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;

    if (only_if_absent)
        lks_s3_add_header(&request, "if-none-match", "*");
    if (s3->send_checksum) {
        lks_s3_checksum(body, checksum);
        lks_s3_add_header(&request, "x-amz-checksum-crc32c", checksum);
    }
    return lks_s3_send(s3, &request, call, &answer, error);
}

enum lks_status lks_s3_put(struct lks_store *store,
                           const char *key,
                           const struct lks_part *parts,
                           size_t part_count,
                           bool only_if_absent,
                           struct lks_call *call,
                           struct lks_error *error)
{
    struct lks_s3 *s3 = (struct lks_s3 *)store;
    struct lks_body body = {.parts = parts, .part_count = part_count};

    for (size_t i = 0; i < part_count; i++)
        body.size += parts[i].size;
    /* A condition holds for one PUT on every store, for an upload in parts on
     * few. What is created is small. */
    if (only_if_absent && body.size > LKS_S3_SINGLE_SIZE_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "S3 creates objects of up to 5 GiB");
    if (!only_if_absent && body.size > s3->multipart_size)
        return lks_s3_put_parts(s3, key, &body, call, error);
    return put_at_once(s3, key, &body, only_if_absent, call, error);
}
