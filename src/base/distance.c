/*
 * How far a word is from a name it may have been meant for: Levenshtein's
 * distance.
 */
#include "base/distance.h"

#include <string.h>

uint32_t lks_text_distance(const char *word, const char *name)
{
    uint32_t row[LKS_DISTANCE_SIZE_MAX + 1];
    size_t size = strnlen(name, LKS_DISTANCE_SIZE_MAX);
    size_t word_size = strnlen(word, LKS_DISTANCE_SIZE_MAX);

    for (uint32_t k = 0; k <= size; k++)
        row[k] = k;
    for (size_t i = 0; i < word_size; i++) {
        uint32_t diagonal = row[0];

        row[0] = (uint32_t)i + 1;
        for (size_t k = 0; k < size; k++) {
            uint32_t least = diagonal + (word[i] != name[k]);

            diagonal = row[k + 1];
            if (row[k] + 1 < least)
                least = row[k] + 1;
            if (diagonal + 1 < least)
                least = diagonal + 1;
            row[k + 1] = least;
        }
    }
    return row[size];
}
