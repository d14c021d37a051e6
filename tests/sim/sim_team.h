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
    uint32_t lost_rank;
    bool losing; /* what is lost is being evicted, and nobody restarts it */
};

/* sim_event_fn; the argument is the team. It is done when all ranks of one
 * start have read to the end of the stream. */
void sim_team_start(void *team);

/* The whole job is lost, or a rank of it, whose run the stream shows; the same
 * one until sim_team_evicted(). False if there is nothing to evict. */
bool sim_team_lose(struct sim_team *team, uint32_t *out_rank);
void sim_team_evicted(struct sim_team *team);

/* A rank's main function. */
void sim_train(void *rank);

#endif
