/*
 * A consumer's state: one line of JSON.
 */
#ifndef LKS_FORMAT_STATE_H
#define LKS_FORMAT_STATE_H

#include "format/names.h"

void lks_state_encode(const uint8_t stream[LKS_ID_SIZE],
                      uint64_t step,
                      char text[LKS_STATE_SIZE_MAX]);

/* LKS_INVALID for what is no state; LKS_UNSUPPORTED for a newer version. */
enum lks_status lks_state_decode(const char *text,
                                 uint8_t out_stream[LKS_ID_SIZE],
                                 uint64_t *out_step,
                                 struct lks_error *error);

#endif
