/*
 * The bucket's side: what happens to a request on its way, at the store, and on
 * the way back. All of it is decided when the request is sent, and happens by
 * events, whatever becomes of the sender.
 */
#include "sim/sim_bucket.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_request.h"

#define BYTES_PER_MS 50000.0

void sim_bucket_init(struct sim_bucket *bucket,
                     struct sim_world *world,
                     const struct sim_faults *faults)
{
    *bucket = (struct sim_bucket){.world = world, .faults = *faults};
    for (uint32_t i = 0; i < SIM_FRONT_COUNT; i++)
        bucket->front_skew_ms[i] =
            (int64_t)sim_random_between(&world->random, 0,
                                        2 * (uint64_t)faults->skew_ms) -
            faults->skew_ms;
}

void sim_bucket_plant(struct sim_bucket *bucket,
                      const char *key,
                      uint8_t *data,
                      size_t size)
{
    sim_objects_put(&bucket->objects, key, data, size, SIM_EPOCH_MS);
}

/* What one of the machines believes the time to be. */
static int64_t date_ms(struct sim_bucket *bucket)
{
    struct sim_world *world = bucket->world;
    uint64_t front = sim_random_below(&world->random, SIM_FRONT_COUNT);
    int64_t date = SIM_EPOCH_MS + bucket->front_skew_ms[front] +
                   (int64_t)(world->now_ns / LKS_NS_PER_MS);

    return bucket->faults.second_dates ? date - date % 1000 : date;
}

/* ---------------------------------------------------------- in the store -- */

static void list_keys(struct sim_bucket *bucket, struct sim_request *request)
{
    const struct sim_objects *objects = &bucket->objects;
    size_t prefix_size = strlen(request->key);
    size_t place = sim_objects_place(objects, request->key);
    size_t after = sim_objects_place(objects, request->after);

    if (request->after[0] != '\0' && after >= place)
        place = after;
    while (place < objects->count && request->listed_count < request->max) {
        const struct sim_object *object = objects->sorted[place++];
        struct lks_listed *listed = &request->listed[request->listed_count];

        if (strncmp(object->key, request->key, prefix_size) != 0)
            break;
        if (strcmp(object->key, request->after) <= 0)
            continue;
        memcpy(listed->key, object->key, strlen(object->key) + 1);
        listed->size = object->size;
        listed->modified_ms = object->modified_ms;
        request->listed_count++;
    }
    request->status = LKS_OK;
}

/* `slow_ms`: how long its bytes were coming. */
static void write_object(struct sim_bucket *bucket,
                         struct sim_request *request,
                         int64_t slow_ms)
{
    const struct sim_object *old =
        sim_objects_find(&bucket->objects, request->key);
    const struct sim_object *object;
    int64_t modified_ms = date_ms(bucket);
    uint8_t *data;

    if (old != NULL && request->only_if_absent) {
        request->status = LKS_EXISTS;
        return;
    }
    if (bucket->faults.key_limit && old != NULL &&
        modified_ms - old->modified_ms < 1000) {
        request->throttled = true;
        request->status = LKS_UNSURE;
        return;
    }
    if (bucket->faults.start_dated)
        modified_ms -= slow_ms;
    data = malloc(request->size > 0 ? request->size : 1);
    if (data == NULL)
        abort();
    memcpy(data, request->data, request->size);
    object = sim_objects_put(&bucket->objects, request->key, data,
                             request->size, modified_ms);
    bucket->put_count++;
    request->status = LKS_OK;
    sim_trace(bucket->world, "    landed: %s (%zu bytes)", request->key,
              request->size);
    if (bucket->landed != NULL)
        bucket->landed(bucket->landed_arg, object);
}

static void read_object(struct sim_bucket *bucket, struct sim_request *request)
{
    struct sim_object *object =
        sim_objects_find(&bucket->objects, request->key);

    request->status = object == NULL ? LKS_NOT_FOUND : LKS_OK;
    if (object != NULL)
        request->object = sim_object_acquire(object);
}

static void remove_objects(struct sim_bucket *bucket,
                           struct sim_request *request)
{
    for (size_t i = 0; i < request->key_count; i++) {
        const struct sim_object *object =
            sim_objects_find(&bucket->objects, request->keys[i]);

        if (object == NULL)
            continue;
        sim_trace(bucket->world, "    removed: %s", request->keys[i]);
        if (bucket->removed != NULL)
            bucket->removed(bucket->landed_arg, object);
        sim_objects_remove(&bucket->objects, request->keys[i]);
    }
    request->status = LKS_OK;
}

