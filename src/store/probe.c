/*
 * The probe: runs every check against a store, reports each in a line of JSON,
 * and removes what it made. docs/protocol.md says what the checks protect.
 */
#include "store/probe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

#define TEXT_SIZE_MAX (64u << 10)
#define NAP_FIRST_NS (100 * LKS_NS_PER_MS)

const char *lks_probe_key(struct lks_probe *probe, const char *name)
{
    char *key = probe->keys[probe->key_count];

    assert(probe->key_count < LKS_PROBE_KEYS_MAX);
    snprintf(key, sizeof(probe->keys[0]), "%s%s", probe->prefix, name);
    assert(lks_key_is_valid(key));
    probe->key_count++;
    return key;
}

void lks_probe_note(struct lks_probe *probe, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(probe->detail, sizeof(probe->detail), format, args);
    va_end(args);
}

/* Waits before a write is tried again, longer each time. */
static void nap(const struct lks_probe *probe, uint32_t try_index)
{
    if (try_index + 1 < LKS_PROBE_WRITES_MAX)
        lks_env_sleep_ns(probe->store->env, NAP_FIRST_NS << try_index);
}

enum lks_status lks_probe_create(struct lks_probe *probe,
                                 const char *key,
                                 const char *text,
                                 struct lks_error *error)
{
    struct lks_part part = {.data = text, .size = strlen(text)};
    enum lks_status status = LKS_UNSURE;

    for (uint32_t i = 0; i < LKS_PROBE_WRITES_MAX; i++) {
        status = lks_store_create(probe->store, key, &part, 1, NULL, error);
        if (status == LKS_EXISTS && i > 0) {
            /* It may be our own, from a try that we are unsure of. */
            status = lks_probe_expect(probe, key, text, NULL);
            return status == LKS_UNSUPPORTED ? LKS_EXISTS : status;
        }
        if (status != LKS_UNSURE)
            return status;
        nap(probe, i);
    }
    return lks_error_prefix(error, LKS_UNAVAILABLE, "after %u tries",
                            LKS_PROBE_WRITES_MAX);
}

enum lks_status lks_probe_put(struct lks_probe *probe,
                              const char *key,
                              const char *text,
                              struct lks_error *error)
{
    struct lks_part part = {.data = text, .size = strlen(text)};
    enum lks_status status = LKS_UNSURE;

    for (uint32_t i = 0; i < LKS_PROBE_WRITES_MAX; i++) {
        status = lks_store_put(probe->store, key, &part, 1, NULL, error);
        if (status != LKS_UNSURE)
            return status;
        nap(probe, i);
    }
    return lks_error_prefix(error, LKS_UNAVAILABLE, "after %u tries",
                            LKS_PROBE_WRITES_MAX);
}

enum lks_status lks_probe_expect(struct lks_probe *probe,
                                 const char *key,
                                 const char *text,
                                 struct lks_error *error)
{
    char found[LKS_PROBE_DETAIL_SIZE];
    enum lks_status status;
    size_t size = 0;

    status = lks_store_get(probe->store, key, 0, found, sizeof(found), &size,
                           NULL, error);
    if (status == LKS_NOT_FOUND)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "an object that was written is not found");
    if (status != LKS_OK)
        return status;
    if (size != strlen(text) || memcmp(found, text, size) != 0)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "an object has other bytes than were written: "
                             "'%.*s' instead of '%s'",
                             (int)(size < 40 ? size : 40), found, text);
    return LKS_OK;
}

/* The size of the UTF-8 sequence that `text` begins with; 0 if it is none. */
static size_t sequence_size(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t size = 1;

    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
        return 0;
    size = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    return size;
}

/* Appends `text` as a JSON string. What is not UTF-8 (a message may have been
 * cut anywhere) becomes '?'. */
static enum lks_status append_text(struct lks_buf *buf,
                                   const char *text,
                                   struct lks_error *error)
{
    enum lks_status status = lks_buf_append(buf, "\"", 1, error);

    while (*text != '\0' && status == LKS_OK) {
        size_t size = sequence_size(text);

        if (size == 0)
            status = lks_buf_append(buf, "?", 1, error);
        else if (*text == '"' || *text == '\\')
            status = lks_buf_append_format(buf, error, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            status = lks_buf_append_format(buf, error, "\\u%04x",
                                           (unsigned int)*text);
        else
            status = lks_buf_append(buf, text, size, error);
        text += size == 0 ? 1 : size;
    }
    if (status == LKS_OK)
        status = lks_buf_append(buf, "\"", 1, error);
    return status;
}

static enum lks_status report(const char *name,
                              bool ok,
                              const char *detail,
                              lks_line_fn *line,
                              void *line_arg,
                              struct lks_error *error)
{
    enum lks_status status;
    struct lks_buf buf;

