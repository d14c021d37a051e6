/*
 * Pauses between tries, with full jitter: drawn from the whole range down to
 * zero, since what spreads many clients is the spread and not the length.
 */
#include "base/backoff.h"

#include <assert.h>

const struct lks_backoff lks_backoff_outage = {
    .first_ns = 40 * LKS_NS_PER_MS,
    .longest_ns = 4000 * LKS_NS_PER_MS,
};

uint64_t lks_backoff_ns(const struct lks_backoff *backoff,
                        uint32_t failures,
                        double random_unit)
{
    uint64_t ceiling_ns = backoff->first_ns;

    assert(failures > 0);

    for (uint32_t i = 1; i < failures && ceiling_ns < backoff->longest_ns; i++)
        ceiling_ns *= 2;
    if (ceiling_ns > backoff->longest_ns)
        ceiling_ns = backoff->longest_ns;
    return (uint64_t)(random_unit * (double)ceiling_ns);
}

void lks_backoff_sleep(const struct lks_backoff *backoff,
                       uint32_t failures,
                       const struct lks_env *env,
                       const struct lks_cancel *cancel)
{
    lks_env_sleep_unless(env,
                         lks_backoff_ns(backoff, failures,
                                        lks_env_random_unit(env)),
                         cancel);
}
