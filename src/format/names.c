/*
 * Names: pure text, made and read back exactly.
 *
 * docs/format.md, "Names", lists them with examples.
 */
#include "format/names.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define TAG_DIGITS 8   /* of a stream's id, in the names of its manifests */
#define HIGH_DIGITS 13 /* of a manifest's number, before the last slash */
#define LOW_DIGITS 3

static bool is_id_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool lks_id_is_valid(const char *id)
{
    size_t size = 0;

    if (id[0] == '.')
        return false;
    for (; id[size] != '\0'; size++) {
        if (size == LKS_PRODUCER_ID_SIZE_MAX || !is_id_character(id[size]))
            return false;
    }
    return size > 0;
}

enum lks_status lks_id_check(const char *what,
                             const char *id,
                             struct lks_error *error)
{
    const char *problem;

    if (id == NULL || id[0] == '\0')
        return lks_error_set(error, LKS_INVALID, "the %s is empty", what);
    if (lks_id_is_valid(id))
        return LKS_OK;

    if (strnlen(id, LKS_PRODUCER_ID_SIZE_MAX + 1) > LKS_PRODUCER_ID_SIZE_MAX)
        problem = "it is longer than 64 bytes";
    else if (id[0] == '.')
        problem = "it begins with a dot";
    else
        problem = "only A-Z, a-z, 0-9, '.', '_' and '-' are allowed";
    return lks_error_set(error, LKS_INVALID, "%s \"%.64s\" is not valid: %s",
                         what, id, problem);
}

void lks_manifest_prefix(const uint8_t stream[LKS_ID_SIZE],
                         char name[LKS_NAME_SIZE])
{
    char digits[TAG_DIGITS + 1];

    lks_hex_encode(stream, TAG_DIGITS / 2, digits);
    snprintf(name, LKS_NAME_SIZE, "manifest/%s/", digits);
}

void lks_manifest_name(const uint8_t stream[LKS_ID_SIZE],
                       uint64_t version,
                       char name[LKS_NAME_SIZE])
{
    uint64_t number = UINT64_MAX - version;
    size_t size;

    lks_manifest_prefix(stream, name);
    size = strlen(name);
    snprintf(name + size, LKS_NAME_SIZE - size, "%013" PRIx64 "/%03" PRIx64,
             number >> (4 * LOW_DIGITS), number & 0xfff);
}

bool lks_manifest_name_parse(const uint8_t stream[LKS_ID_SIZE],
                             const char *name,
                             uint64_t *out_version)
{
    char expected[LKS_NAME_SIZE];
    char digits[HIGH_DIGITS + LOW_DIGITS + 1];
    uint8_t bytes[8];
    uint64_t number = 0;
    size_t size;

    lks_manifest_prefix(stream, expected);
    size = strlen(expected);
    if (strlen(name) != size + HIGH_DIGITS + 1 + LOW_DIGITS)
        return false;

    memcpy(digits, name + size, HIGH_DIGITS);
    memcpy(digits + HIGH_DIGITS, name + size + HIGH_DIGITS + 1, LOW_DIGITS);
    digits[HIGH_DIGITS + LOW_DIGITS] = '\0';
    if (!lks_hex_decode(digits, bytes, sizeof(bytes)))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        number = number << 8 | bytes[i];

    /* Only the one spelling counts: two names must not mean one version. */
    lks_manifest_name(stream, UINT64_MAX - number, expected);
    if (strcmp(name, expected) != 0)
        return false;
    if (number == UINT64_MAX)
        return false; /* version 0 is never stored */
    *out_version = UINT64_MAX - number;
    return true;
}

void lks_index_name(uint64_t number, char name[LKS_NAME_SIZE])
{
    snprintf(name, LKS_NAME_SIZE, "index/%016" PRIx64, number);
}

bool lks_index_name_parse(const char *name, uint64_t *out_number)
{
    static const char prefix[] = "index/";
    char expected[LKS_NAME_SIZE];
    uint8_t bytes[8];
    uint64_t number = 0;

    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
        strlen(name) != sizeof(prefix) - 1 + 2 * sizeof(bytes) ||
        !lks_hex_decode(name + sizeof(prefix) - 1, bytes, sizeof(bytes)))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        number = number << 8 | bytes[i];
    lks_index_name(number, expected);
    if (strcmp(name, expected) != 0)
        return false;
    *out_number = number;
    return true;
}

uint32_t lks_owner_tag(const uint8_t owner[LKS_ID_SIZE])
{
    return (uint32_t)owner[0] << 24 | (uint32_t)owner[1] << 16 |
           (uint32_t)owner[2] << 8 | (uint32_t)owner[3];
}

