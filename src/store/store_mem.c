/*
 * The store in memory: for tests and simulation, and as the plainest reading of
 * the contract in store.h.
 *
 * It lives as long as somebody has it open. All who open one name share it,
 * through the registry below: the one global of this room, since a name has to
 * mean the same to all of a process. Its mutex is held for a few instructions
 * and never together with a monitor, so that a simulator does not notice it.
 */
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/mem_keys.h"

#define NAME_SIZE_MAX 255u

/* What all handles of one name share. */
struct mem_body {
    char name[NAME_SIZE_MAX + 1];
    int64_t pid; /* a child after fork() starts with stores of its own */
    const struct lks_env *env;
    struct lks_monitor *monitor;
    struct {
        struct lks_mem_keys keys;
        uint64_t write_count;
    } locked;

    /* The registry's, under its mutex. */
    struct mem_body *next;
    size_t handle_count;
};

struct mem_store {
    struct lks_store store;
    struct mem_body *body;
};

static struct {
    pthread_mutex_t mutex;
    struct mem_body *first;
} registry = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct mem_body *body_of(struct lks_store *store)
{
    return ((struct mem_store *)store)->body;
}

static void enter(struct mem_body *body)
{
    lks_monitor_enter(body->env, body->monitor);
}

static void leave(struct mem_body *body)
{
    lks_monitor_leave(body->env, body->monitor);
}

static void reply(struct mem_body *body, struct lks_call *call)
{
    call->date_ms = lks_env_wall_ms(body->env);
    call->request_count = 1;
}

/* The object, held for the caller, or NULL. */
static struct lks_mem_object *hold(struct mem_body *body, const char *key)
{
    struct lks_mem_object *object = NULL;
    struct lks_mem_node *node;

    enter(body);
    node = lks_mem_keys_find(&body->locked.keys, key);
    if (node != NULL) {
        object = node->object;
        atomic_fetch_add(&object->holders, 1);
    }
    leave(body);
    return object;
}

static enum lks_status look(struct mem_body *body,
                            const char *key,
                            struct lks_mem_object **out_object,
                            struct lks_call *call,
                            struct lks_error *error)
{
    struct lks_mem_object *object = hold(body, key);

    reply(body, call);
    if (object == NULL)
        return lks_error_set(error, LKS_NOT_FOUND, "no such object");
    call->object_size = object->size;
    call->modified_ms = object->modified_ms;
    snprintf(call->etag, sizeof(call->etag), "%016" PRIx64, object->serial);
    *out_object = object;
    return LKS_OK;
}

static enum lks_status mem_stat(struct lks_store *store,
                                const char *key,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct lks_mem_object *object;
    enum lks_status status = look(body_of(store), key, &object, call, error);

    if (status == LKS_OK)
        lks_mem_object_release(object);
    return status;
}

static enum lks_status mem_get(struct lks_store *store,
                               const char *key,
                               uint64_t offset,
                               void *data,
                               size_t size,
                               size_t *out_size,
                               struct lks_call *call,
                               struct lks_error *error)
{
    struct lks_mem_object *object;
    enum lks_status status = look(body_of(store), key, &object, call, error);

    if (status != LKS_OK)
        return status;
    if (offset >= object->size)
        size = 0;
    else if (size > object->size - offset)
        size = (size_t)(object->size - offset);
    if (size > 0)
        memcpy(data, object->data + offset, size);
    lks_mem_object_release(object);
    *out_size = size;
    return LKS_OK;
}

static struct lks_mem_object *object_new(const struct lks_part *parts,
                                         size_t part_count)
{
    struct lks_mem_object *object;
    size_t size = 0;

    for (size_t i = 0; i < part_count; i++)
        size += parts[i].size;
    if (size > SIZE_MAX - sizeof(*object))
        return NULL;
    object = lks_alloc(sizeof(*object) + size);
    if (object == NULL)
        return NULL;

    atomic_init(&object->holders, 1);
    object->size = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].size > 0)
            memcpy(object->data + object->size, parts[i].data, parts[i].size);
        object->size += parts[i].size;
    }
    return object;
}

/*
 * Puts the node in, or its object into the node that is there. Returns what is
 * left over, to be freed. The object is dated here, at the moment it appears:
 * one that is dated before looks older than it is.
 */
static struct lks_mem_node *insert(struct mem_body *body,
                                   struct lks_mem_node *node,
                                   bool only_if_absent,
                                   bool *out_inserted)
{
    struct lks_mem_keys *keys = &body->locked.keys;
    struct lks_mem_object *object = node->object;
    struct lks_mem_node *present;

    enter(body);
    present = lks_mem_keys_find(keys, lks_mem_node_key(node));
    *out_inserted = present == NULL || !only_if_absent;
    if (*out_inserted) {
        object->serial = ++body->locked.write_count;
        object->modified_ms = lks_env_wall_ms(body->env);
    }
    if (present == NULL) {
        lks_mem_keys_insert(keys, node);
        node = NULL;
    } else if (!only_if_absent) {
        node->object = present->object;
        present->object = object;
    }
    leave(body);
    return node;
}

