/*
 * Options: reading a value by its row of the table, and who wins: what was set,
 * then the environment, then the default.
 */
#include "base/options.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/distance.h"

#define VARIABLE_SIZE 64u
#define SHOWN_SIZE_MAX 64 /* of a refused value, in a message */
#define DESCRIPTION_SIZE_MAX 4096u
#define NEAREST_COUNT 3u /* options that a message names */

struct option_row {
    const char *reader;
    const char *name;
    enum lks_option_type type;
    uint64_t min;
    uint64_t max;
    const char *value;
    const char *choices;
    const char *text;
};

#define OPTION_ROW(id, reader, name, type, min, max, value, choices, text)     \
    {reader, name, LKS_OPTION_##type, min, max, value, choices, text},
static const struct option_row rows[] = {LKS_OPTION_TABLE(OPTION_ROW)};
#undef OPTION_ROW

struct lks_options {
    char *values[LKS_OPTION_NUMBER]; /* NULL: not set */
};

bool lks_parse_size(const char *text, uint64_t *out_size)
{
    static const struct {
        const char *name;
        unsigned int shift;
    } suffixes[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}};
    char digits[24]; /* UINT64_MAX has 20 */
    size_t digit_count = strspn(text, "0123456789");
    uint64_t number;

    if (digit_count >= sizeof(digits))
        return false;
    memcpy(digits, text, digit_count);
    digits[digit_count] = '\0';
    if (!lks_parse_u64(digits, &number))
        return false;

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strcmp(text + digit_count, suffixes[i].name) != 0)
            continue;
        if (number > UINT64_MAX >> suffixes[i].shift)
            return false;
        *out_size = number << suffixes[i].shift;
        return true;
    }
    return false;
}

/* Where in "a|b|c" the word is. */
static bool choice_index(const char *choices,
                         const char *word,
                         uint64_t *out_index)
{
    size_t word_size = strlen(word);

    for (uint64_t index = 0;; index++) {
        size_t size = strcspn(choices, "|");

        if (size == word_size && memcmp(choices, word, size) == 0) {
            *out_index = index;
            return true;
        }
        if (choices[size] == '\0')
            return false;
        choices += size + 1;
    }
}

/* Whether `value` fits the row, and as which number; a text's is its size. */
static bool row_parse(const struct option_row *row,
                      const char *value,
                      uint64_t *out_number)
{
    uint64_t number = 0;
    bool parsed = false;

    switch (row->type) {
    case LKS_OPTION_COUNT:
        parsed = lks_parse_u64(value, &number);
        break;
    case LKS_OPTION_SIZE:
        parsed = lks_parse_size(value, &number);
        break;
    case LKS_OPTION_CHOICE:
        return choice_index(row->choices, value, out_number);
    case LKS_OPTION_TEXT:
        number = strlen(value);
        parsed = true;
        break;
    }
    if (!parsed || number < row->min || number > row->max)
        return false;
    *out_number = number;
    return true;
}

/* `where` names what was set: the option, or the environment's variable. */
static enum lks_status refuse(const struct option_row *row,
                              const char *where,
                              const char *value,
                              struct lks_error *error)
{
    switch (row->type) {
    case LKS_OPTION_CHOICE:
        return lks_error_set(error, LKS_INVALID, "%s: '%.*s' is not one of %s",
                             where, SHOWN_SIZE_MAX, value, row->choices);
    case LKS_OPTION_TEXT:
        return lks_error_set(error, LKS_INVALID,
                             "%s: must be %" PRIu64 " to %" PRIu64
                             " bytes long",
                             where, row->min, row->max);
    case LKS_OPTION_SIZE:
        return lks_error_set(error, LKS_INVALID,
                             "%s: '%.*s' is not a size from %" PRIu64
                             " to %" PRIu64 " bytes (64KiB, 1GiB and so on)",
                             where, SHOWN_SIZE_MAX, value, row->min, row->max);
    case LKS_OPTION_COUNT:
        break;
    }
    return lks_error_set(error, LKS_INVALID,
                         "%s: '%.*s' is not a whole number from %" PRIu64
                         " to %" PRIu64,
                         where, SHOWN_SIZE_MAX, value, row->min, row->max);
}

