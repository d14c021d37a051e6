/* Names of objects and ids: the exact spelling, and nothing else. */
#include "format/names.h"
#include "support/check.h"

#include <stdio.h>

static const uint8_t stream[LKS_ID_SIZE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                            8, 9, 10, 11, 12, 13, 14, 15};

static void ids_are_plain_words_of_up_to_64_bytes(void **state)
{
    char longest[66];

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[64] = '\0';
    assert_true(lks_id_is_valid(longest));
    longest[64] = 'x';
    longest[65] = '\0';
    assert_false(lks_id_is_valid(longest));

    assert_true(lks_id_is_valid("prep-0"));
    assert_true(lks_id_is_valid("A.b_C-9."));
    assert_false(lks_id_is_valid(""));
    assert_false(lks_id_is_valid(".hidden"));
    assert_false(lks_id_is_valid("a/b"));
    assert_false(lks_id_is_valid("a b"));
    assert_false(lks_id_is_valid("a\n"));
    assert_false(lks_id_is_valid("pr\xc3\xa9p"));
}

static void a_wrong_id_is_told_what_is_wrong(void **state)
{
    struct lks_error error;
    char longest[66];

    (void)state;
    memset(longest, 'x', 65);
    longest[65] = '\0';
    assert_status(LKS_OK, lks_id_check("producer id", "prep-0", &error));
    assert_status(LKS_INVALID, lks_id_check("producer id", NULL, &error));
    assert_message_has("producer id is empty");
    assert_status(LKS_INVALID, lks_id_check("pin", ".x", &error));
    assert_message_has("pin \".x\"");
    assert_message_has("begins with a dot");
    assert_status(LKS_INVALID, lks_id_check("pin", "a/b", &error));
    assert_message_has("only A-Z");
    assert_status(LKS_INVALID, lks_id_check("pin", longest, &error));
    assert_message_has("longer than 64");
}

/* docs/format.md has the same names. */
static void names_are_those_of_the_document(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    lks_manifest_prefix(stream, name);
    assert_string_equal(name, "manifest/00010203/");
    lks_manifest_name(stream, 1, name);
    assert_string_equal(name, "manifest/00010203/fffffffffffff/ffe");
    lks_manifest_name(stream, 4096, name);
    assert_string_equal(name, "manifest/00010203/ffffffffffffe/fff");
    lks_manifest_name(stream, UINT64_MAX, name);
    assert_string_equal(name, "manifest/00010203/0000000000000/000");
    lks_index_name(1, name);
    assert_string_equal(name, "index/0000000000000001");
    lks_index_name(UINT64_MAX, name);
    assert_string_equal(name, "index/ffffffffffffffff");
    lks_data_name("prep-0", 1, 0xf0e0d0c0, 0, name);
    assert_string_equal(name, "data/prep-0/1-f0e0d0c0/0");
}

static void version_0_has_no_name(void **state)
{
    uint64_t version;

    (void)state;
    assert_true(lks_manifest_name_parse(stream,
                                        "manifest/00010203/fffffffffffff/ffe",
                                        &version));
    assert_int_equal(version, 1);
    assert_false(lks_manifest_name_parse(stream,
                                         "manifest/00010203/fffffffffffff/fff",
                                         &version));
}

static void the_longest_name_fits(void **state)
{
    char name[LKS_NAME_SIZE];
    char id[65];

    (void)state;
    memset(id, 'x', 64);
    id[64] = '\0';
    lks_data_name(id, UINT64_MAX, UINT32_MAX, UINT64_MAX, name);
    assert_int_equal(strlen(name), 5 + 64 + 1 + 20 + 1 + 8 + 1 + 20);
}

static void an_owners_tag_is_how_its_hex_begins(void **state)
{
    static const uint8_t owner[LKS_ID_SIZE] = {0x0a, 0xbc, 0xde, 0xf1, 0x22};

    (void)state;
    assert_int_equal(lks_owner_tag(owner), 0x0abcdef1);
}

static void newer_manifests_list_before_older_ones(void **state)
{
    static const uint64_t versions[] = {
        1,         2, 4094, 4095, 4096, 4097, UINT64_C(1) << 32, UINT64_MAX - 1,
        UINT64_MAX};
    char older[LKS_NAME_SIZE];
    char newer[LKS_NAME_SIZE];

    (void)state;
    lks_manifest_name(stream, 0, older);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        lks_manifest_name(stream, versions[i], newer);
        assert_true(strcmp(newer, older) < 0);
        memcpy(older, newer, sizeof(older));
    }
}

static void a_manifests_name_gives_its_version_back(void **state)
{
    static const uint64_t versions[] = {
        1, 255, 4096, 1234567890123, UINT64_MAX - 1, UINT64_MAX};
    char name[LKS_NAME_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        uint64_t version = 77;

        lks_manifest_name(stream, versions[i], name);
        assert_true(lks_manifest_name_parse(stream, name, &version));
        assert_true(version == versions[i]);
    }
}

static void other_spellings_are_no_manifests_names(void **state)
{
    static const char *const names[] = {
        "",
        "manifest/00010203/",
        "manifest/00010203/fffffffffffff/ff",
        "manifest/00010203/fffffffffffff/ffe0",
        "manifest/00010203/ffffffffffffff/fe",
        "manifest/00010203/fffffffffffff-ffe",
        "manifest/00010203/Fffffffffffff/ffe",
        "manifest/00010203/fffffffffffff/ffg",
        "manifest/00010203/fffffffffffff/ ff",
        "manifest/00010204/fffffffffffff/ffe",
        "Manifest/00010203/fffffffffffff/ffe",
        "index/0000000000000001",
    };
    uint64_t version = 77;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_false(lks_manifest_name_parse(stream, names[i], &version));
    assert_int_equal(version, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_plain_words_of_up_to_64_bytes),
        cmocka_unit_test(a_wrong_id_is_told_what_is_wrong),
        cmocka_unit_test(names_are_those_of_the_document),
        cmocka_unit_test(version_0_has_no_name),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(an_owners_tag_is_how_its_hex_begins),
        cmocka_unit_test(newer_manifests_list_before_older_ones),
        cmocka_unit_test(a_manifests_name_gives_its_version_back),
        cmocka_unit_test(other_spellings_are_no_manifests_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
