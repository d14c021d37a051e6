/* Looking at the tensors of a slice: safetensors, read without copying. */
#ifndef LAKESTREAM_CLI_TENSOR_VIEW_H
#define LAKESTREAM_CLI_TENSOR_VIEW_H

#include <jansson.h>
#include <stdbool.h>

#include "lakestream.h"

struct tensor_view {
    const char *name;      /* the header's */
    const char *dtype;     /* the header's: "U16" */
    const json_t *shape;   /* the header's */
    const uint8_t *values; /* the slice's; little-endian */
    uint64_t size;
};

/* What one looks at after a loss spike. */
struct tensor_stats {
    bool known; /* the type is one of those that are understood */
    bool whole; /* whole numbers */
    bool any;   /* there is a value that is a number; else no min, max */
    uint64_t count;
    uint64_t nan_count;
    uint64_t infinite_count;
    long double min; /* of the finite ones; exact for each type */
    long double max;
};

/* The header of a slice, to be dropped by the caller; NULL if it is not
 * safetensors. */
json_t *tensor_header(const struct lks_slice *slice);

/* One entry of it. False if it is damaged, or no tensor: the metadata. */
bool tensor_view_get(const struct lks_slice *slice,
                     const char *name,
                     json_t *entry,
                     struct tensor_view *out_view);

void tensor_stats_take(const struct tensor_view *view,
                       struct tensor_stats *out_stats);

#endif
