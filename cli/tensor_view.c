/*
 * A slice's tensors, and the range of their values. What a slice holds is
 * anybody's, so the header is believed only as far as the slice goes.
 */
#include "tensor_view.h"

#include <math.h>
#include <string.h>

#include "commands.h"

#define LENGTH_SIZE 8u

/* How a value's bits are read. */
enum kind { KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT };

struct type_row {
    const char *name;
    enum kind kind;
    unsigned int width;    /* bytes */
    unsigned int exponent; /* bits */
    bool has_infinity;
};

static const struct type_row types[] = {
    {"BOOL", KIND_UNSIGNED, 1, 0, false}, {"U8", KIND_UNSIGNED, 1, 0, false},
    {"I8", KIND_SIGNED, 1, 0, false},     {"U16", KIND_UNSIGNED, 2, 0, false},
    {"I16", KIND_SIGNED, 2, 0, false},    {"U32", KIND_UNSIGNED, 4, 0, false},
    {"I32", KIND_SIGNED, 4, 0, false},    {"U64", KIND_UNSIGNED, 8, 0, false},
    {"I64", KIND_SIGNED, 8, 0, false},    {"F8_E4M3", KIND_FLOAT, 1, 4, false},
    {"F8_E5M2", KIND_FLOAT, 1, 5, true},  {"F16", KIND_FLOAT, 2, 5, true},
    {"BF16", KIND_FLOAT, 2, 8, true},     {"F32", KIND_FLOAT, 4, 8, true},
    {"F64", KIND_FLOAT, 8, 11, true},
};

static uint64_t read_little_endian(const uint8_t *data, unsigned int width)
{
    uint64_t value = 0;

    for (unsigned int i = 0; i < width; i++)
        value |= (uint64_t)data[i] << (8 * i);
    return value;
}

json_t *tensor_header(const struct lks_slice *slice)
{
    uint64_t size;
    json_t *header;

    if (slice->size < LENGTH_SIZE)
        return NULL;
    size = read_little_endian(slice->data, LENGTH_SIZE);
    if (size > slice->size - LENGTH_SIZE)
        return NULL;
    header = json_loadb((const char *)slice->data + LENGTH_SIZE, (size_t)size,
                        0, NULL);
    if (!json_is_object(header)) {
        json_decref(header);
        return NULL;
    }
    return header;
}

bool tensor_view_get(const struct lks_slice *slice,
                     const char *name,
                     json_t *entry,
                     struct tensor_view *out_view)
{
    const uint8_t *data = slice->data;
    uint64_t begin = LENGTH_SIZE + read_little_endian(slice->data, LENGTH_SIZE);
    json_int_t start, end;

    if (json_unpack(entry, "{s:s, s:o, s:[I, I]}", "dtype", &out_view->dtype,
                    "shape", &out_view->shape, "data_offsets", &start,
                    &end) != 0)
        return false;
    if (start < 0 || end < start || (uint64_t)end > slice->size - begin)
        return false;
    out_view->name = name;
    out_view->values = data + begin + start;
    out_view->size = (uint64_t)(end - start);
    return true;
}

static const struct type_row *find_type(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    }
    return NULL;
}

/* NaN and infinity as such. */
static long double decode_float(uint64_t bits, const struct type_row *type)
{
    unsigned int mantissa_bits = 8 * type->width - 1 - type->exponent;
    uint64_t mantissa = bits & ((UINT64_C(1) << mantissa_bits) - 1);
    uint64_t exponent_max = (UINT64_C(1) << type->exponent) - 1;
    uint64_t exponent = (bits >> mantissa_bits) & exponent_max;
    int bias = (int)(exponent_max >> 1);
    long double value;

    if (exponent == exponent_max && type->has_infinity)
        value = mantissa == 0 ? (long double)INFINITY : (long double)NAN;
    else if (exponent == exponent_max &&
             mantissa == (UINT64_C(1) << mantissa_bits) - 1)
        value = (long double)NAN;
    else if (exponent == 0)
        value = ldexpl((long double)mantissa, 1 - bias - (int)mantissa_bits);
    else
        value = ldexpl((long double)(mantissa | UINT64_C(1) << mantissa_bits),
                       (int)exponent - bias - (int)mantissa_bits);
    return bits >> (8 * type->width - 1) & 1 ? -value : value;
}

static long double decode(const uint8_t *data, const struct type_row *type)
{
    uint64_t bits = read_little_endian(data, type->width);
    unsigned int unused = 64 - 8 * type->width;

    switch (type->kind) {
    case KIND_UNSIGNED:
        break;
    case KIND_SIGNED:
        return (long double)((int64_t)(bits << unused) >> unused);
    case KIND_FLOAT:
        return decode_float(bits, type);
    }
    return (long double)bits;
}

static void add(struct tensor_stats *stats, long double value)
{
    if (isnan(value)) {
        stats->nan_count++;
        return;
    }
    if (isinf(value)) {
        stats->infinite_count++;
        return;
    }
    if (!stats->any || value < stats->min)
        stats->min = value;
    if (!stats->any || value > stats->max)
        stats->max = value;
    stats->any = true;
}

void tensor_stats_take(const struct tensor_view *view,
                       struct tensor_stats *out_stats)
{
    const struct type_row *type = find_type(view->dtype);

    memset(out_stats, 0, sizeof(*out_stats));
    if (type == NULL)
        return;
    out_stats->known = true;
    out_stats->whole = type->kind != KIND_FLOAT;
    out_stats->count = view->size / type->width;
    for (uint64_t i = 0; i < out_stats->count; i++)
        add(out_stats, decode(view->values + i * type->width, type));
}
