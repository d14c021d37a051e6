/*
 * A sorted array of objects: a few thousand at most, and searched more often
 * than changed.
 */
#include "sim/sim_objects.h"

#include <stdlib.h>
#include <string.h>

size_t sim_objects_place(const struct sim_objects *objects, const char *key)
{
    size_t low = 0;
    size_t high = objects->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(objects->sorted[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sim_object *at_place(const struct sim_objects *objects,
                                   size_t place,
                                   const char *key)
{
    if (place == objects->count ||
        strcmp(objects->sorted[place]->key, key) != 0)
        return NULL;
    return objects->sorted[place];
}

struct sim_object *sim_objects_find(const struct sim_objects *objects,
                                    const char *key)
{
    return at_place(objects, sim_objects_place(objects, key), key);
}

static void make_room(struct sim_objects *objects, size_t place)
{
    if (objects->count == objects->capacity) {
        objects->capacity =
            objects->capacity == 0 ? 256 : 2 * objects->capacity;
        objects->sorted =
            realloc(objects->sorted, objects->capacity * sizeof(void *));
        if (objects->sorted == NULL)
            abort();
    }
    memmove(objects->sorted + place + 1, objects->sorted + place,
            (objects->count - place) * sizeof(void *));
    objects->count++;
}

struct sim_object *sim_objects_put(struct sim_objects *objects,
                                   const char *key,
                                   uint8_t *data,
                                   size_t size,
                                   int64_t modified_ms)
{
    size_t place = sim_objects_place(objects, key);
    struct sim_object *old = at_place(objects, place, key);
    struct sim_object *object = calloc(1, sizeof(*object));

    if (object == NULL)
        abort();
    object->key = strdup(key);
    object->data = data;
    object->size = size;
    object->modified_ms = modified_ms;
    object->number = ++objects->next_number;
    object->reference_count = 1;
    if (old == NULL)
        make_room(objects, place);
    else
        sim_object_release(old);
    objects->sorted[place] = object;
    return object;
}

void sim_objects_remove(struct sim_objects *objects, const char *key)
{
    size_t place = sim_objects_place(objects, key);
    struct sim_object *object = at_place(objects, place, key);

    if (object == NULL)
        return;
    objects->count--;
    memmove(objects->sorted + place, objects->sorted + place + 1,
            (objects->count - place) * sizeof(void *));
    sim_object_release(object);
}

struct sim_object *sim_object_acquire(struct sim_object *object)
{
    object->reference_count++;
    return object;
}

void sim_object_release(struct sim_object *object)
{
    if (object == NULL || --object->reference_count > 0)
        return;
    free(object->key);
    free(object->data);
    free(object);
}