static void variable_name(const struct option_row *row,
                          char name[VARIABLE_SIZE])
{
    snprintf(name, VARIABLE_SIZE, "LAKESTREAM_%s", row->name);
    for (; *name != '\0'; name++) {
        if (*name >= 'a' && *name <= 'z')
            *name = (char)(*name - 'a' + 'A');
    }
}

/* NULL when it is not set; an empty one counts as not set. */
static const char *variable_value(const struct option_row *row)
{
    char name[VARIABLE_SIZE];
    const char *value;

    variable_name(row, name);
    value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

uint64_t lks_options_number(const struct lks_options *options,
                            enum lks_option option)
{
    uint64_t number = 0;
    bool parsed;

    assert(option < LKS_OPTION_NUMBER);

    if (row_parse(&rows[option], lks_options_text(options, option), &number))
        return number;
    /* Somebody changed the environment after it was checked. */
    parsed = row_parse(&rows[option], rows[option].value, &number);
    (void)parsed;
    assert(parsed);
    return number;
}

const char *lks_options_text(const struct lks_options *options,
                             enum lks_option option)
{
    const char *value;

    assert(option < LKS_OPTION_NUMBER);

    if (options != NULL && options->values[option] != NULL)
        return options->values[option];
    value = variable_value(&rows[option]);
    return value != NULL ? value : rows[option].value;
}

enum lks_status lks_options_check(const struct lks_options *options,
                                  struct lks_error *error)
{
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        const char *value = variable_value(&rows[i]);
        char name[VARIABLE_SIZE];
        uint64_t number;

        if (value == NULL || row_parse(&rows[i], value, &number))
            continue;
        if (options != NULL && options->values[i] != NULL)
            continue; /* Nobody will look at it. */
        variable_name(&rows[i], name);
        return refuse(&rows[i], name, value, error);
    }
    return LKS_OK;
}

enum lks_status lks_options_new(struct lks_options **out_options,
                                struct lks_error *error)
{
    struct lks_options *options;

    if (out_options == NULL)
        return lks_error_set(error, LKS_INVALID, "out_options is NULL");
    options = lks_alloc_zero(1, sizeof(*options));
    if (options == NULL)
        return lks_error_no_memory(error);
    *out_options = options;
    return LKS_OK;
}

void lks_options_free(struct lks_options *options)
{
    if (options == NULL)
        return;
    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++)
        lks_free(options->values[i]);
    lks_free(options);
}

/* The row whose name is nearest, but for those that are `taken`. */
static size_t find_nearest(const char *name, uint64_t taken)
{
    uint32_t least = UINT32_MAX;
    size_t best = 0;

    for (size_t i = 0; i < LKS_OPTION_NUMBER; i++) {
        uint32_t distance = lks_text_distance(name, rows[i].name);

        if ((taken >> i & 1) != 0 || distance >= least)
            continue;
        least = distance;
        best = i;
    }
    return best;
}

/* Not with all names: there may be more than a message holds. */
static enum lks_status refuse_name(const char *name, struct lks_error *error)
{
    size_t nearest[NEAREST_COUNT];
    uint64_t taken = 0;

    static_assert(LKS_OPTION_NUMBER <= 64, "a bit for each");
    for (size_t i = 0; i < NEAREST_COUNT; i++) {
        nearest[i] = find_nearest(name, taken);
        taken |= UINT64_C(1) << nearest[i];
    }
    return lks_error_set(error, LKS_INVALID,
                         "no option '%.*s'; the nearest are %s, %s and %s, and "
                         "lks_options_describe() tells all",
                         SHOWN_SIZE_MAX, name, rows[nearest[0]].name,
                         rows[nearest[1]].name, rows[nearest[2]].name);
}

