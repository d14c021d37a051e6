/*
 * Fuzzes options: a row of the table or any name, and any value. What is taken
 * must be in the row's range; a size is read without a change of its value.
 */
#include "base/alloc.h"
#include "base/options.h"
#include "fuzz.h"

static const struct {
    const char *name;
    enum lks_option_type type;
    uint64_t min;
    uint64_t max;
} rows[] = {
#define ROW(id, reader, name, type, min, max, ...)                             \
    {name, LKS_OPTION_##type, min, max},
    LKS_OPTION_TABLE(ROW)
#undef ROW
};

static void look_at(const struct lks_options *options, unsigned int row)
{
    enum lks_option option = (enum lks_option)row;

    switch (rows[row].type) {
    case LKS_OPTION_COUNT:
    case LKS_OPTION_SIZE:
        FUZZ_CHECK(lks_options_number(options, option) >= rows[row].min);
        FUZZ_CHECK(lks_options_number(options, option) <= rows[row].max);
        break;
    case LKS_OPTION_TEXT:
        FUZZ_CHECK(strlen(lks_options_text(options, option)) <= rows[row].max);
        break;
    case LKS_OPTION_CHOICE:
        FUZZ_CHECK(lks_options_number(options, option) < 16);
        break;
    }
}

static void parse_size(const char *text)
{
    char plain[32];
    uint64_t size;
    uint64_t again;

    if (!lks_parse_size(text, &size))
        return;
    snprintf(plain, sizeof(plain), "%llu", (unsigned long long)size);
    FUZZ_CHECK(lks_parse_size(plain, &again));
    FUZZ_CHECK(again == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    unsigned int row = fuzz_byte(&input);
    char *name =
        row < LKS_OPTION_NUMBER ? strdup(rows[row].name) : fuzz_text(&input);
    char *value = fuzz_text(&input);
    struct lks_options *options;
    struct lks_error error = {0};
    enum lks_status status;

    FUZZ_CHECK(name != NULL);
    FUZZ_CHECK(lks_options_new(&options, &error) == LKS_OK);
    status = lks_options_set(options, name, value, &error);
    FUZZ_CHECK(status == LKS_OK || status == LKS_INVALID);
    if (status == LKS_INVALID)
        FUZZ_CHECK(error.message[0] != '\0');
    if (row < LKS_OPTION_NUMBER)
        look_at(options, row);
    parse_size(value);
    lks_options_free(options);
    free(name);
    free(value);
    return 0;
}
