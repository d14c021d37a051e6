/*
 * A skip list of objects by key. A node's height follows from its key, so that
 * a simulation is the same every time it is run.
 */
#include "store/mem_keys.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"

void lks_mem_keys_init(struct lks_mem_keys *keys)
{
    memset(keys, 0, sizeof(*keys));
}

void lks_mem_keys_done(struct lks_mem_keys *keys)
{
    struct lks_mem_node *node = keys->first[0];

    while (node != NULL) {
        struct lks_mem_node *next = node->next[0];

        lks_mem_node_free(node);
        node = next;
    }
    lks_mem_keys_init(keys);
}

const char *lks_mem_node_key(const struct lks_mem_node *node)
{
    return (const char *)&node->next[node->level_count];
}

/* One key in four is a level higher. */
static uint32_t level_count_of(const char *key, size_t size)
{
    uint32_t bits = lks_crc32c(key, size);
    uint32_t count = 1;

    while (count < LKS_MEM_LEVELS && (bits & 3) == 0) {
        bits >>= 2;
        count++;
    }
    return count;
}

/* On each level, the link that leads to the first key not below `key`. */
static void find_links(const struct lks_mem_keys *keys,
                       const char *key,
                       struct lks_mem_node **links[LKS_MEM_LEVELS])
{
    struct lks_mem_node **level = (struct lks_mem_node **)keys->first;

    for (uint32_t i = LKS_MEM_LEVELS; i-- > 0;) {
        while (level[i] != NULL && strcmp(lks_mem_node_key(level[i]), key) < 0)
            level = level[i]->next;
        links[i] = &level[i];
    }
}

struct lks_mem_node *lks_mem_keys_seek(const struct lks_mem_keys *keys,
                                       const char *key)
{
    struct lks_mem_node **links[LKS_MEM_LEVELS];

    find_links(keys, key, links);
    return *links[0];
}

struct lks_mem_node *lks_mem_keys_find(const struct lks_mem_keys *keys,
                                       const char *key)
{
    struct lks_mem_node *node = lks_mem_keys_seek(keys, key);

    if (node == NULL || strcmp(lks_mem_node_key(node), key) != 0)
        return NULL;
    return node;
}

struct lks_mem_node *lks_mem_node_new(const char *key,
                                      struct lks_mem_object *object)
{
    size_t key_size = strlen(key);
    uint32_t level_count = level_count_of(key, key_size);
    size_t links_size = level_count * sizeof(struct lks_mem_node *);
    struct lks_mem_node *node =
        lks_alloc(sizeof(*node) + links_size + key_size + 1);

    if (node == NULL)
        return NULL;
    node->object = object;
    node->level_count = level_count;
    memcpy(&node->next[level_count], key, key_size + 1);
    return node;
}

void lks_mem_node_free(struct lks_mem_node *node)
{
    if (node == NULL)
        return;
    lks_mem_object_release(node->object);
    lks_free(node);
}

void lks_mem_keys_insert(struct lks_mem_keys *keys, struct lks_mem_node *node)
{
    const char *key = lks_mem_node_key(node);
    struct lks_mem_node **links[LKS_MEM_LEVELS];

    find_links(keys, key, links);
    assert(*links[0] == NULL || strcmp(lks_mem_node_key(*links[0]), key) != 0);
    for (uint32_t i = 0; i < node->level_count; i++) {
        node->next[i] = *links[i];
        *links[i] = node;
    }
}

struct lks_mem_node *lks_mem_keys_take(struct lks_mem_keys *keys,
                                       const char *key)
{
    struct lks_mem_node **links[LKS_MEM_LEVELS];
    struct lks_mem_node *node;

    find_links(keys, key, links);
    node = *links[0];
    if (node == NULL || strcmp(lks_mem_node_key(node), key) != 0)
        return NULL;
    for (uint32_t i = 0; i < node->level_count; i++)
        *links[i] = node->next[i];
    return node;
}

void lks_mem_object_release(struct lks_mem_object *object)
{
    if (object == NULL)
        return;
    if (atomic_fetch_sub(&object->holders, 1) == 1)
        lks_free(object);
}
