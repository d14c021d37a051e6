/*
 * Which of the two limits is reached, and by whom it is held.
 */
#include "manifest/limit_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

void lks_limit_text(uint64_t max_live_steps,
                    uint64_t max_live_bytes,
                    uint64_t next_step,
                    uint64_t claimed,
                    char text[LKS_LIMIT_TEXT_SIZE])
{
    bool by_steps = max_live_steps > 0 && next_step - claimed >= max_live_steps;

    snprintf(text, LKS_LIMIT_TEXT_SIZE,
             "at its limit of %" PRIu64
             " live %s, with no checkpoint since step %" PRIu64,
             by_steps ? max_live_steps : max_live_bytes,
             by_steps ? "steps" : "bytes", claimed);
}
