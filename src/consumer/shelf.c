/*
 * The shelf: a short row of blocks, the last one laid back first in use again.
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
                              struct lks_shelf **out_shelf,
                              struct lks_error *error)
{
    struct lks_shelf *shelf = lks_alloc_zero(1, sizeof(*shelf));
    enum lks_status status;

    if (shelf == NULL)
        return lks_error_no_memory(error);
    shelf->env = env;
    shelf->size_max = size_max;
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
        lks_free(shelf->locked.blocks[i].data);
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

/* The newest block that fits; none if there is none. */
static struct lks_block find_locked(struct lks_shelf *shelf, size_t size)
{
    struct lks_block none = {NULL, 0};

    for (size_t i = shelf->locked.count; i-- > 0;) {
        size_t found = shelf->locked.blocks[i].size;

        if (found >= size && found - size <= size / WASTE_PART)
            return remove_locked(shelf, i);
    }
    return none;
}

/* Frees the oldest blocks until all together keep to the bound. */
static void trim_locked(struct lks_shelf *shelf)
{
    while (shelf->locked.count > 0 &&
           (shelf->locked.count > LKS_SHELF_BLOCKS_MAX ||
            shelf->locked.size + shelf->locked.used > shelf->size_max))
        lks_free(remove_locked(shelf, 0).data);
}

static bool is_for_shelf(const struct lks_shelf *shelf, size_t size)
{
    return shelf != NULL && size >= LKS_SHELF_BLOCK_MIN;
}

enum lks_status lks_shelf_take(struct lks_shelf *shelf,
                               size_t size,
                               struct lks_block *out_block,
                               struct lks_error *error)
{
    struct lks_block block = {NULL, 0};

    if (is_for_shelf(shelf, size)) {
        lks_monitor_enter(shelf->env, shelf->monitor);
        block = find_locked(shelf, size);
        shelf->locked.used += block.data != NULL ? block.size : size;
        trim_locked(shelf);
        lks_monitor_leave(shelf->env, shelf->monitor);
    }
    if (block.data == NULL) {
        block.data = lks_alloc_aligned(LKS_FRAME_ALIGN, size);
        block.size = size;
    }
    *out_block = block;
    if (block.data == NULL) {
        lks_shelf_give(shelf, out_block);
        return lks_error_no_memory(error);
    }
    return LKS_OK;
}

void lks_shelf_give(struct lks_shelf *shelf, struct lks_block *block)
{
    if (!is_for_shelf(shelf, block->size)) {
        lks_free(block->data);
    } else {
        lks_monitor_enter(shelf->env, shelf->monitor);
        shelf->locked.used -= block->size;
        if (block->data != NULL) {
            shelf->locked.blocks[shelf->locked.count++] = *block;
            shelf->locked.size += block->size;
        }
        trim_locked(shelf);
        lks_monitor_leave(shelf->env, shelf->monitor);
    }
    block->data = NULL;
    block->size = 0;
}
