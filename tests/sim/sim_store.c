/*
 * The client's side of a simulated bucket: the operations of store/store.h, as
 * a careful client makes them of requests that may never be answered.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_request.h"

#define READ_TRIES 4u
#define READ_PAUSE_MS 200u
#define CANCEL_FIRST_NS (10 * LKS_NS_PER_MS)
#define CANCEL_MAX_NS (500 * LKS_NS_PER_MS)

struct sim_store {
    struct lks_store store;
    struct sim_bucket *bucket;
    struct sim_process *process;
};

static struct sim_store *store_of(struct lks_store *store)
{
    return (struct sim_store *)(void *)store;
}

struct sim_request *sim_request_new(enum sim_request_kind kind, const char *key)
{
    struct sim_request *request = calloc(1, sizeof(*request));

    if (request == NULL)
        abort();
    request->kind = kind;
    request->reference_count = 1;
    request->date_ms = INT64_MIN;
    snprintf(request->key, sizeof(request->key), "%s", key);
    return request;
}

struct sim_request *sim_request_acquire(struct sim_request *request)
{
    request->reference_count++;
    return request;
}

void sim_request_release(struct sim_request *request)
{
    if (--request->reference_count > 0)
        return;
    for (size_t i = 0; i < request->key_count; i++)
        free(request->keys[i]);
    free(request->keys);
    free(request->data);
    free(request->listed);
    sim_object_release(request->object);
    free(request);
}

/* Until the reply, the time, or a cancel, which nobody announces. */
static void wait_reply(struct sim_world *world,
                       struct sim_request *request,
                       const struct lks_call *call,
                       uint64_t deadline_ns)
{
    uint64_t nap_ns = CANCEL_FIRST_NS;

    request->waiter = world->current;
    while (!request->replied && world->now_ns < deadline_ns &&
           !lks_cancelled(call->cancel)) {
        uint64_t until_ns = deadline_ns;

        if (call->cancel != NULL && world->now_ns + nap_ns < until_ns)
            until_ns = world->now_ns + nap_ns;
        if (nap_ns < CANCEL_MAX_NS)
            nap_ns *= 2;
        sim_fiber_block(world, "store", until_ns, false);
    }
    request->waiter = NULL;
}

/* Sends it and waits. False if there was no reply. */
static bool ask(struct lks_store *store,
                struct sim_request *request,
                struct lks_call *call)
{
    struct sim_bucket *bucket = store_of(store)->bucket;
    struct sim_process *process = store_of(store)->process;
    struct sim_world *world = bucket->world;

    sim_seam(process);
    call->request_count++;
    process->request_count++;
    sim_request_send(bucket, request);
    wait_reply(world, request, call,
               world->now_ns + bucket->faults.timeout_ms * LKS_NS_PER_MS);
    sim_seam(process);
    if (request->replied) {
        call->date_ms = request->date_ms;
        call->throttled |= request->throttled;
    }
    return request->replied;
}

/* Reads are sent again, with a copy of the request, for a while. */
static enum lks_status ask_again(struct lks_store *store,
                                 struct sim_request **request,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    for (uint32_t i = 0; i < READ_TRIES; i++) {
        struct sim_request *next;

        if (ask(store, *request, call) && (*request)->status != LKS_UNAVAILABLE)
            return (*request)->status;
        if (lks_cancelled(call->cancel))
            return lks_error_set(error, LKS_CANCELLED, "cancelled");
        next = sim_request_new((*request)->kind, (*request)->key);
        memcpy(next->after, (*request)->after, sizeof(next->after));
        next->max = (*request)->max;
        next->max_size = (*request)->max_size;
        if (next->max > 0)
            next->listed = calloc(next->max, sizeof(*next->listed));
        sim_request_release(*request);
        *request = next;
        lks_env_sleep_ns(store->env, READ_PAUSE_MS * LKS_NS_PER_MS);
    }
    return lks_error_set(error, LKS_UNAVAILABLE, "no answer after %u tries",
                         READ_TRIES);
}

static void note_object(struct lks_call *call, const struct sim_object *object)
{
    call->object_size = object->size;
    call->modified_ms = object->modified_ms;
    snprintf(call->etag, sizeof(call->etag), "%" PRIu64, object->number);
}