void lks_data_name(const char *producer,
                   uint64_t epoch,
                   uint32_t owner_tag,
                   uint64_t seq,
                   char name[LKS_NAME_SIZE])
{
    snprintf(name, LKS_NAME_SIZE, "data/%s/%" PRIu64 "-%08" PRIx32 "/%" PRIu64,
             producer, epoch, owner_tag, seq);
}

/* Moves `at` past the prefix, if it is there. */
static bool skip(const char **at, const char *prefix)
{
    size_t size = strlen(prefix);

    if (strncmp(*at, prefix, size) != 0)
        return false;
    *at += size;
    return true;
}

/* Takes what is before `end`, and `end`; it must fit with a NUL. */
static bool take_until(const char **at, char end, char *text, size_t text_size)
{
    const char *stop = strchr(*at, end);
    size_t size;

    if (stop == NULL)
        return false;
    size = (size_t)(stop - *at);
    if (size >= text_size)
        return false;
    memcpy(text, *at, size);
    text[size] = '\0';
    *at = stop + (end != '\0');
    return true;
}

static bool take_number(const char **at, char end, uint64_t *out_number)
{
    char digits[21];

    return take_until(at, end, digits, sizeof(digits)) &&
           lks_parse_u64(digits, out_number);
}

bool lks_data_name_parse(const char *name, struct lks_data_parts *out_parts)
{
    struct lks_data_parts parts;
    char expected[LKS_NAME_SIZE];
    char tag_digits[9];
    uint8_t tag[LKS_ID_SIZE] = {0};
    const char *at = name;

    if (!skip(&at, "data/") ||
        !take_until(&at, '/', parts.producer, sizeof(parts.producer)) ||
        !lks_id_is_valid(parts.producer) ||
        !take_number(&at, '-', &parts.epoch) ||
        !take_until(&at, '/', tag_digits, sizeof(tag_digits)) ||
        strlen(tag_digits) != 8 || !lks_hex_decode(tag_digits, tag, 4) ||
        !take_number(&at, '\0', &parts.seq))
        return false;
    parts.owner_tag = lks_owner_tag(tag);
    lks_data_name(parts.producer, parts.epoch, parts.owner_tag, parts.seq,
                  expected);
    if (strcmp(name, expected) != 0)
        return false;
    *out_parts = parts;
    return true;
}

void lks_watermark_prefix(const struct lks_watermark_parts *parts,
                          char name[LKS_NAME_SIZE])
{
    snprintf(name, LKS_NAME_SIZE, "watermark/%s/%s-%" PRIu64 "/", parts->group,
             parts->run, parts->attempt);
}

void lks_watermark_name(const struct lks_watermark_parts *parts,
                        char name[LKS_NAME_SIZE])
{
    size_t size;

    lks_watermark_prefix(parts, name);
    size = strlen(name);
    if (parts->rank == LKS_RANK_ALL)
        snprintf(name + size, LKS_NAME_SIZE - size, "all");
    else
        snprintf(name + size, LKS_NAME_SIZE - size, "%" PRIu32, parts->rank);
}

bool lks_watermark_name_parse(const char *name,
                              struct lks_watermark_parts *out_parts)
{
    struct lks_watermark_parts parts;
    char expected[LKS_NAME_SIZE];
    char run[LKS_PRODUCER_ID_SIZE_MAX + 22]; /* with its attempt */
    const char *at = name;
    uint64_t rank;
    char *dash;

    if (!skip(&at, "watermark/") ||
        !take_until(&at, '/', parts.group, sizeof(parts.group)) ||
        !take_until(&at, '/', run, sizeof(run)))
        return false;
    /* Digits have no dash, so the last one ends the id, whatever is in it. */
    dash = strrchr(run, '-');
    if (dash == NULL || dash - run > (ptrdiff_t)LKS_PRODUCER_ID_SIZE_MAX ||
        !lks_parse_u64(dash + 1, &parts.attempt))
        return false;
    *dash = '\0';
    memcpy(parts.run, run, strlen(run) + 1);
    if (!lks_id_is_valid(parts.group) || !lks_id_is_valid(parts.run))
        return false;
    if (strcmp(at, "all") == 0)
        rank = LKS_RANK_ALL;
    else if (!lks_parse_u64(at, &rank) || rank >= LKS_RANK_ALL)
        return false;
    parts.rank = (uint32_t)rank;
    lks_watermark_name(&parts, expected);
    if (strcmp(name, expected) != 0)
        return false;
    *out_parts = parts;
    return true;
}
