/*
 * How long to stay away after failures in a row: at random up to a ceiling that
 * doubles, so that many who failed together do not come back together.
 */
#ifndef LKS_BASE_BACKOFF_H
#define LKS_BASE_BACKOFF_H

#include "base/env.h"

/* The ceiling after the first failure, and the highest one. */
struct lks_backoff {
    uint64_t first_ns;
    uint64_t longest_ns;
};

/* For a write that got no answer, and is sent again until it has one. */
extern const struct lks_backoff lks_backoff_outage;

/* The pause after `failures` > 0 in a row; `random_unit` is in [0, 1). */
uint64_t lks_backoff_ns(const struct lks_backoff *backoff,
                        uint32_t failures,
                        double random_unit);

/* Sleeps for it, or until `cancel` is set. */
void lks_backoff_sleep(const struct lks_backoff *backoff,
                       uint32_t failures,
                       const struct lks_env *env,
                       const struct lks_cancel *cancel);

#endif
