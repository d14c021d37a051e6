/* The header of a slice: safetensors, so that every trainer can read it. */
#ifndef LAKESTREAM_CLI_SAFETENSORS_H
#define LAKESTREAM_CLI_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The data starts at a multiple of this within the slice. */
#define SAFETENSORS_ALIGNMENT 64u
#define SAFETENSORS_HEADER_SIZE_MAX 512u

/* One tensor of two dimensions, or two of the same kind. */
struct safetensors_shape {
    const char *dtype; /* "U16" */
    size_t width;
    uint64_t rows;
    uint64_t columns;
    bool labels;           /* also a tensor `labels` like `tokens` */
    const char *cp_layout; /* how columns were dealt to the cp ranks */
};

/* Writes the header and returns its size, where the data starts. */
size_t safetensors_header(const struct safetensors_shape *shape,
                          char header[SAFETENSORS_HEADER_SIZE_MAX]);

#endif
