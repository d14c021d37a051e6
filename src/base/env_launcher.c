/*
 * The environment that launchers make: their job's id, and how often they have
 * started it again.
 *
 * torchrun's id is "none" where nobody gave one. Two jobs would share that, and
 * an id that is not new at every start is worse than none.
 */
#include "base/env_launcher.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static const struct {
    const char *id;
    const char *restart;
} launchers[] = {
    {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
    {"SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
};

bool lks_env_launch(struct lks_launch *out_launch)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *id = getenv(launchers[i].id);
        const char *restart = getenv(launchers[i].restart);
        uint64_t count = 0;

        if (id == NULL || id[0] == '\0' || strcmp(id, "none") == 0)
            continue;
        if (restart != NULL && !lks_parse_u64(restart, &count))
            continue; /* Not what that launcher would write. */
        *out_launch = (struct lks_launch){
            .variable = launchers[i].id,
            .id = id,
            .restart = count,
        };
        return true;
    }
    return false;
}