enum lks_status lks_options_set(struct lks_options *options,
                                const char *name,
                                const char *value,
                                struct lks_error *error)
{
    size_t i = 0;
    uint64_t number;
    char *copy;

    if (options == NULL || name == NULL || value == NULL)
        return lks_error_set(error, LKS_INVALID,
                             "options, name or value is NULL");
    while (i < LKS_OPTION_NUMBER && strcmp(rows[i].name, name) != 0)
        i++;
    if (i == LKS_OPTION_NUMBER)
        return refuse_name(name, error);
    if (!row_parse(&rows[i], value, &number))
        return refuse(&rows[i], name, value, error);

    copy = lks_text_dup(value);
    if (copy == NULL)
        return lks_error_no_memory(error);
    lks_free(options->values[i]);
    options->values[i] = copy;
    return LKS_OK;
}

static enum lks_status json_append_text(struct lks_buf *buf,
                                        const char *text,
                                        struct lks_error *error)
{
    enum lks_status status = lks_buf_append(buf, "\"", 1, error);

    for (; *text != '\0' && status == LKS_OK; text++) {
        if (*text == '"' || *text == '\\')
            status = lks_buf_append_format(buf, error, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            status = lks_buf_append_format(buf, error, "\\u%04x",
                                           (unsigned int)*text);
        else
            status = lks_buf_append(buf, text, 1, error);
    }
    return status != LKS_OK ? status : lks_buf_append(buf, "\"", 1, error);
}

/* "key": "text", or "key": null. */
static enum lks_status json_append_pair(struct lks_buf *buf,
                                        const char *key,
                                        const char *text,
                                        struct lks_error *error)
{
    enum lks_status status =
        lks_buf_append_format(buf, error,
                              "%s\"%s\": ", buf->size > 1 ? ", " : "", key);

    if (status != LKS_OK)
        return status;
    if (text == NULL)
        return lks_buf_append(buf, "null", 4, error);
    return json_append_text(buf, text, error);
}

static enum lks_status row_describe(const struct option_row *row,
                                    struct lks_buf *buf,
                                    struct lks_error *error)
{
    static const char *const type_names[] = {
        [LKS_OPTION_COUNT] = "count",
        [LKS_OPTION_SIZE] = "size",
        [LKS_OPTION_CHOICE] = "choice",
        [LKS_OPTION_TEXT] = "text",
    };
    enum lks_status status = lks_buf_append(buf, "{", 1, error);

    if (status == LKS_OK)
        status = json_append_pair(buf, "name", row->name, error);
    if (status == LKS_OK)
        status = json_append_pair(buf, "type", type_names[row->type], error);
    if (status == LKS_OK)
        status =
            lks_buf_append_format(buf, error,
                                  ", \"min\": %" PRIu64 ", \"max\": %" PRIu64,
                                  row->min, row->max);
    if (status == LKS_OK)
        status = json_append_pair(buf, "default", row->value, error);
    if (status == LKS_OK)
        status = json_append_pair(buf, "choices", row->choices, error);
    if (status == LKS_OK)
        status = json_append_pair(buf, "reader", row->reader, error);
    if (status == LKS_OK)
        status = json_append_pair(buf, "text", row->text, error);
    return status == LKS_OK ? lks_buf_append(buf, "}", 1, error) : status;
}

enum lks_status lks_options_describe(size_t index,
                                     char **out_json,
                                     struct lks_error *error)
{
    struct lks_buf buf;
    enum lks_status status;
    char *json;

    if (out_json == NULL)
        return lks_error_set(error, LKS_INVALID, "out_json is NULL");
    if (index >= LKS_OPTION_NUMBER)
        return lks_error_set(error, LKS_NOT_FOUND, "there are %d options",
                             (int)LKS_OPTION_NUMBER);

    lks_buf_init(&buf, DESCRIPTION_SIZE_MAX);
    status = row_describe(&rows[index], &buf, error);
    if (status != LKS_OK)
        goto done;
    json = lks_buf_take_text(&buf);
    if (json == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    *out_json = json;

done:
    lks_buf_done(&buf);
    return status;
}
