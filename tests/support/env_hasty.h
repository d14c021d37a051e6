/*
 * The real world with a hasty clock: pauses and time-outs pass a hundred times
 * as fast. For tests that wait again and again for what a pause must precede.
 * A time-out that must not strike on a busy machine is set that much longer.
 */
#ifndef LKS_TESTS_SUPPORT_ENV_HASTY_H
#define LKS_TESTS_SUPPORT_ENV_HASTY_H

#include "base/env.h"

const struct lks_env *env_hasty(void);

#endif
