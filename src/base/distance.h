/* How far a word is from a name it may have been meant for. */
#ifndef LKS_BASE_DISTANCE_H
#define LKS_BASE_DISTANCE_H

#include <stdint.h>

/* Of longer texts only so much is compared. */
#define LKS_DISTANCE_SIZE_MAX 64u

/* How many letters to change, add or drop. */
uint32_t lks_text_distance(const char *word, const char *name);

#endif
