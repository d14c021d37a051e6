/*
 * Writing JSON text into a buffer. A tree of values would be more memory and
 * more ways to fail, for texts that are written once, in order.
 */
#include "base/json_out.h"

#include <inttypes.h>

#include "base/bytes.h"

void lks_json_out_init(struct lks_json_out *out)
{
    lks_buf_init(&out->buf, LKS_JSON_OUT_SIZE_MAX);
    lks_json_out_clear(out);
}

void lks_json_out_done(struct lks_json_out *out)
{
    lks_buf_done(&out->buf);
}

void lks_json_out_clear(struct lks_json_out *out)
{
    lks_buf_clear(&out->buf);
    out->comma = false;
    out->status = LKS_OK;
}

static void put(struct lks_json_out *out, const char *text, size_t size)
{
    if (out->status == LKS_OK)
        out->status = lks_buf_append(&out->buf, text, size, NULL);
}

static void put_name(struct lks_json_out *out, const char *name)
{
    if (out->comma)
        put(out, ", ", 2);
    out->comma = true;
    if (name == NULL)
        return;
    put(out, "\"", 1);
    put(out, name, strlen(name));
    put(out, "\": ", 3);
}

void lks_json_out_open(struct lks_json_out *out, const char *name, char kind)
{
    put_name(out, name);
    put(out, &kind, 1);
    out->comma = false;
}

void lks_json_out_close(struct lks_json_out *out, char kind)
{
    put(out, &kind, 1);
    out->comma = true;
}

void lks_json_out_u64(struct lks_json_out *out,
                      const char *name,
                      uint64_t value)
{
    put_name(out, name);
    if (out->status == LKS_OK)
        out->status = lks_buf_append_format(&out->buf, NULL, "%" PRIu64, value);
}

void lks_json_out_i64(struct lks_json_out *out, const char *name, int64_t value)
{
    put_name(out, name);
    if (out->status == LKS_OK)
        out->status = lks_buf_append_format(&out->buf, NULL, "%" PRId64, value);
}

void lks_json_out_bool(struct lks_json_out *out, const char *name, bool value)
{
    put_name(out, name);
    put(out, value ? "true" : "false", value ? 4 : 5);
}

void lks_json_out_null(struct lks_json_out *out, const char *name)
{
    put_name(out, name);
    put(out, "null", 4);
}

/* Bytes of the UTF-8 sequence that `text` begins with; 0 if it is none. */
static size_t sequence_size(const unsigned char *text)
{
    size_t size = text[0] < 0x80                       ? 1
                  : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                  : text[0] >= 0xe0 && text[0] <= 0xef ? 3
                  : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                       : 0;

    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Too long, a surrogate, or past the last code point. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) ||
        (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) ||
        (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return size;
}

void lks_json_out_text(struct lks_json_out *out,
                       const char *name,
                       const char *text)
{
    size_t size;

    put_name(out, name);
    put(out, "\"", 1);
    for (; *text != '\0'; text += size) {
        unsigned char byte = (unsigned char)*text;

        size = sequence_size((const unsigned char *)text);
        if (byte == '"' || byte == '\\')
            put(out, "\\", 1);
        if (byte >= 0x20 && byte != 0x7f && size > 0) {
            put(out, text, size);
            continue;
        }
        size = 1;
        if (out->status == LKS_OK)
            out->status = lks_buf_append_format(&out->buf, NULL, "\\u%04x",
                                                (unsigned)byte);
    }
    put(out, "\"", 1);
}

void lks_json_out_hex(struct lks_json_out *out,
                      const char *name,
                      const void *data,
                      size_t size)
{
    const uint8_t *bytes = data;
    char digits[3];

    put_name(out, name);
    put(out, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        lks_hex_encode(bytes + i, 1, digits);
        put(out, digits, 2);
    }
    put(out, "\"", 1);
}

void lks_json_out_raw(struct lks_json_out *out, const char *json, size_t size)
{
    put_name(out, NULL);
    put(out, json, size);
}

const char *lks_json_out_peek(struct lks_json_out *out)
{
    /* The NUL stands behind the text and is not counted. */
    if (out->status == LKS_OK)
        out->status = lks_buf_reserve(&out->buf, 1, NULL);
    if (out->status != LKS_OK)
        return NULL;
    out->buf.data[out->buf.size] = '\0';
    return (const char *)out->buf.data;
}

enum lks_status lks_json_out_take(struct lks_json_out *out,
                                  char **out_json,
                                  struct lks_error *error)
{
    char *text;

    if (out->status != LKS_OK)
        return lks_error_set(error, out->status, "cannot write the report");
    text = lks_buf_take_text(&out->buf);
    if (text == NULL)
        return lks_error_no_memory(error);
    *out_json = text;
    return LKS_OK;
}
