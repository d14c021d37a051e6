/*
 * The growing buffer. It keeps one byte more than its capacity, so that a text
 * that fills it still gets its NUL.
 */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define BUF_CAPACITY_MIN 64u

void lks_buf_init(struct lks_buf *buf, size_t size_max)
{
    assert(size_max < SIZE_MAX);

    memset(buf, 0, sizeof(*buf));
    buf->size_max = size_max;
}

void lks_buf_done(struct lks_buf *buf)
{
    if (buf == NULL)
        return;
    lks_free(buf->data);
    buf->data = NULL;
    buf->size = 0;
    buf->capacity = 0;
}

void lks_buf_clear(struct lks_buf *buf)
{
    buf->size = 0;
}

/* At least `needed`, in steps that double, never past the ceiling. */
static size_t next_capacity(const struct lks_buf *buf, size_t needed)
{
    size_t capacity = buf->capacity;

    if (capacity < BUF_CAPACITY_MIN)
        capacity = BUF_CAPACITY_MIN;
    else if (capacity <= buf->size_max / 2)
        capacity *= 2;
    else
        capacity = buf->size_max;
    if (capacity < needed)
        capacity = needed;
    return capacity < buf->size_max ? capacity : buf->size_max;
}

enum lks_status lks_buf_reserve(struct lks_buf *buf,
                                size_t size,
                                struct lks_error *error)
{
    size_t capacity;
    uint8_t *data;

    assert(buf->size <= buf->capacity);
    assert(buf->capacity <= buf->size_max);

    if (size > buf->size_max - buf->size)
        return lks_error_set(error, LKS_INVALID,
                             "%zu bytes after %zu are more than %zu allowed",
                             size, buf->size, buf->size_max);
    if (buf->data != NULL && size <= buf->capacity - buf->size)
        return LKS_OK;

    capacity = next_capacity(buf, buf->size + size);
    data = lks_realloc(buf->data, capacity + 1);
    if (data == NULL)
        return lks_error_no_memory(error);
    buf->data = data;
    buf->capacity = capacity;
    return LKS_OK;
}

enum lks_status lks_buf_append(struct lks_buf *buf,
                               const void *data,
                               size_t size,
                               struct lks_error *error)
{
    enum lks_status status = lks_buf_reserve(buf, size, error);

    if (status != LKS_OK)
        return status;
    if (size > 0)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    return LKS_OK;
}

enum lks_status lks_buf_append_zero(struct lks_buf *buf,
                                    size_t size,
                                    struct lks_error *error)
{
    enum lks_status status = lks_buf_reserve(buf, size, error);

    if (status != LKS_OK)
        return status;
    memset(buf->data + buf->size, 0, size);
    buf->size += size;
    return LKS_OK;
}

enum lks_status lks_buf_append_format(struct lks_buf *buf,
                                      struct lks_error *error,
                                      const char *format,
                                      ...)
{
    enum lks_status status;
    va_list args;
    va_list again;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length < 0) {
        status = lks_error_set(error, LKS_INVALID, "a text too long to write");
        goto done;
    }
    status = lks_buf_reserve(buf, (size_t)length, error);
    if (status != LKS_OK)
        goto done;
    vsnprintf((char *)buf->data + buf->size, (size_t)length + 1, format, again);
    buf->size += (size_t)length;

done:
    va_end(again);
    va_end(args);
    return status;
}

char *lks_buf_take_text(struct lks_buf *buf)
{
    char *text = NULL;

    if (lks_buf_reserve(buf, 0, NULL) == LKS_OK) {
        text = (char *)buf->data;
        text[buf->size] = '\0';
        buf->data = NULL;
    }
    lks_buf_done(buf);
    return text;
}
