/*
 * An ordered set of named objects in memory: a skip list by key. Whoever holds
 * it sees to it that one thread at a time uses it.
 */
#ifndef LKS_STORE_MEM_KEYS_H
#define LKS_STORE_MEM_KEYS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LKS_MEM_LEVELS 16u /* 4 keys per level below: enough for 4^16 keys */

/* An immutable object; the set and each reader hold it. */
struct lks_mem_object {
    atomic_uint holders;
    uint64_t serial; /* no two writes of a store have the same */
    int64_t modified_ms;
    size_t size;
    uint8_t data[];
};

/* The key's text follows the links. */
struct lks_mem_node {
    struct lks_mem_object *object;
    uint32_t level_count;
    struct lks_mem_node *next[];
};

struct lks_mem_keys {
    struct lks_mem_node *first[LKS_MEM_LEVELS];
};

void lks_mem_keys_init(struct lks_mem_keys *keys);
void lks_mem_keys_done(struct lks_mem_keys *keys);

const char *lks_mem_node_key(const struct lks_mem_node *node);

/* The first key that is not below `key`, or NULL. */
struct lks_mem_node *lks_mem_keys_seek(const struct lks_mem_keys *keys,
                                       const char *key);
struct lks_mem_node *lks_mem_keys_find(const struct lks_mem_keys *keys,
                                       const char *key);

/* A node for lks_mem_keys_insert(), which cannot fail then. NULL when memory
 * is out. */
struct lks_mem_node *lks_mem_node_new(const char *key,
                                      struct lks_mem_object *object);
void lks_mem_node_free(struct lks_mem_node *node);

/* The key must not be there yet. */
void lks_mem_keys_insert(struct lks_mem_keys *keys, struct lks_mem_node *node);

/* The node of that key, taken out and now the caller's; NULL if none. */
struct lks_mem_node *lks_mem_keys_take(struct lks_mem_keys *keys,
                                       const char *key);

void lks_mem_object_release(struct lks_mem_object *object);

#endif
