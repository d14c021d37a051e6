/*
 * The lengths of frames, as tables have them. Private to this room.
 */
#ifndef LKS_FORMAT_FRAMES_H
#define LKS_FORMAT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame with the largest slice, badly packed, is well below; the sum of as
 * many as a mesh can have is far from overflowing. */
#define LKS_FRAME_SIZE_MAX (UINT64_C(1) << 31)

/* A multiple of 64 that a frame can have. */
bool lks_frame_size_is_valid(uint64_t size);

/* The sum; false if one of them is not valid. */
bool lks_frames_sum(const uint64_t *frames, size_t count, uint64_t *out_sum);

#endif
