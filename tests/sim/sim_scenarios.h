/*
 * The named scenarios: each makes one hazard frequent.
 */
#ifndef LKS_SIM_SCENARIOS_H
#define LKS_SIM_SCENARIOS_H

#include "sim/sim_run.h"

struct sim_scenario {
    const char *name;
    const char *says; /* the hazard */
    void (*adapt)(struct sim_knobs *knobs, struct sim_random *random);
};

/* sim_life_scenarios.c: what concerns reclaiming and training jobs. */
extern const struct sim_scenario sim_life_scenarios[];
extern const size_t sim_life_scenario_count;

/* Half of the mix: training jobs, and those who keep house for them. */
void sim_mix_life(struct sim_knobs *knobs, struct sim_random *random);

/* NULL past the last one. The first is the mix of all. */
const struct sim_scenario *sim_scenario_at(size_t index);

/* NULL if there is none of that name. */
const struct sim_scenario *sim_scenario_find(const char *name);

/* What the scenario makes of the seed. */
struct sim_knobs sim_scenario_knobs(const struct sim_scenario *scenario,
                                    uint64_t seed);

#endif
