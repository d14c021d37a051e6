/*
 * How whoever waits at a stream's limit is told of it.
 */
#ifndef LKS_MANIFEST_LIMIT_TEXT_H
#define LKS_MANIFEST_LIMIT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define LKS_LIMIT_TEXT_SIZE 112u /* with two numbers of 20 digits */

/* "at its limit of 3 live steps, with no checkpoint since step 0". A limit of
 * 0 is none, and one of the two is reached. */
void lks_limit_text(uint64_t max_live_steps,
                    uint64_t max_live_bytes,
                    uint64_t next_step,
                    uint64_t claimed,
                    char text[LKS_LIMIT_TEXT_SIZE]);

#endif
