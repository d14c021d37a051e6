/*
 * What started this process, if that gives its starts names: torchelastic or
 * Slurm.
 */
#ifndef LKS_BASE_ENV_LAUNCHER_H
#define LKS_BASE_ENV_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* One start of a job, the same in all its processes. */
struct lks_launch {
    const char *variable; /* where the id stands, for messages */
    const char *id;       /* the environment's; may be any text */
    uint64_t restart;     /* how often it was started before */
};

/* False if nothing in the environment names this start. */
bool lks_env_launch(struct lks_launch *out_launch);

#endif
