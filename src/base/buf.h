/*
 * A growing run of bytes that is born with a ceiling.
 */
#ifndef LKS_BASE_BUF_H
#define LKS_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct lks_buf {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t size_max;
};

void lks_buf_init(struct lks_buf *buf, size_t size_max);
void lks_buf_done(struct lks_buf *buf);

/* Empties it and keeps its memory. */
void lks_buf_clear(struct lks_buf *buf);

/* Room for `size` more bytes at data + size. LKS_INVALID past the ceiling. */
enum lks_status lks_buf_reserve(struct lks_buf *buf,
                                size_t size,
                                struct lks_error *error);
enum lks_status lks_buf_append(struct lks_buf *buf,
                               const void *data,
                               size_t size,
                               struct lks_error *error);
enum lks_status lks_buf_append_zero(struct lks_buf *buf,
                                    size_t size,
                                    struct lks_error *error);

/* Appends text without its NUL. */
enum lks_status lks_buf_append_format(struct lks_buf *buf,
                                      struct lks_error *error,
                                      const char *format,
                                      ...) LKS_PRINTF(3, 4);

/* The content as a text of its own, to be freed with lks_free(); NULL when
 * memory is out. The buffer is empty afterwards. */
char *lks_buf_take_text(struct lks_buf *buf);

#endif
