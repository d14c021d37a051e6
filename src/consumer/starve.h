/*
 * What a rank is told that waited in vain.
 */
#ifndef LKS_CONSUMER_STARVE_H
#define LKS_CONSUMER_STARVE_H

#include "consumer/prefetch.h"

/*
 * LKS_TIMEOUT, or LKS_UNAVAILABLE if it was the store that did not answer.
 * `step` is the training step's first, of `group`.
 */
enum lks_status lks_starve_explain(const struct lks_wait_report *report,
                                   const char *url,
                                   uint64_t step,
                                   uint32_t group,
                                   struct lks_error *error);

#endif
