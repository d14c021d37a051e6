/*
 * "Did you mean ...?": the nearest name, by Levenshtein's distance.
 */
#include "hint.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A word further away than this is no slip of the finger. */
#define DISTANCE_MAX 3u
#define LENGTH_MAX 40u

/* How many letters to change, add or drop. */
static unsigned distance(const char *left, const char *right)
{
    unsigned row[LENGTH_MAX + 1];
    size_t length = strlen(right);

    if (length > LENGTH_MAX || strlen(left) > LENGTH_MAX)
        return UINT_MAX;
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 0; left[i] != '\0'; i++) {
        unsigned diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            unsigned best = diagonal + (left[i] != right[j]);

            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[length];
}

void hint_start(struct hint *hint, const char *word)
{
    /* Of a short word, some letters must be left. */
    size_t length = strlen(word);

    hint->word = word;
    hint->distance = length > 2 * DISTANCE_MAX ? DISTANCE_MAX + 1
                                               : (unsigned)(length + 1) / 2;
    hint->best[0] = '\0';
}

void hint_consider(struct hint *hint, const char *name)
{
    unsigned found = distance(hint->word, name);

    if (found >= hint->distance)
        return;
    hint->distance = found;
    snprintf(hint->best, sizeof(hint->best), "%s", name);
}
