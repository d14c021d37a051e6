/*
 * Allocation with two hooks for tests: the n-th call fails, and what is held is
 * counted. The C library does the rest.
 */
#include "base/alloc.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_SIZE ((size_t)2 << 20)

static atomic_int_fast64_t live_count;

/* Counting begins with the first lks_alloc_fail_at(): a process that never
 * calls it pays one load of a flag that does not change. */
static atomic_bool hook_is_on;
static atomic_uint_fast64_t asked_count;
static atomic_uint_fast64_t fail_number;

static bool must_fail(void)
{
    uint64_t number;

    if (!atomic_load_explicit(&hook_is_on, memory_order_relaxed))
        return false;
    number = atomic_fetch_add(&asked_count, 1) + 1;
    return number == atomic_load(&fail_number);
}

static void *counted(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add_explicit(&live_count, 1, memory_order_relaxed);
    return memory;
}

void *lks_alloc(size_t size)
{
    if (must_fail())
        return NULL;
    return counted(malloc(size > 0 ? size : 1));
}

void *lks_alloc_zero(size_t count, size_t size)
{
    if (must_fail())
        return NULL;
    if (count == 0 || size == 0)
        return counted(calloc(1, 1));
    /* calloc() knows too, but a sanitizer's ends the program over it. */
    if (count > SIZE_MAX / size)
        return NULL;
    return counted(calloc(count, size));
}

void *lks_realloc(void *memory, size_t size)
{
    void *moved;

    if (must_fail())
        return NULL;
    moved = realloc(memory, size > 0 ? size : 1);
    return memory == NULL ? counted(moved) : moved;
}

char *lks_text_dup(const char *text)
{
    return lks_memory_dup(text, strlen(text) + 1);
}

void *lks_memory_dup(const void *data, size_t size)
{
    void *memory = lks_alloc(size);

    if (memory != NULL && size > 0)
        memcpy(memory, data, size);
    return memory;
}

/* No more than whole ones: what is asked for is what gets resident. */
static void ask_for_huge_pages(void *memory, size_t size)
{
    madvise(memory, size - size % HUGE_PAGE_SIZE, MADV_HUGEPAGE);
}

void *lks_alloc_aligned(size_t alignment, size_t size)
{
    void *memory;

    assert(alignment > 0);
    assert((alignment & (alignment - 1)) == 0);

    if (must_fail())
        return NULL;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    if (size >= HUGE_PAGE_SIZE && alignment < HUGE_PAGE_SIZE)
        alignment = HUGE_PAGE_SIZE;
    if (posix_memalign(&memory, alignment, size > 0 ? size : 1) != 0)
        return NULL;
    if (size >= HUGE_PAGE_SIZE)
        ask_for_huge_pages(memory, size);
    return counted(memory);
}

void lks_free(void *memory)
{
    if (memory == NULL)
        return;
    atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
    free(memory);
}

void lks_alloc_fail_at(uint64_t n)
{
    atomic_store(&fail_number, 0);
    atomic_store(&asked_count, 0);
    atomic_store(&fail_number, n);
    atomic_store(&hook_is_on, true);
}

uint64_t lks_alloc_count(void)
{
    return atomic_load(&asked_count);
}

int64_t lks_alloc_live(void)
{
    return atomic_load(&live_count);
}
