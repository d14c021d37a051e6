/*
 * Watermarks: small, overwritten often, and what deleting goes by; so one that
 * is damaged or misplaced must not be believed. docs/format.md, "Watermark".
 */
#include "format/watermark.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "format/descriptor.h"
#include "format/json_text.h"

enum lks_status lks_watermark_encode(const uint8_t stream[LKS_ID_SIZE],
                                     const char *name,
                                     uint64_t step,
                                     struct lks_buf *buf,
                                     struct lks_error *error)
{
    char digits[2 * LKS_ID_SIZE + 1];
    size_t start = buf->size;
    enum lks_status status;
    json_t *object;

    lks_hex_encode(stream, LKS_ID_SIZE, digits);
    object = json_pack("{s:I, s:s, s:s, s:I}", "format",
                       (json_int_t)LKS_FORMAT_VERSION, "stream", digits, "name",
                       name, "step", (json_int_t)step);
    if (object == NULL)
        return lks_error_no_memory(error);
    status =
        lks_json_seal(object, "watermark", LKS_WATERMARK_SIZE_MAX, buf, error);
    json_decref(object);
    if (status != LKS_OK)
        buf->size = start;
    return status;
}

static enum lks_status corrupt(const char *problem, struct lks_error *error)
{
    return lks_error_set(error, LKS_CORRUPT, "the watermark is wrong: %s",
                         problem);
}

static enum lks_status read_object(const json_t *object,
                                   const uint8_t stream[LKS_ID_SIZE],
                                   const char *name,
                                   uint64_t *out_step,
                                   struct lks_error *error)
{
    const char *stored = json_string_value(json_object_get(object, "name"));
    uint8_t id[LKS_ID_SIZE];
    uint64_t format;
    uint64_t step;

    if (!lks_json_number(object, "format", INT64_MAX, &format) || format == 0)
        return corrupt("it has no format", error);
    if (format > LKS_FORMAT_VERSION)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the watermark has format %" PRIu64
                             "; this version of Lakestream reads up to %u",
                             format, LKS_FORMAT_VERSION);
    if (!lks_json_id(object, "stream", id) ||
        memcmp(id, stream, LKS_ID_SIZE) != 0)
        return corrupt("it is another stream's", error);
    if (stored == NULL || strcmp(stored, name) != 0)
        return corrupt("it is of another name", error);
    if (!lks_json_number(object, "step", LKS_STEP_MAX, &step))
        return corrupt("it has no step", error);
    *out_step = step;
    return LKS_OK;
}

enum lks_status lks_watermark_decode(const void *data,
                                     size_t size,
                                     const uint8_t stream[LKS_ID_SIZE],
                                     const char *name,
                                     uint64_t *out_step,
                                     struct lks_error *error)
{
    const char *problem =
        lks_json_seal_problem(data, size, LKS_WATERMARK_SIZE_MAX);
    enum lks_status status;
    json_t *object;

    if (problem != NULL)
        return corrupt(problem, error);
    status =
        lks_json_parse(data, size, "watermark", LKS_CORRUPT, &object, error);
    if (status != LKS_OK)
        return status;
    status = read_object(object, stream, name, out_step, error);
    json_decref(object);
    return status;
}
