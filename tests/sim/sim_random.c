/*
 * Splitmix64, and the few distributions that the fault model needs.
 */
#include "sim/sim_random.h"

#include <assert.h>
#include <math.h>

#define STEP UINT64_C(0x9e3779b97f4a7c15)

uint64_t sim_mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

struct sim_random sim_random_from(uint64_t seed)
{
    return (struct sim_random){.state = sim_mix(seed + STEP)};
}

uint64_t sim_random_next(struct sim_random *random)
{
    random->state += STEP;
    return sim_mix(random->state);
}

double sim_random_unit(struct sim_random *random)
{
    return (double)(sim_random_next(random) >> 11) * 0x1p-53;
}

uint64_t sim_random_below(struct sim_random *random, uint64_t count)
{
    assert(count > 0);

    return sim_random_next(random) % count;
}

uint64_t sim_random_between(struct sim_random *random,
                            uint64_t low,
                            uint64_t high)
{
    assert(low <= high);

    return low + sim_random_below(random, high - low + 1);
}

bool sim_random_chance(struct sim_random *random, double chance)
{
    return chance > 0 && sim_random_unit(random) < chance;
}

double sim_random_exponential(struct sim_random *random, double mean)
{
    return -mean * log(1.0 - sim_random_unit(random));
}

double sim_random_lognormal(struct sim_random *random,
                            double median,
                            double sigma)
{
    double angle = 2.0 * M_PI * sim_random_unit(random);
    double radius = sqrt(-2.0 * log(1.0 - sim_random_unit(random)));

    return median * exp(sigma * radius * cos(angle));
}
