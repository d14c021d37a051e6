/*
 * Training jobs: the ranks of a group, and whoever starts them again.
 */
#ifndef LKS_SIM_TEAM_H
#define LKS_SIM_TEAM_H

#include "sim/sim_run.h"

struct sim_attempt;

struct sim_team {
    struct sim_run *run;
    char group[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint32_t attempt_count;
    struct sim_attempt *newest;
    bool done;
};

/* sim_event_fn; the argument is the team. It is done when all ranks of one
 * start have read to the end of the stream. */
void sim_team_start(void *team);

/* A rank's main function. */
void sim_train(void *rank);

#endif
