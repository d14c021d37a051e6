/*
 * Every allocation of the library goes through here, so that a test can make
 * the n-th one fail and count what is still held.
 */
#ifndef LKS_BASE_ALLOC_H
#define LKS_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* All return NULL when memory is out; a size of 0 counts as 1. */
void *lks_alloc(size_t size);
void *lks_alloc_zero(size_t count, size_t size);
void *lks_realloc(void *memory, size_t size);
char *lks_text_dup(const char *text);
void *lks_memory_dup(const void *data, size_t size);

/* `alignment` is a power of two; released with lks_free() as all others. Of
 * 2 MiB and more, the whole ones lie in huge pages where the system has them:
 * a fresh page costs more than copying what goes into it. */
void *lks_alloc_aligned(size_t alignment, size_t size);

void lks_free(void *memory);

/* For tests: from now on, allocation number `n` (from 1) fails, once; 0 stops
 * that. Counts from this call. Process-wide. */
void lks_alloc_fail_at(uint64_t n);

/* For tests: allocations asked for since lks_alloc_fail_at(). */
uint64_t lks_alloc_count(void);

/* For tests: allocations not released yet. */
int64_t lks_alloc_live(void);

#endif
