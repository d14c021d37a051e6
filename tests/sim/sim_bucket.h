/*
 * A simulated object store with everything that goes wrong with one. The fault
 * model in words is in docs/testing.md.
 */
#ifndef LKS_SIM_BUCKET_H
#define LKS_SIM_BUCKET_H

#include "sim/sim_objects.h"
#include "sim/sim_world.h"
#include "store/store.h"

/* Chances are per request, times in milliseconds unless named otherwise. */
struct sim_faults {
    double put_ms; /* median of a write's way and back */
    double get_ms;
    double sigma;        /* of the lognormal around them */
    double stall_chance; /* a stall of one way, mean stall_mean_ms */
    double stall_mean_ms;
    double lost_chance;   /* the request never arrives */
    double silent_chance; /* it is done, and the reply never arrives */
    double late_chance;   /* a write that arrives long after */
    double late_mean_s;
    double again_chance;      /* a write that arrives twice, late */
    double throttle_chance;   /* 429, 503 */
    double slow_stamp_chance; /* served, but dated and answered much later */
    double slow_stamp_mean_s;
    bool key_limit;         /* one write per second and key */
    bool second_dates;      /* Date in whole seconds */
    bool start_dated;       /* an object's age counts from its PUT's begin */
    double slow_put_chance; /* start_dated: a PUT whose bytes come slowly */
    double slow_put_mean_s;
    int64_t skew_ms;     /* Dates are off by up to this, either way */
    uint64_t timeout_ms; /* of a client's request */
    uint64_t until_ns;   /* calm from then on */
};

#define SIM_FRONT_COUNT 5u /* machines that answer, each with its own clock */

/* Told of every object that begins to exist. */
typedef void sim_landed_fn(void *arg, const struct sim_object *object);

/* Told of every object before it is removed. */
typedef void sim_removed_fn(void *arg, const struct sim_object *object);

struct sim_bucket {
    struct sim_world *world;
    struct sim_faults faults;
    struct sim_objects objects;
    int64_t front_skew_ms[SIM_FRONT_COUNT];
    sim_landed_fn *landed;
    sim_removed_fn *removed;
    void *landed_arg; /* of both */
    uint64_t request_count;
    uint64_t put_count;
};

void sim_bucket_init(struct sim_bucket *bucket,
                     struct sim_world *world,
                     const struct sim_faults *faults);

/* The bucket as one process's store. */
struct lks_store *sim_bucket_store(struct sim_bucket *bucket,
                                   struct sim_process *process);

/* Puts an object there without any request. Takes the bytes over. */
void sim_bucket_plant(struct sim_bucket *bucket,
                      const char *key,
                      uint8_t *data,
                      size_t size);

#endif
