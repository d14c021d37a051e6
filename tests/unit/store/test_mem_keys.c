/* The ordered set of the store in memory, against a plain sorted array. */
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "store/mem_keys.h"
#include "support/check.h"

#define KEYS 5000u

static struct lks_mem_object *object_new(void)
{
    struct lks_mem_object *object = lks_alloc_zero(1, sizeof(*object));

    assert_non_null(object);
    atomic_init(&object->holders, 1);
    return object;
}

static void key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "k/%06u", i);
}

/* Every key of `present`, and no other, in order. */
static void expect_keys(const struct lks_mem_keys *keys, const bool *present)
{
    struct lks_mem_node *node = lks_mem_keys_seek(keys, "");
    char key[16];

    for (uint32_t i = 0; i < KEYS; i++) {
        if (!present[i])
            continue;
        key_of(i, key);
        assert_non_null(node);
        assert_string_equal(lks_mem_node_key(node), key);
        node = node->next[0];
    }
    assert_null(node);
}

static void it_holds_what_was_inserted_and_not_taken(void **state)
{
    static bool present[KEYS];
    int64_t live_before = lks_alloc_live();
    struct lks_mem_keys keys;
    char key[16];

    (void)state;
    lks_mem_keys_init(&keys);
    for (uint32_t step = 0; step < 4 * KEYS; step++) {
        uint32_t i = (uint32_t)((step * UINT64_C(2654435761)) >> 7) % KEYS;
        struct lks_mem_node *node;

        key_of(i, key);
        node = lks_mem_keys_find(&keys, key);
        assert_int_equal(node != NULL, present[i]);
        if (present[i])
            lks_mem_node_free(lks_mem_keys_take(&keys, key));
        else
            lks_mem_keys_insert(&keys, lks_mem_node_new(key, object_new()));
        present[i] = !present[i];
    }
    expect_keys(&keys, present);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t next = i;
        struct lks_mem_node *node;

        key_of(i, key);
        node = lks_mem_keys_seek(&keys, key);
        while (next < KEYS && !present[next])
            next++;
        key_of(next, key);
        assert_int_equal(node == NULL, next == KEYS);
        if (node != NULL)
            assert_string_equal(lks_mem_node_key(node), key);
    }
    lks_mem_keys_done(&keys);
    assert_int_equal(lks_alloc_live(), live_before);
}

static void an_absent_key_is_not_taken(void **state)
{
    struct lks_mem_keys keys;

    (void)state;
    lks_mem_keys_init(&keys);
    assert_null(lks_mem_keys_take(&keys, "a"));
    lks_mem_keys_insert(&keys, lks_mem_node_new("b", object_new()));
    assert_null(lks_mem_keys_take(&keys, "a"));
    assert_null(lks_mem_keys_take(&keys, "c"));
    assert_non_null(lks_mem_keys_find(&keys, "b"));
    lks_mem_keys_done(&keys);
}

static void heights_do_not_depend_on_the_run(void **state)
{
    uint32_t counts[LKS_MEM_LEVELS + 1] = {0};
    char key[16];

    (void)state;
    for (uint32_t i = 0; i < KEYS; i++) {
        struct lks_mem_node *node;
        struct lks_mem_node *same;

        key_of(i, key);
        node = lks_mem_node_new(key, object_new());
        same = lks_mem_node_new(key, object_new());
        assert_int_equal(node->level_count, same->level_count);
        assert_in_range(node->level_count, 1, LKS_MEM_LEVELS);
        counts[node->level_count]++;
        lks_mem_node_free(node);
        lks_mem_node_free(same);
    }
    /* About three quarters, and a quarter of those that are left. */
    assert_in_range(counts[1], KEYS * 6 / 10, KEYS * 9 / 10);
    assert_in_range(counts[2], KEYS / 10, KEYS * 3 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_was_inserted_and_not_taken),
        cmocka_unit_test(an_absent_key_is_not_taken),
        cmocka_unit_test(heights_do_not_depend_on_the_run),
    };

    return cmocka_run_group_tests_name("mem_keys", tests, NULL, NULL);
}
