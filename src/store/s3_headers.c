/*
 * The head of a reply, line by line: a table of those headers that mean
 * something here. All of it comes from a server, so nothing is taken that does
 * not fit.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/bytes.h"
#include "store/s3_http.h"

#define RETRY_AFTER_S_MAX 3600u

int64_t lks_http_date(const char *text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *found;
    char month[4];
    struct tm utc;

    memset(&utc, 0, sizeof(utc));
    if (sscanf(text, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &utc.tm_mday, month,
               &utc.tm_year, &utc.tm_hour, &utc.tm_min, &utc.tm_sec) != 6)
        return INT64_MIN;
    found = strstr(months, month);
    if (found == NULL || (found - months) % 3 != 0 || strlen(month) != 3)
        return INT64_MIN;
    /* Later and earlier years have no place in a signature's date. */
    if (utc.tm_year < 1970 || utc.tm_year > 9999)
        return INT64_MIN;
    utc.tm_mon = (int)(found - months) / 3;
    utc.tm_year -= 1900;
    return (int64_t)timegm(&utc) * 1000;
}

static void take_length(struct lks_http_reply *reply, const char *value)
{
    uint64_t length;

    if (lks_parse_u64(value, &length))
        reply->length = length;
}

/* "bytes 0-99/1000"; a 416 says "bytes *" instead, followed by the total. */
static void take_range(struct lks_http_reply *reply, const char *value)
{
    const char *total = strrchr(value, '/');
    const char *dash = strchr(value, '-');
    char first[24];
    size_t size;

    reply->has_range = false;
    reply->range_total = UINT64_MAX;
    if (total == NULL || dash == NULL || dash > total ||
        strncmp(value, "bytes ", 6) != 0)
        return;
    size = (size_t)(dash - value) - 6;
    if (size >= sizeof(first))
        return;
    memcpy(first, value + 6, size);
    first[size] = '\0';
    reply->has_range = lks_parse_u64(first, &reply->range_first) &&
                       lks_parse_u64(total + 1, &reply->range_total);
}

static void take_date(struct lks_http_reply *reply, const char *value)
{
    reply->date_ms = lks_http_date(value);
}

static void take_modified(struct lks_http_reply *reply, const char *value)
{
    reply->modified_ms = lks_http_date(value);
}

static void take_etag(struct lks_http_reply *reply, const char *value)
{
    size_t size = strlen(value);

    if (size >= 2 && value[0] == '"' && value[size - 1] == '"') {
        value++;
        size -= 2;
    }
    snprintf(reply->etag, sizeof(reply->etag), "%.*s", (int)size, value);
}

static void take_request_id(struct lks_http_reply *reply, const char *value)
{
    snprintf(reply->request_id, sizeof(reply->request_id), "%s", value);
}

static void take_region(struct lks_http_reply *reply, const char *value)
{
    snprintf(reply->region, sizeof(reply->region), "%s", value);
}

static void take_retry_after(struct lks_http_reply *reply, const char *value)
{
    uint64_t seconds;

    if (lks_parse_u64(value, &seconds) && seconds <= RETRY_AFTER_S_MAX)
        reply->retry_after_ms = seconds * 1000;
}

static const struct {
    const char *name;
    void (*take)(struct lks_http_reply *reply, const char *value);
} headers_known[] = {
    {"content-length", take_length},
    {"content-range", take_range},
    {"date", take_date},
    {"last-modified", take_modified},
    {"etag", take_etag},
    {"x-amz-request-id", take_request_id},
    {"x-amz-bucket-region", take_region},
    {"retry-after", take_retry_after},
};

void lks_http_reply_clear(struct lks_http_reply *reply)
{
    memset(reply, 0, sizeof(*reply));
    reply->length = UINT64_MAX;
    reply->date_ms = INT64_MIN;
    reply->range_total = UINT64_MAX;
}

void lks_http_reply_take(struct lks_http_reply *reply, char *line)
{
    char *value = strchr(line, ':');

    if (value == NULL)
        return;
    *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t i = 0; i < sizeof(headers_known) / sizeof(headers_known[0]);
         i++) {
        if (strcasecmp(line, headers_known[i].name) == 0)
            headers_known[i].take(reply, value);
    }
}
