/*
 * The header of a slice, as https://github.com/huggingface/safetensors says:
 * eight bytes of length, a JSON object that may be padded with spaces, data.
 *
 * Its metadata declares which axis was cut for context parallelism, and how,
 * so that a reader with another cp can put the rows together again.
 */
#include "safetensors.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_SIZE 8u

static void append(char *header, size_t *size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *header, size_t *size, const char *format, ...)
{
    size_t room = SAFETENSORS_HEADER_SIZE_MAX - *size;
    va_list list;
    int length;

    va_start(list, format);
    length = vsnprintf(header + *size, room, format, list);
    va_end(list);
    assert(length >= 0);
    assert((size_t)length < room);
    *size += (size_t)length;
}

static void append_tensor(char *header,
                          size_t *size,
                          const char *name,
                          const struct safetensors_shape *shape,
                          uint64_t start)
{
    uint64_t bytes = shape->rows * shape->columns * shape->width;

    append(header, size,
           ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64
           "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
           name, shape->dtype, shape->rows, shape->columns, start,
           start + bytes);
}

size_t safetensors_header(const struct safetensors_shape *shape,
                          char header[SAFETENSORS_HEADER_SIZE_MAX])
{
    size_t size = LENGTH_SIZE, padding;

    append(header, &size,
           "{\"__metadata__\":{\"cp_axis\":\"1\","
           "\"cp_layout\":\"%s\"}",
           shape->cp_layout);
    append_tensor(header, &size, "tokens", shape, 0);
    if (shape->labels)
        append_tensor(header, &size, "labels", shape,
                      shape->rows * shape->columns * shape->width);
    append(header, &size, "}");

    padding = (SAFETENSORS_ALIGNMENT - size % SAFETENSORS_ALIGNMENT) %
              SAFETENSORS_ALIGNMENT;
    append(header, &size, "%*s", (int)padding, "");
    for (size_t i = 0; i < LENGTH_SIZE; i++)
        header[i] = (char)((size - LENGTH_SIZE) >> (8 * i));
    return size;
}
