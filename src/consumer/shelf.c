/*
 * The shelf: a short row of blocks, the last one laid back first in use again.
 *
 * A source's functions are the user's, and may wait for whoever uses the shelf
 * just now. So they are not called under its monitor.
 */
#include "consumer/shelf.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "format/tgb.h"

/* A block may be larger than asked for by this part of it, which no budget
 * knows of. */
#define WASTE_PART 16u

struct lks_shelf {
    const struct lks_env *env;
    struct lks_monitor *monitor;
    uint64_t size_max;
    struct lks_block_source source;

    struct {
        size_t holders;
        uint64_t used; /* bytes of blocks that are in use */
        struct lks_block blocks[LKS_SHELF_BLOCKS_MAX + 1]; /* oldest first */
        size_t count;
        uint64_t size; /* of all blocks that lie there */
    } locked;          /* by monitor */
};

enum lks_status lks_shelf_new(const struct lks_env *env,
                              uint64_t size_max,
                              const struct lks_block_source *source,
                              struct lks_shelf **out_shelf,
                              struct lks_error *error)
{
    struct lks_shelf *shelf = lks_alloc_zero(1, sizeof(*shelf));
    enum lks_status status;

    if (shelf == NULL)
        return lks_error_no_memory(error);
    shelf->env = env;
    shelf->size_max = size_max;
    shelf->source = *source;
    shelf->locked.holders = 1;
    status = lks_monitor_new(env, &shelf->monitor, error);
    if (status != LKS_OK) {
        lks_free(shelf);
        return status;
    }
    *out_shelf = shelf;
    return LKS_OK;
}

struct lks_shelf *lks_shelf_acquire(struct lks_shelf *shelf)
{
    lks_monitor_enter(shelf->env, shelf->monitor);
    shelf->locked.holders++;
    lks_monitor_leave(shelf->env, shelf->monitor);
    return shelf;
}

/* ------------------------------------------------------- single blocks -- */

static bool has_source(const struct lks_shelf *shelf)
{
    return shelf != NULL && shelf->source.allocate != NULL;
}

static bool is_for_shelf(const struct lks_shelf *shelf, size_t size)
{
    return has_source(shelf) || (shelf != NULL && size >= LKS_SHELF_BLOCK_MIN);
}

static void free_block(const struct lks_shelf *shelf,
                       const struct lks_block *block)
{
    if (!has_source(shelf))
        lks_free(block->data);
    else if (block->data != NULL)
        shelf->source.deallocate(block->data, block->size, shelf->source.arg);
}

static enum lks_status new_block(const struct lks_shelf *shelf,
                                 size_t size,
                                 struct lks_block *block,
                                 struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    block->size = size;
    if (!has_source(shelf)) {
        block->data = lks_alloc_aligned(LKS_FRAME_ALIGN, size);
        return block->data != NULL ? LKS_OK : lks_error_no_memory(error);
    }
    block->data =
        shelf->source.allocate(size, LKS_FRAME_ALIGN, shelf->source.arg);
    if (block->data == NULL)
        return lks_error_set(error, LKS_NO_MEMORY,
                             "the consumer's allocator has no %zu bytes", size);
    if ((uintptr_t)block->data % LKS_FRAME_ALIGN != 0) {
        status = lks_error_set(error, LKS_INVALID,
                               "the consumer's allocator gave memory that does "
                               "not begin at a multiple of %u",
                               LKS_FRAME_ALIGN);
        free_block(shelf, block);
        block->data = NULL;
    }
    return status;
}

/* ----------------------------------------------------------- the shelf -- */

void lks_shelf_release(struct lks_shelf *shelf)
{
    bool last;

    if (shelf == NULL)
        return;
    lks_monitor_enter(shelf->env, shelf->monitor);
    assert(shelf->locked.holders > 0);
    last = --shelf->locked.holders == 0;
    lks_monitor_leave(shelf->env, shelf->monitor);
    if (!last)
        return;
    for (size_t i = 0; i < shelf->locked.count; i++)
        free_block(shelf, &shelf->locked.blocks[i]);
    if (shelf->source.release != NULL)
        shelf->source.release(shelf->source.arg);
    lks_monitor_free(shelf->env, shelf->monitor);
    lks_free(shelf);
}

static struct lks_block remove_locked(struct lks_shelf *shelf, size_t place)
{
    struct lks_block block = shelf->locked.blocks[place];

    shelf->locked.count--;
    shelf->locked.size -= block.size;
    memmove(&shelf->locked.blocks[place], &shelf->locked.blocks[place + 1],
            (shelf->locked.count - place) * sizeof(block));
    return block;
}

static bool fits(const struct lks_block *block, size_t size)
{
    return block->size >= size && block->size - size <= size / WASTE_PART;
}

/* The newest block that fits, of this processor's if there is one: where two
 * of them share no cache, writing over what the other wrote takes three times
 * as long. None if there is none. */
static struct lks_block find_locked(struct lks_shelf *shelf,
                                    size_t size,
                                    uint32_t processor)
{
    size_t found = shelf->locked.count;

    for (size_t i = shelf->locked.count; i-- > 0;) {
        const struct lks_block *block = &shelf->locked.blocks[i];

        if (!fits(block, size))
            continue;
        if (block->processor == processor)
            return remove_locked(shelf, i);
        if (found == shelf->locked.count)
            found = i;
    }
    if (found < shelf->locked.count)
        return remove_locked(shelf, found);
    return (struct lks_block){0};
}

/* The oldest block, if all together are more than the bound; or none. */
static struct lks_block excess_locked(struct lks_shelf *shelf)
{
    struct lks_block none = {0};

    if (shelf->locked.count > 0 &&
        (shelf->locked.count > LKS_SHELF_BLOCKS_MAX ||
         shelf->locked.size + shelf->locked.used > shelf->size_max))
        return remove_locked(shelf, 0);
    return none;
}

static void trim_and_leave(struct lks_shelf *shelf)
{
    struct lks_block block = excess_locked(shelf);

    while (block.data != NULL) {
        lks_monitor_leave(shelf->env, shelf->monitor);
        free_block(shelf, &block);
        lks_monitor_enter(shelf->env, shelf->monitor);
        block = excess_locked(shelf);
    }
    lks_monitor_leave(shelf->env, shelf->monitor);
}

enum lks_status lks_shelf_take(struct lks_shelf *shelf,
                               size_t size,
                               struct lks_block *out_block,
                               struct lks_error *error)
{
    struct lks_block block = {0};
    enum lks_status status = LKS_OK;

    if (is_for_shelf(shelf, size)) {
        uint32_t processor = lks_env_this_processor(shelf->env);

        lks_monitor_enter(shelf->env, shelf->monitor);
        block = find_locked(shelf, size, processor);
        block.processor = processor;
        shelf->locked.used += block.data != NULL ? block.size : size;
        trim_and_leave(shelf);
    }
    if (block.data == NULL)
        status = new_block(shelf, size, &block, error);
    *out_block = block;
    if (status != LKS_OK)
        lks_shelf_give(shelf, out_block);
    return status;
}

void lks_shelf_give(struct lks_shelf *shelf, struct lks_block *block)
{
    if (block->size > 0 && is_for_shelf(shelf, block->size)) {
        lks_monitor_enter(shelf->env, shelf->monitor);
        shelf->locked.used -= block->size;
        if (block->data != NULL) {
            shelf->locked.blocks[shelf->locked.count++] = *block;
            shelf->locked.size += block->size;
        }
        trim_and_leave(shelf);
    } else {
        lks_free(block->data);
    }
    block->data = NULL;
    block->size = 0;
}
