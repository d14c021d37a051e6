/*
 * JSON: what descriptors, watermarks and states need of jansson, in one place.
 *
 * jansson's whole numbers are signed 64 bits, which is why steps and totals of
 * this format end at 2^63 - 1.
 */
#include "format/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"

#define END_SIZE 22 /* ,"crc32c":"xxxxxxxx"} and the end of the line */

enum lks_status lks_json_parse(const char *text,
                               size_t size,
                               const char *what,
                               enum lks_status fault,
                               json_t **out_object,
                               struct lks_error *error)
{
    json_error_t problem;
    json_t *value;

    value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (value == NULL) {
        if (json_error_code(&problem) == json_error_out_of_memory)
            return lks_error_no_memory(error);
        return lks_error_set(error, fault,
                             "the %s is not JSON: byte %d is wrong", what,
                             problem.position);
    }
    if (!json_is_object(value)) {
        json_decref(value);
        return lks_error_set(error, fault, "the %s is not a JSON object", what);
    }
    *out_object = value;
    return LKS_OK;
}

struct writing {
    struct lks_buf *buf;
    struct lks_error *error;
    enum lks_status status;
};

/* jansson 2.14 goes on after a key that could not be written, and then says
 * that all is well: so the first failure is kept here. */
static int write_piece(const char *piece, size_t size, void *arg)
{
    struct writing *writing = arg;

    if (writing->status == LKS_OK)
        writing->status =
            lks_buf_append(writing->buf, piece, size, writing->error);
    return writing->status == LKS_OK ? 0 : -1;
}

enum lks_status lks_json_write(const json_t *value,
                               struct lks_buf *buf,
                               struct lks_error *error)
{
    struct writing writing = {buf, error, LKS_OK};
    int result = json_dump_callback(value, write_piece, &writing, JSON_COMPACT);

    if (writing.status != LKS_OK)
        return writing.status;
    /* The values are ours and valid, so it was memory. */
    return result == 0 ? LKS_OK : lks_error_no_memory(error);
}

/* The end that belongs to the text before it. */
static void make_end(const void *text, size_t size, char end[END_SIZE + 1])
{
    snprintf(end, END_SIZE + 1, ",\"crc32c\":\"%08" PRIx32 "\"}\n",
             lks_crc32c(text, size));
}

enum lks_status lks_json_seal(const json_t *value,
                              const char *what,
                              size_t size_max,
                              struct lks_buf *buf,
                              struct lks_error *error)
{
    size_t start = buf->size;
    char end[END_SIZE + 1];
    enum lks_status status;

    status = lks_json_write(value, buf, error);
    if (status != LKS_OK)
        return status;
    buf->size--; /* The brace comes after the checksum. */
    make_end(buf->data + start, buf->size - start, end);
    status = lks_buf_append(buf, end, END_SIZE, error);
    if (status != LKS_OK)
        return status;
    if (buf->size - start > size_max)
        return lks_error_set(error, LKS_INVALID,
                             "the %s would have %zu bytes; it can have %zu",
                             what, buf->size - start, size_max);
    return LKS_OK;
}

const char *lks_json_seal_problem(const void *data,
                                  size_t size,
                                  size_t size_max)
{
    const char *text = data;
    char end[END_SIZE + 1];

    if (size <= END_SIZE || size > size_max)
        return "it has an impossible size";
    make_end(text, size - END_SIZE, end);
    if (memcmp(text + size - END_SIZE, end, END_SIZE) != 0)
        return "it has a wrong checksum";
    return NULL;
}

bool lks_json_number(const json_t *object,
                     const char *key,
                     uint64_t max,
                     uint64_t *out_value)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > max)
        return false;
    *out_value = (uint64_t)json_integer_value(value);
    return true;
}

bool lks_json_id(const json_t *object,
                 const char *key,
                 uint8_t out_id[LKS_ID_SIZE])
{
    const char *text = json_string_value(json_object_get(object, key));
    char again[2 * LKS_ID_SIZE + 1];
    uint8_t id[LKS_ID_SIZE];

    if (text == NULL || strlen(text) != 2 * LKS_ID_SIZE ||
        !lks_hex_decode(text, id, sizeof(id)))
        return false;
    lks_hex_encode(id, sizeof(id), again);
    if (strcmp(text, again) != 0)
        return false;
    memcpy(out_id, id, sizeof(id));
    return true;
}