static enum lks_status store_get(struct lks_store *store,
                                 const char *key,
                                 uint64_t offset,
                                 void *data,
                                 size_t size,
                                 size_t *out_size,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct sim_request *request = sim_request_new(SIM_GET, key);
    enum lks_status status;

    request->max_size = size;
    status = ask_again(store, &request, call, error);
    if (status == LKS_OK) {
        const struct sim_object *object = request->object;
        size_t rest = offset < object->size ? object->size - (size_t)offset : 0;

        *out_size = size < rest ? size : rest;
        if (*out_size > 0)
            memcpy(data, object->data + offset, *out_size);
        note_object(call, object);
    } else if (status == LKS_NOT_FOUND) {
        lks_error_set(error, LKS_NOT_FOUND, "there is no such object");
    }
    sim_request_release(request);
    return status;
}

static enum lks_status store_stat(struct lks_store *store,
                                  const char *key,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct sim_request *request = sim_request_new(SIM_STAT, key);
    enum lks_status status = ask_again(store, &request, call, error);

    if (status == LKS_OK)
        note_object(call, request->object);
    else if (status == LKS_NOT_FOUND)
        lks_error_set(error, LKS_NOT_FOUND, "there is no such object");
    sim_request_release(request);
    return status;
}

static enum lks_status store_put(struct lks_store *store,
                                 const char *key,
                                 const struct lks_part *parts,
                                 size_t part_count,
                                 bool only_if_absent,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    struct sim_request *request = sim_request_new(SIM_PUT, key);
    enum lks_status status = LKS_UNSURE;
    size_t size = 0;

    for (size_t i = 0; i < part_count; i++)
        size += parts[i].size;
    request->data = malloc(size > 0 ? size : 1);
    if (request->data == NULL)
        abort();
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].size > 0)
            memcpy(request->data + request->size, parts[i].data, parts[i].size);
        request->size += parts[i].size;
    }
    request->only_if_absent = only_if_absent;
    if (ask(store, request, call))
        status = request->status;
    sim_request_release(request);
    sim_trace(store_of(store)->bucket->world, "put %s: %s", key,
              status == LKS_UNSURE ? "unsure" : lks_status_name(status));
    if (status != LKS_OK)
        lks_error_set(error, status, "%s",
                      status == LKS_EXISTS ? "it exists" : "no clear answer");
    return status;
}

static enum lks_status store_list(struct lks_store *store,
                                  const char *prefix,
                                  const char *after,
                                  size_t max,
                                  struct lks_listed *listed,
                                  size_t *out_count,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    struct sim_request *request = sim_request_new(SIM_LIST, prefix);
    enum lks_status status;

    snprintf(request->after, sizeof(request->after), "%s", after);
    request->max = max;
    request->listed = calloc(max, sizeof(*listed));
    status = ask_again(store, &request, call, error);
    if (status == LKS_OK) {
        memcpy(listed, request->listed,
               request->listed_count * sizeof(*listed));
        *out_count = request->listed_count;
    }
    sim_request_release(request);
    return status;
}

static enum lks_status store_remove(struct lks_store *store,
                                    const char *const *keys,
                                    size_t key_count,
                                    struct lks_call *call,
                                    struct lks_error *error)
{
    struct sim_request *request = sim_request_new(SIM_REMOVE, "");
    enum lks_status status;

    request->keys = calloc(key_count, sizeof(char *));
    if (request->keys == NULL)
        abort();
    for (size_t i = 0; i < key_count; i++)
        request->keys[i] = strdup(keys[i]);
    request->key_count = key_count;
    status = ask(store, request, call) ? request->status : LKS_UNAVAILABLE;
    sim_request_release(request);
    if (status != LKS_OK)
        lks_error_set(error, status, "no answer");
    return status;
}

static void store_close(struct lks_store *store)
{
    free(store_of(store));
}

static const struct lks_store_ops sim_store_ops = {
    .get = store_get,
    .put = store_put,
    .list = store_list,
    .remove = store_remove,
    .stat = store_stat,
    .close = store_close,
};

struct lks_store *sim_bucket_store(struct sim_bucket *bucket,
                                   struct sim_process *process)
{
    struct sim_store *store = calloc(1, sizeof(*store));

    if (store == NULL)
        abort();
    lks_store_init(&store->store, &sim_store_ops, &process->env,
                   "sim://bucket");
    store->bucket = bucket;
    store->process = process;
    return &store->store;
}
