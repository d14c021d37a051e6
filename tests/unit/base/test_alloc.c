/* Allocation: the hooks for tests, sizes of zero, alignment. */
#include "base/alloc.h"
#include "base/env.h"
#include "support/check.h"

static void allocations_are_counted_until_they_are_freed(void **state)
{
    int64_t before = lks_alloc_live();
    void *a = lks_alloc(10);
    void *b = lks_alloc_zero(3, 7);
    void *c = lks_alloc_aligned(64, 100);
    char *d = lks_text_dup("text");
    void *e = lks_memory_dup("data", 4);
    void *f = lks_realloc(NULL, 5);

    (void)state;
    assert_int_equal(lks_alloc_live() - before, 6);
    f = lks_realloc(f, 500);
    assert_int_equal(lks_alloc_live() - before, 6);
    lks_free(a);
    lks_free(b);
    lks_free(c);
    lks_free(d);
    lks_free(e);
    lks_free(f);
    assert_int_equal(lks_alloc_live(), before);
}

static void freeing_null_is_nothing(void **state)
{
    int64_t before = lks_alloc_live();

    (void)state;
    lks_free(NULL);
    assert_int_equal(lks_alloc_live(), before);
}

static void a_size_of_zero_is_memory_too(void **state)
{
    void *memories[6] = {
        lks_alloc(0),         lks_alloc_zero(0, 8),  lks_alloc_zero(8, 0),
        lks_realloc(NULL, 0), lks_memory_dup("", 0), lks_alloc_aligned(4096, 0),
    };

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_non_null(memories[i]);
        lks_free(memories[i]);
    }
}

static void zeroed_memory_is_zero_and_does_not_overflow(void **state)
{
    uint8_t *bytes = lks_alloc_zero(100, 3);
    volatile size_t huge = SIZE_MAX / 2;

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 0);
    lks_free(bytes);
    assert_null(lks_alloc_zero(huge, 4));
}

static void copies_have_the_same_bytes(void **state)
{
    char *text = lks_text_dup("a text");
    void *data = lks_memory_dup("a\0b", 3);

    (void)state;
    assert_string_equal(text, "a text");
    assert_memory_equal(data, "a\0b", 3);
    lks_free(text);
    lks_free(data);
}

static void aligned_memory_is_aligned(void **state)
{
    (void)state;
    for (size_t alignment = 1; alignment <= 1u << 20; alignment *= 2) {
        void *memory = lks_alloc_aligned(alignment, 3);

        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignment, 0);
        lks_free(memory);
    }
}

static void large_aligned_memory_is_whole_and_begins_a_huge_page(void **state)
{
    static const size_t sizes[] = {(2u << 20) - 1, 2u << 20, (6u << 20) + 5};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint8_t *memory = lks_alloc_aligned(64, sizes[i]);
        size_t alignment = sizes[i] >= 2u << 20 ? 2u << 20 : 64;

        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignment, 0);
        memory[0] = 1;
        memory[sizes[i] - 1] = 1;
        lks_free(memory);
    }
}

static void only_the_nth_allocation_fails(void **state)
{
    void *memory[4];

    (void)state;
    lks_alloc_fail_at(3);
    for (size_t i = 0; i < 4; i++)
        memory[i] = lks_alloc(1);
    assert_int_equal(lks_alloc_count(), 4);
    lks_alloc_fail_at(0);
    assert_int_equal(lks_alloc_count(), 0);

    assert_non_null(memory[0]);
    assert_non_null(memory[1]);
    assert_null(memory[2]);
    assert_non_null(memory[3]);
    for (size_t i = 0; i < 4; i++)
        lks_free(memory[i]);
}

static void each_kind_of_allocation_can_fail(void **state)
{
    char *kept = lks_text_dup("kept");

    (void)state;
    lks_alloc_fail_at(1);
    assert_null(lks_alloc(1));
    lks_alloc_fail_at(1);
    assert_null(lks_alloc_zero(1, 1));
    lks_alloc_fail_at(1);
    assert_null(lks_alloc_aligned(8, 1));
    lks_alloc_fail_at(1);
    assert_null(lks_text_dup("x"));
    lks_alloc_fail_at(1);
    assert_null(lks_memory_dup("x", 1));
    lks_alloc_fail_at(1);
    assert_null(lks_realloc(kept, 1000));
    lks_alloc_fail_at(0);

    assert_string_equal(kept, "kept");
    lks_free(kept);
}

#define ROUNDS 1000

struct greedy {
    struct lks_thread *thread;
    int failures;
};

static void allocate_often(void *arg)
{
    struct greedy *greedy = arg;

    for (int i = 0; i < ROUNDS; i++) {
        void *memory = lks_alloc(16);

        greedy->failures += memory == NULL;
        lks_free(memory);
    }
}

static void one_allocation_fails_among_many_threads(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct greedy greedy[4] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    int64_t before = lks_alloc_live();
    struct lks_error error;
    int failures = 0;

    (void)state;
    lks_alloc_fail_at(2 * ROUNDS);
    for (size_t i = 0; i < 4; i++)
        assert_status(LKS_OK,
                      lks_thread_start(env, "greedy", allocate_often,
                                       &greedy[i], &greedy[i].thread, &error));
    for (size_t i = 0; i < 4; i++) {
        lks_thread_join(env, greedy[i].thread);
        failures += greedy[i].failures;
    }
    assert_int_equal(lks_alloc_count(), 4 * ROUNDS + 4);
    lks_alloc_fail_at(0);
    assert_int_equal(failures, 1);
    assert_int_equal(lks_alloc_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_counted_until_they_are_freed),
        cmocka_unit_test(freeing_null_is_nothing),
        cmocka_unit_test(a_size_of_zero_is_memory_too),
        cmocka_unit_test(zeroed_memory_is_zero_and_does_not_overflow),
        cmocka_unit_test(copies_have_the_same_bytes),
        cmocka_unit_test(aligned_memory_is_aligned),
        cmocka_unit_test(large_aligned_memory_is_whole_and_begins_a_huge_page),
        cmocka_unit_test(only_the_nth_allocation_fails),
        cmocka_unit_test(each_kind_of_allocation_can_fail),
        cmocka_unit_test(one_allocation_fails_among_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
