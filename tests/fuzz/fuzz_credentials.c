/*
 * Fuzzes where keys come from: the JSON of a metadata service, and the files
 * that AWS tools share.
 *
 * Dictionary: json.dict
 */
#include "fuzz.h"
#include "store/credentials_fetch.h"
#include "store/credentials_ini.h"

#define INI 1u

static void parse_json(const struct fuzz_input *input)
{
    uint8_t *bytes = fuzz_copy(input->at, input->left);
    struct lks_error error = {0};
    struct lks_keys keys;
    enum lks_status status;
    int64_t lifetime_ms;

    status = lks_keys_parse_json((const char *)bytes, input->left,
                                 INT64_C(1767225600000), &keys, &lifetime_ms,
                                 &error);
    if (status != LKS_UNAVAILABLE)
        fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        FUZZ_CHECK(memchr(keys.access_key, '\0', LKS_ACCESS_KEY_SIZE) != NULL);
        FUZZ_CHECK(memchr(keys.secret_key, '\0', LKS_SECRET_KEY_SIZE) != NULL);
        FUZZ_CHECK(memchr(keys.token, '\0', LKS_TOKEN_SIZE) != NULL);
    }
    free(bytes);
}

static void parse_ini(struct fuzz_input *input)
{
    char *section = fuzz_text(input);
    char *name = fuzz_text(input);
    char *text = fuzz_text(input);
    char value[64];

    if (lks_ini_find(text, section, name, value, sizeof(value)) ==
        LKS_INI_FOUND) {
        FUZZ_CHECK(memchr(value, '\0', sizeof(value)) != NULL);
        FUZZ_CHECK(strpbrk(value, "\n") == NULL);
        FUZZ_CHECK(lks_ini_has(text, section));
    }
    free(section);
    free(name);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};

    if (fuzz_byte(&input) & INI)
        parse_ini(&input);
    else
        parse_json(&input);
    return 0;
}
