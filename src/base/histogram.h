/*
 * A histogram of durations: counts by octave and eighth, so that a quantile is
 * right within an eighth of its value, in constant memory.
 */
#ifndef LKS_BASE_HISTOGRAM_H
#define LKS_BASE_HISTOGRAM_H

#include <stdint.h>

#define LKS_HISTOGRAM_BUCKETS 512u

struct lks_histogram {
    uint64_t counts[LKS_HISTOGRAM_BUCKETS];
    uint64_t count;
    uint64_t max;
};

/* A zeroed one is empty. */
void lks_histogram_add(struct lks_histogram *histogram, uint64_t value);

/* The value that the share `quantile` of [0, 1] does not exceed; 0 if empty. */
uint64_t lks_histogram_quantile(const struct lks_histogram *histogram,
                                double quantile);

#endif
