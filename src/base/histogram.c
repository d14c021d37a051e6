/*
 * A histogram with buckets of an eighth of an octave.
 */
#include "base/histogram.h"

#include <assert.h>
#include <stddef.h>

#define EIGHTHS 8u

/* Values below 8 have a bucket each; above, the top four bits choose it. */
static uint32_t bucket_of(uint64_t value)
{
    uint32_t octave;

    if (value < EIGHTHS)
        return (uint32_t)value;
    octave = 63u - (uint32_t)__builtin_clzll(value);
    return (octave - 2) * EIGHTHS + (uint32_t)(value >> (octave - 3)) % EIGHTHS;
}

/* The largest value of a bucket. */
static uint64_t bucket_top(uint32_t bucket)
{
    uint32_t octave;

    if (bucket < EIGHTHS)
        return bucket;
    octave = bucket / EIGHTHS + 2;
    return ((uint64_t)(EIGHTHS + bucket % EIGHTHS + 1) << (octave - 3)) - 1;
}

void lks_histogram_add(struct lks_histogram *histogram, uint64_t value)
{
    histogram->counts[bucket_of(value)]++;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
}

uint64_t lks_histogram_quantile(const struct lks_histogram *histogram,
                                double quantile)
{
    uint64_t below = 0;
    uint64_t wanted = (uint64_t)(quantile * (double)histogram->count);

    assert(quantile >= 0.0);
    assert(quantile <= 1.0);

    for (uint32_t i = 0; i < LKS_HISTOGRAM_BUCKETS; i++) {
        below += histogram->counts[i];
        if (below > wanted || (below > 0 && below == histogram->count)) {
            uint64_t top = bucket_top(i);

            return top < histogram->max ? top : histogram->max;
        }
    }
    return 0;
}