static enum lks_status mem_put(struct lks_store *store,
                               const char *key,
                               const struct lks_part *parts,
                               size_t part_count,
                               bool only_if_absent,
                               struct lks_call *call,
                               struct lks_error *error)
{
    struct mem_body *body = body_of(store);
    struct lks_mem_object *object = object_new(parts, part_count);
    struct lks_mem_node *node;
    bool inserted;

    if (object == NULL)
        return lks_error_no_memory(error);
    node = lks_mem_node_new(key, object);
    if (node == NULL) {
        lks_mem_object_release(object);
        return lks_error_no_memory(error);
    }

    node = insert(body, node, only_if_absent, &inserted);
    lks_mem_node_free(node);
    reply(body, call);
    if (!inserted)
        return lks_error_set(error, LKS_EXISTS, "the object exists");
    return LKS_OK;
}

static enum lks_status mem_list(struct lks_store *store,
                                const char *prefix,
                                const char *after,
                                size_t max,
                                struct lks_listed *listed,
                                size_t *out_count,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct mem_body *body = body_of(store);
    size_t prefix_size = strlen(prefix);
    struct lks_mem_node *node;
    size_t count = 0;

    (void)error;
    enter(body);
    node = lks_mem_keys_seek(&body->locked.keys,
                             strcmp(after, prefix) > 0 ? after : prefix);
    if (node != NULL && after[0] != '\0' &&
        strcmp(lks_mem_node_key(node), after) == 0)
        node = node->next[0];
    for (; node != NULL && count < max; node = node->next[0]) {
        const char *key = lks_mem_node_key(node);

        if (strncmp(key, prefix, prefix_size) != 0)
            break;
        snprintf(listed[count].key, sizeof(listed[count].key), "%s", key);
        listed[count].size = node->object->size;
        listed[count].modified_ms = node->object->modified_ms;
        count++;
    }
    leave(body);
    reply(body, call);
    *out_count = count;
    return LKS_OK;
}

static enum lks_status mem_remove(struct lks_store *store,
                                  const char *const *keys,
                                  size_t key_count,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct mem_body *body = body_of(store);

    (void)error;
    for (size_t i = 0; i < key_count; i++) {
        struct lks_mem_node *node;

        enter(body);
        node = lks_mem_keys_take(&body->locked.keys, keys[i]);
        leave(body);
        lks_mem_node_free(node);
    }
    reply(body, call);
    return LKS_OK;
}

static void body_free(struct mem_body *body)
{
    if (body == NULL)
        return;
    lks_mem_keys_done(&body->locked.keys);
    lks_monitor_free(body->env, body->monitor);
    lks_free(body);
}

/* The body of that name that is there, or `fresh`; the other is NULL'd. */
static struct mem_body *registry_join(struct mem_body **fresh)
{
    struct mem_body *body;

    pthread_mutex_lock(&registry.mutex);
    for (body = registry.first; body != NULL; body = body->next) {
        if (strcmp(body->name, (*fresh)->name) == 0 &&
            body->pid == (*fresh)->pid)
            break;
    }
    if (body == NULL) {
        body = *fresh;
        *fresh = NULL;
        body->next = registry.first;
        registry.first = body;
    }
    body->handle_count++;
    pthread_mutex_unlock(&registry.mutex);
    return body;
}

/* Whether this was the last handle; the body is then the caller's. */
static bool registry_part(struct mem_body *body)
{
    struct mem_body **link = &registry.first;
    bool last;

    pthread_mutex_lock(&registry.mutex);
    last = --body->handle_count == 0;
    while (last && *link != body)
        link = &(*link)->next;
    if (last)
        *link = body->next;
    pthread_mutex_unlock(&registry.mutex);
    return last;
}

static void mem_close(struct lks_store *store)
{
    struct mem_body *body = body_of(store);

    if (registry_part(body))
        body_free(body);
    lks_free(store);
}

static bool mem_works_here(struct lks_store *store)
{
    (void)store;
    return true;
}

static const struct lks_store_ops mem_ops = {
    .get = mem_get,
    .put = mem_put,
    .list = mem_list,
    .remove = mem_remove,
    .stat = mem_stat,
    .close = mem_close,
    .works_here = mem_works_here,
};

enum lks_status lks_store_mem_open(const char *name,
                                   const struct lks_env *env,
                                   struct lks_store **out_store,
                                   struct lks_error *error)
{
    struct mem_body *fresh = NULL;
    struct mem_store *mem = NULL;
    enum lks_status status;

    assert(strlen(name) <= NAME_SIZE_MAX);

    /* Made before it is known whether it is needed: the registry's mutex must
     * not be held across the environment's calls. */
    mem = lks_alloc_zero(1, sizeof(*mem));
    fresh = lks_alloc_zero(1, sizeof(*fresh));
    if (mem == NULL || fresh == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    fresh->env = env;
    fresh->pid = lks_env_pid(env);
    snprintf(fresh->name, sizeof(fresh->name), "%s", name);
    lks_mem_keys_init(&fresh->locked.keys);
    status = lks_monitor_new(env, &fresh->monitor, error);
    if (status != LKS_OK)
        goto done;

    lks_store_init(&mem->store, &mem_ops, env, "mem://%s", name);
    mem->body = registry_join(&fresh);
    *out_store = &mem->store;
    mem = NULL;

done:
    body_free(fresh);
    lks_free(mem);
    return status;
}
