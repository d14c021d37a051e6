/*
 * The model's event queue, a binary heap, and its randomness.
 */
#include <math.h>
#include <stdlib.h>

#include "pacing_model.h"

static uint64_t rotate(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

void model_random_init(struct model_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        random->state[i] = z ^ (z >> 31);
    }
}

double model_random_unit(struct model_random *random)
{
    uint64_t *s = random->state;
    uint64_t value = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return (double)(value >> 11) * 0x1p-53;
}

double model_random_exponential(struct model_random *random, double mean)
{
    return -mean * log1p(-model_random_unit(random));
}

double model_random_normal(struct model_random *random)
{
    double radius = sqrt(-2.0 * log1p(-model_random_unit(random)));

    return radius * cos(6.283185307179586 * model_random_unit(random));
}

static bool before(const struct model_event *a, const struct model_event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

bool model_events_push(struct model_events *events,
                       double time,
                       uint32_t kind,
                       uint32_t who,
                       uint64_t number)
{
    struct model_event event = {time, events->made++, kind, who, number};
    size_t place;

    if (events->count == events->capacity) {
        size_t capacity = events->capacity == 0 ? 1024 : events->capacity * 2;
        void *grown =
            realloc(events->items, capacity * sizeof(struct model_event));

        if (grown == NULL)
            return false;
        events->items = grown;
        events->capacity = capacity;
    }
    place = events->count++;
    while (place > 0) {
        size_t parent = (place - 1) / 2;

        if (!before(&event, &events->items[parent]))
            break;
        events->items[place] = events->items[parent];
        place = parent;
    }
    events->items[place] = event;
    return true;
}

bool model_events_pop(struct model_events *events, struct model_event *out)
{
    struct model_event last;
    size_t place = 0;

    if (events->count == 0)
        return false;
    *out = events->items[0];
    last = events->items[--events->count];
    for (;;) {
        size_t child = 2 * place + 1;

        if (child >= events->count)
            break;
        if (child + 1 < events->count &&
            before(&events->items[child + 1], &events->items[child]))
            child++;
        if (!before(&events->items[child], &last))
            break;
        events->items[place] = events->items[child];
        place = child;
    }
    if (events->count > 0)
        events->items[place] = last;
    return true;
}
