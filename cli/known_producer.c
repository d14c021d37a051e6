/*
 * What a stream knows of a producer, read from its newest manifest.
 */
#include "known_producer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

/* Room for " and 4096 more", and some. */
#define MORE_SIZE 32u

static bool read_digit(char letter, uint8_t *digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = letter != '\0' ? strchr(digits, letter) : NULL;

    if (at == NULL)
        return false;
    *digit = (uint8_t)(at - digits);
    return true;
}

static bool read_offset(struct known_producer *known, const char *hex)
{
    size_t size = strlen(hex) / 2;

    if (strlen(hex) % 2 != 0 || size > sizeof(known->offset))
        return false;
    for (size_t i = 0; i < size; i++) {
        uint8_t high, low;

        if (!read_digit(hex[2 * i], &high) || !read_digit(hex[2 * i + 1], &low))
            return false;
        known->offset[i] = (uint8_t)(high << 4 | low);
    }
    known->offset_size = size;
    return true;
}

/* All ids that there is room for, and how many there are besides. */
static void list_ids(struct known_producer *known, const json_t *producers)
{
    size_t count = json_array_size(producers), length = 0, i;

    for (i = 0; i < count; i++) {
        json_t *row = json_array_get(producers, i);
        const char *id = json_string_value(json_object_get(row, "id"));

        if (length + strlen(id) + 2 + MORE_SIZE > sizeof(known->ids))
            break;
        length +=
            (size_t)snprintf(known->ids + length, sizeof(known->ids) - length,
                             "%s%s", i > 0 ? ", " : "", id);
    }
    if (i < count)
        snprintf(known->ids + length, sizeof(known->ids) - length,
                 " and %zu more", count - i);
}

static bool read_info(struct known_producer *known,
                      const char *id,
                      json_t *producers)
{
    const char *name = "", *offset = "";
    json_int_t next_seq = 0;
    json_t *row;
    size_t index;

    json_array_foreach(producers, index, row)
    {
        if (json_unpack(row, "{s:s, s:I, s:s}", "id", &name, "next_seq",
                        &next_seq, "offset", &offset) != 0)
            return false;
        if (strcmp(name, id) != 0)
            continue;
        known->found = true;
        known->next_seq = (uint64_t)next_seq;
        if (!read_offset(known, offset))
            return false;
    }
    list_ids(known, producers);
    return true;
}

enum lks_status known_producer_look(struct lks_stream *stream,
                                    const char *id,
                                    struct known_producer *out_known,
                                    struct lks_error *error)
{
    struct known_producer known = {0};
    enum lks_status status;
    char *text = NULL;
    json_t *info;
    bool read;

    status = lks_stream_info(stream, &text, error);
    if (status != LKS_OK)
        return status;
    info = report_parse(text);
    read = read_info(&known, id, json_object_get(info, "producers"));
    json_decref(info);
    if (info == NULL || !read)
        return fail(error, LKS_NO_MEMORY, "cannot read the stream's info");
    *out_known = known;
    return LKS_OK;
}

void known_producer_take(const struct lks_producer *producer,
                         struct known_producer *out_known)
{
    const void *data = NULL;
    size_t size = 0;

    *out_known = (struct known_producer){
        .found = true,
        .next_seq = lks_producer_next_seq(producer),
    };
    lks_producer_offset(producer, &data, &size);
    if (size > 0)
        memcpy(out_known->offset, data, size);
    out_known->offset_size = size;
}

bool known_producer_equal(const struct known_producer *left,
                          const struct known_producer *right)
{
    return left->next_seq == right->next_seq &&
           left->offset_size == right->offset_size &&
           memcmp(left->offset, right->offset, left->offset_size) == 0;
}
