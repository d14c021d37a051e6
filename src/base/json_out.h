/*
 * Writing JSON text into a buffer: one object or array after the other, no
 * tree. Calls after a failure do nothing, so that only the end is checked.
 */
#ifndef LKS_BASE_JSON_OUT_H
#define LKS_BASE_JSON_OUT_H

#include <stdbool.h>

#include "base/buf.h"

#define LKS_JSON_OUT_SIZE_MAX (64u << 20)

struct lks_json_out {
    struct lks_buf buf;
    bool comma; /* the next member has one before it */
    enum lks_status status;
};

void lks_json_out_init(struct lks_json_out *out);
void lks_json_out_done(struct lks_json_out *out);

/* Empties it for the next text, and keeps its memory. */
void lks_json_out_clear(struct lks_json_out *out);

/* `name` is NULL inside an array and at the top; it is never escaped. `kind`
 * is '{' or '[', and its closing counterpart. */
void lks_json_out_open(struct lks_json_out *out, const char *name, char kind);
void lks_json_out_close(struct lks_json_out *out, char kind);

void lks_json_out_u64(struct lks_json_out *out,
                      const char *name,
                      uint64_t value);
void lks_json_out_i64(struct lks_json_out *out,
                      const char *name,
                      int64_t value);
void lks_json_out_bool(struct lks_json_out *out, const char *name, bool value);
void lks_json_out_null(struct lks_json_out *out, const char *name);

/* Bytes that are no UTF-8, and control characters, become escapes of their
 * value: no text is a reason for a JSON that does not parse. */
void lks_json_out_text(struct lks_json_out *out,
                       const char *name,
                       const char *text);
void lks_json_out_hex(struct lks_json_out *out,
                      const char *name,
                      const void *data,
                      size_t size);

/* JSON that is there already: one element, or several with commas between. */
void lks_json_out_raw(struct lks_json_out *out, const char *json, size_t size);

/* The text so far, as long as nothing more is written; NULL after a failure. */
const char *lks_json_out_peek(struct lks_json_out *out);

/* The text, to be released with lks_text_free(). */
enum lks_status lks_json_out_take(struct lks_json_out *out,
                                  char **out_json,
                                  struct lks_error *error);

#endif
