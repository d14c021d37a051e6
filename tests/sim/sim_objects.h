/*
 * The objects of a simulated bucket: immutable bytes by key, in order.
 */
#ifndef LKS_SIM_OBJECTS_H
#define LKS_SIM_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct sim_object {
    char *key;
    uint8_t *data;
    size_t size;
    int64_t modified_ms;
    uint64_t number; /* equal numbers are the same object */
    uint32_t reference_count;
};

struct sim_objects {
    struct sim_object **sorted;
    size_t count;
    size_t capacity;
    uint64_t next_number;
};

/* NULL if there is none. */
struct sim_object *sim_objects_find(const struct sim_objects *objects,
                                    const char *key);

/* The place of the first key that is `key` or comes after it. */
size_t sim_objects_place(const struct sim_objects *objects, const char *key);

/* Takes the bytes over; an object of that key is replaced. */
struct sim_object *sim_objects_put(struct sim_objects *objects,
                                   const char *key,
                                   uint8_t *data,
                                   size_t size,
                                   int64_t modified_ms);
void sim_objects_remove(struct sim_objects *objects, const char *key);

struct sim_object *sim_object_acquire(struct sim_object *object);

/* NULL is fine. */
void sim_object_release(struct sim_object *object);

#endif
