/*
 * The simulator's randomness: a stream of numbers that a seed decides.
 */
#ifndef LKS_SIM_RANDOM_H
#define LKS_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;
};

/* One well-mixed number from another: a hash of eight bytes. */
uint64_t sim_mix(uint64_t value);

struct sim_random sim_random_from(uint64_t seed);
uint64_t sim_random_next(struct sim_random *random);

/* Uniform in [0, 1). */
double sim_random_unit(struct sim_random *random);

/* Uniform in [0, count). */
uint64_t sim_random_below(struct sim_random *random, uint64_t count);

/* Uniform in [low, high]. */
uint64_t sim_random_between(struct sim_random *random,
                            uint64_t low,
                            uint64_t high);

bool sim_random_chance(struct sim_random *random, double chance);
double sim_random_exponential(struct sim_random *random, double mean);
double sim_random_lognormal(struct sim_random *random,
                            double median,
                            double sigma);

#endif