    if (line == NULL)
        return LKS_OK;
    lks_buf_init(&buf, TEXT_SIZE_MAX);
    status = lks_buf_append_format(&buf, error,
                                   "{\"check\": \"%s\", \"ok\": %s, "
                                   "\"detail\": ",
                                   name, ok ? "true" : "false");
    if (status == LKS_OK)
        status = append_text(&buf, detail, error);
    if (status == LKS_OK)
        status = lks_buf_append(&buf, "}", 2, error); /* with its NUL */
    if (status == LKS_OK) {
        status = line((const char *)buf.data, line_arg);
        if (status != LKS_OK)
            lks_error_set(error, status, "stopped by the reader of the lines");
    }
    lks_buf_done(&buf);
    return status;
}

/* {"checks": ["create-if-absent", ...]} */
static enum lks_status summarize(char **out_summary, struct lks_error *error)
{
    enum lks_status status;
    struct lks_buf buf;
    char *text;

    lks_buf_init(&buf, TEXT_SIZE_MAX);
    status = lks_buf_append_format(&buf, error, "{\"checks\": [");
    for (size_t i = 0; i < lks_probe_check_count && status == LKS_OK; i++)
        status =
            lks_buf_append_format(&buf, error, "%s\"%s\"", i == 0 ? "" : ", ",
                                  lks_probe_checks[i].name);
    if (status == LKS_OK)
        status = lks_buf_append_format(&buf, error, "]}");
    if (status == LKS_OK) {
        text = lks_buf_take_text(&buf);
        if (text != NULL)
            *out_summary = text;
        else
            status = lks_error_no_memory(error);
    }
    lks_buf_done(&buf);
    return status;
}

/* Whether the check could not be tried at all. Any other failure is an answer
 * that the contract does not have at that place. */
static bool says_nothing(enum lks_status status)
{
    return status == LKS_UNAVAILABLE || status == LKS_DENIED ||
           status == LKS_NO_MEMORY || status == LKS_CANCELLED;
}

/* Runs all checks, also after one that failed if there is a reader to be told
 * of the rest; but not after one that could not be tried, since the next would
 * wait for the same dead store. */
static enum lks_status run(struct lks_probe *probe,
                           lks_line_fn *line,
                           void *line_arg,
                           struct lks_error *error)
{
    enum lks_status outcome = LKS_OK;

    for (size_t i = 0; i < lks_probe_check_count; i++) {
        const struct lks_probe_check *check = &lks_probe_checks[i];
        struct lks_error reason = {.status = LKS_OK};
        enum lks_status status;
        enum lks_status told;

        probe->detail[0] = '\0';
        status = check->run(probe, &reason);
        told = report(check->name, status == LKS_OK,
                      status == LKS_OK ? probe->detail : reason.message, line,
                      line_arg, error);
        if (told != LKS_OK)
            return told;
        /* A promise that was found broken before stays the reason. */
        if (says_nothing(status) && outcome != LKS_OK)
            return outcome;
        if (says_nothing(status))
            return lks_error_set(error, status, "%s", reason.message);
        if (status != LKS_OK && outcome == LKS_OK)
            outcome =
                lks_error_set(error, LKS_UNSUPPORTED, "%.160s fails %s: %s",
                              probe->store->url, check->name, reason.message);
        if (outcome != LKS_OK && line == NULL)
            return outcome;
    }
    return outcome;
}

static enum lks_status clean_up(struct lks_probe *probe,
                                struct lks_error *error)
{
    const char *keys[LKS_PROBE_KEYS_MAX];

    for (size_t i = 0; i < probe->key_count; i++)
        keys[i] = probe->keys[i];
    return lks_store_remove(probe->store, keys, probe->key_count, NULL, error);
}

enum lks_status lks_store_check(struct lks_store *store,
                                lks_line_fn *line,
                                void *line_arg,
                                char **out_summary,
                                struct lks_error *error)
{
    struct lks_probe *probe = lks_alloc_zero(1, sizeof(*probe));
    enum lks_status status;
    enum lks_status cleaned;
    char *summary = NULL;
    uint8_t random[8];
    char hex[17];

    if (probe == NULL)
        return lks_error_no_memory(error);
    probe->store = store;
    probe->begin_ns = lks_env_now_ns(store->env);
    lks_env_random(store->env, random, sizeof(random));
    lks_hex_encode(random, sizeof(random), hex);
    snprintf(probe->prefix, sizeof(probe->prefix), "probe/%s/", hex);

    status = run(probe, line, line_arg, error);
    cleaned = clean_up(probe, status == LKS_OK ? error : NULL);
    if (status == LKS_OK)
        status = cleaned;
    if (status == LKS_OK && out_summary != NULL)
        status = summarize(&summary, error);
    if (status == LKS_OK && out_summary != NULL)
        *out_summary = summary;
    lks_free(probe);
    return status;
}