static void serve(struct sim_bucket *bucket, struct sim_request *request)
{
    switch (request->kind) {
    case SIM_GET:
    case SIM_STAT:
        read_object(bucket, request);
        break;
    case SIM_PUT:
        write_object(bucket, request, request->slow_put_ms);
        break;
    case SIM_LIST:
        list_keys(bucket, request);
        break;
    case SIM_REMOVE:
        remove_objects(bucket, request);
        break;
    }
}

/* --------------------------------------------------------------- on its way --
 */

static void reply(void *arg)
{
    struct sim_request *request = arg;

    request->replied = true;
    if (request->waiter != NULL)
        sim_fiber_wake(request->waiter);
    sim_request_release(request);
}

static void stamp(void *arg)
{
    struct sim_request *request = arg;
    struct sim_world *world = request->bucket->world;

    request->date_ms = date_ms(request->bucket);
    sim_world_at(world, world->now_ns + request->way.back_ns, reply, request);
}

static void arrive(void *arg)
{
    struct sim_request *request = arg;
    struct sim_bucket *bucket = request->bucket;
    struct sim_world *world = bucket->world;

    if (request->way.throttled) {
        request->status =
            request->kind == SIM_PUT ? LKS_UNSURE : LKS_UNAVAILABLE;
        request->throttled = true;
    } else {
        serve(bucket, request);
    }
    sim_world_note(world, (uint64_t)request->kind * 1000 + request->status);
    if (request->way.silent) {
        sim_request_release(request);
        return;
    }
    sim_world_at(world, world->now_ns + request->way.stamp_ns, stamp, request);
}

/* The same write once more, for nobody. */
static void arrive_again(void *arg)
{
    struct sim_request *request = arg;

    write_object(request->bucket, request, 0);
    sim_request_release(request);
}

static uint64_t one_way_ns(struct sim_bucket *bucket,
                           bool calm,
                           double median_ms,
                           size_t size)
{
    struct sim_random *random = &bucket->world->random;
    const struct sim_faults *faults = &bucket->faults;
    double time_ms =
        sim_random_lognormal(random, median_ms / 2, faults->sigma) +
        (double)size / BYTES_PER_MS;

    if (!calm && sim_random_chance(random, faults->stall_chance))
        time_ms += sim_random_exponential(random, faults->stall_mean_ms);
    return (uint64_t)(time_ms * (double)LKS_NS_PER_MS) + 1;
}

static uint64_t seconds(struct sim_world *world, double mean_s)
{
    return (uint64_t)(sim_random_exponential(&world->random, mean_s) *
                      (double)LKS_NS_PER_S);
}

static void plan_trouble(struct sim_bucket *bucket, struct sim_request *request)
{
    struct sim_world *world = bucket->world;
    struct sim_random *random = &world->random;
    const struct sim_faults *faults = &bucket->faults;
    struct sim_way *way = &request->way;
    bool is_write = request->kind == SIM_PUT;

    way->lost = sim_random_chance(random, faults->lost_chance);
    way->silent = sim_random_chance(random, faults->silent_chance);
    way->throttled = sim_random_chance(random, faults->throttle_chance);
    if (is_write && sim_random_chance(random, faults->late_chance))
        way->there_ns += seconds(world, faults->late_mean_s);
    if (is_write && sim_random_chance(random, faults->again_chance))
        way->again_ns = way->there_ns + seconds(world, faults->late_mean_s);
    if (sim_random_chance(random, faults->slow_stamp_chance))
        way->stamp_ns += seconds(world, faults->slow_stamp_mean_s);
    if (is_write && faults->start_dated &&
        sim_random_chance(random, faults->slow_put_chance)) {
        uint64_t slow_ns = seconds(world, faults->slow_put_mean_s);

        way->there_ns += slow_ns;
        request->slow_put_ms = (int64_t)(slow_ns / LKS_NS_PER_MS);
    }
}

void sim_request_send(struct sim_bucket *bucket, struct sim_request *request)
{
    struct sim_world *world = bucket->world;
    struct sim_way *way = &request->way;
    bool calm = world->now_ns >= bucket->faults.until_ns;
    bool is_write = request->kind == SIM_PUT || request->kind == SIM_REMOVE;
    double median_ms = is_write ? bucket->faults.put_ms : bucket->faults.get_ms;

    bucket->request_count++;
    request->bucket = bucket;
    *way = (struct sim_way){
        .there_ns = one_way_ns(bucket, calm, median_ms, request->size),
        .stamp_ns = 1,
        .back_ns = one_way_ns(bucket, calm, median_ms, request->max_size),
    };
    if (!calm)
        plan_trouble(bucket, request);
    if (way->again_ns > 0)
        sim_world_at(world, world->now_ns + way->again_ns, arrive_again,
                     sim_request_acquire(request));
    if (!way->lost)
        sim_world_at(world, world->now_ns + way->there_ns, arrive,
                     sim_request_acquire(request));
}
