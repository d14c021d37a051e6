/* The contract: listing. */
#include <stdio.h>

#include "support/store_suite.h"

#define KEYS_MAX 400u

static struct lks_store *store_of(void **state)
{
    return ((struct store_fixture *)*state)->store;
}

/* The listing that a set of keys should give: the model. */
struct model {
    char keys[KEYS_MAX][64];
    size_t count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Whether one is the other, or a folder of the other. */
static bool are_in_conflict(const char *a, const char *b)
{
    size_t size = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

    return strncmp(a, b, size) == 0 && (a[size] == '\0' || a[size] == '/') &&
           (b[size] == '\0' || b[size] == '/');
}

static bool model_add(struct model *model, const char *key)
{
    if (!lks_key_is_valid(key))
        return false;
    for (size_t i = 0; i < model->count; i++) {
        if (are_in_conflict(model->keys[i], key))
            return false;
    }
    snprintf(model->keys[model->count++], sizeof(model->keys[0]), "%s", key);
    return true;
}

static void model_expect(const struct model *model,
                         struct lks_store *store,
                         const char *prefix,
                         const char *after,
                         size_t max)
{
    static struct lks_listed listed[KEYS_MAX];
    struct lks_error error;
    size_t found = 0;
    size_t count;

    assert_status(LKS_OK, lks_store_list(store, prefix, after, max, listed,
                                         &count, NULL, &error));
    for (size_t i = 0; i < model->count && found < max; i++) {
        const char *key = model->keys[i];

        if (strncmp(key, prefix, strlen(prefix)) != 0 ||
            strcmp(key, after) <= 0)
            continue;
        assert_true(found < count);
        assert_string_equal(listed[found].key, key);
        assert_int_equal(listed[found].size, strlen(key));
        found++;
    }
    assert_int_equal(count, found);
}

static void listings_agree_with_a_sorted_list_of_keys(void **state)
{
    static const char letters[] = "--..//00__aaAb";
    const struct store_fixture *fixture = *state;
    size_t count = fixture->backend->name_count;
    static struct model model;
    uint8_t random[4000];
    size_t used = 0;

    model.count = 0;
    suite_fill(random, sizeof(random), 7);
    while (used + 8 < sizeof(random) && model.count < count) {
        size_t size = 1 + random[used++] % 7;
        char key[16] = "";

        for (size_t i = 0; i < size; i++)
            key[i] = letters[random[used++] % (sizeof(letters) - 1)];
        if (model_add(&model, key))
            suite_put(store_of(state), key, key);
    }
    assert_true(model.count >= (count < 40 ? count : 40));
    qsort(model.keys, model.count, sizeof(model.keys[0]), compare);

    model_expect(&model, store_of(state), "", "", KEYS_MAX);
    for (size_t i = 0; i < model.count; i++) {
        const char *key = model.keys[i];
        char prefix[64];

        model_expect(&model, store_of(state), "", key, 1 + i % 9);
        model_expect(&model, store_of(state), key, "", 5);
        snprintf(prefix, sizeof(prefix), "%.*s", (int)(i % 4), key);
        if (!lks_key_prefix_is_valid(prefix))
            continue;
        model_expect(&model, store_of(state), prefix, "", KEYS_MAX);
        model_expect(&model, store_of(state), prefix, key, KEYS_MAX);
        model_expect(&model, store_of(state), prefix,
                     model.keys[model.count - 1 - i], 3);
        model_expect(&model, store_of(state), "", prefix, 4);
    }
}

static void folders_sort_as_their_keys_do(void **state)
{
    static const char *const keys[] = {
        "a-1", "a.1", "a/1", "a/2", "a0", "aB", "a_1", "aa",
    };
    static struct model model;

    model.count = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_true(model_add(&model, keys[i]));
        suite_create(store_of(state), keys[i], keys[i]);
    }
    model_expect(&model, store_of(state), "", "", KEYS_MAX);
    model_expect(&model, store_of(state), "a", "a.1", 2);
    model_expect(&model, store_of(state), "a", "a/", 9);
    model_expect(&model, store_of(state), "a/", "", 9);
    model_expect(&model, store_of(state), "a/1", "", 9);
    model_expect(&model, store_of(state), "a/", "a/1", 9);
    model_expect(&model, store_of(state), "a/", "a-1", 9);
    model_expect(&model, store_of(state), "a/", "a0", 9);
    model_expect(&model, store_of(state), "a/2/", "", 9);
    model_expect(&model, store_of(state), "b", "", 9);
}

static void nothing_is_listed_where_nothing_is(void **state)
{
    struct model model = {.count = 0};

    model_expect(&model, store_of(state), "", "", 5);
    model_expect(&model, store_of(state), "no/such", "", 5);
    model_expect(&model, store_of(state), "no/such/", "no/such/x", 5);
    suite_create(store_of(state), "no/other", "x");
    model_expect(&model, store_of(state), "no/such", "", 5);
    model_expect(&model, store_of(state), "no/other/", "", 5);
}

static void the_first_key_comes_first_among_many(void **state)
{
    const struct store_fixture *fixture = *state;
    uint32_t count = fixture->backend->name_count * 10;
    static struct lks_listed listed[LKS_LIST_MAX];
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    struct lks_error error;
    size_t listed_count;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < count; i++) {
        char key[64];

        /* Neither ascending nor descending. */
        snprintf(key, sizeof(key), "many/%08x", (i * 7919u) % count);
        suite_put(fixture->store, key, "");
    }
    assert_status(LKS_OK, lks_store_list(fixture->store, "many/", "", 1, listed,
                                         &listed_count, NULL, &error));
    assert_int_equal(listed_count, 1);
    assert_string_equal(listed[0].key, "many/00000000");

    do {
        size_t max = 1 + (seen * 13) % 100;

        assert_status(LKS_OK,
                      lks_store_list(fixture->store, "many/", after, max,
                                     listed, &listed_count, NULL, &error));
        for (size_t i = 0; i < listed_count; i++) {
            char key[64];

            snprintf(key, sizeof(key), "many/%08x", seen);
            assert_string_equal(listed[i].key, key);
            seen++;
        }
        if (listed_count == 0)
            break;
        memcpy(after, listed[listed_count - 1].key, sizeof(after));
    } while (seen < count);
    assert_int_equal(seen, count);
}

static void what_cannot_begin_a_key_is_refused(void **state)
{
    static const char *const texts[] = {
        "/", "/a", "a//", ".", "a/.", "..", "a b", "a*", "\xc3",
    };
    struct lks_listed listed;
    struct lks_error error;
    size_t count = 9;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_status(LKS_INVALID,
                      lks_store_list(store_of(state), texts[i], "", 1, &listed,
                                     &count, NULL, &error));
        assert_status(LKS_INVALID,
                      lks_store_list(store_of(state), "", texts[i], 1, &listed,
                                     &count, NULL, &error));
    }
    assert_int_equal(count, 9);
}

const struct CMUnitTest store_suite_lists[] = {
    cmocka_unit_test(listings_agree_with_a_sorted_list_of_keys),
    cmocka_unit_test(folders_sort_as_their_keys_do),
    cmocka_unit_test(nothing_is_listed_where_nothing_is),
    cmocka_unit_test(the_first_key_comes_first_among_many),
    cmocka_unit_test(what_cannot_begin_a_key_is_refused),
};

const size_t store_suite_list_count =
    sizeof(store_suite_lists) / sizeof(store_suite_lists[0]);
