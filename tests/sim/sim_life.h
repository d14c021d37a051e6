/*
 * The life of the stream as it landed: what the newest manifest keeps, what the
 * ranks have published, and what those who train and pin rely on.
 */
#ifndef LKS_SIM_LIFE_H
#define LKS_SIM_LIFE_H

#include "format/lifecycle.h"
#include "format/names.h"

#define SIM_VOWS_MAX 16u

/* The highest watermark of a rank that ever landed. */
struct sim_mark {
    struct lks_watermark_parts whose;
    uint64_t step;
};

/* One start of a training job: the oldest step that it may go back to. */
struct sim_need {
    char group[LKS_PRODUCER_ID_SIZE_MAX + 1];
    char run[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t attempt;
    uint64_t step;
};

/* A pin that somebody was told to have. */
struct sim_vow {
    char name[LKS_PRODUCER_ID_SIZE_MAX + 1]; /* empty: a free place */
    uint64_t step;
};

struct sim_life {
    struct lks_manifest *head; /* NULL: version 0 */
    uint64_t first_live;
    uint64_t claimed;
    bool dropped;
    struct sim_mark *marks;
    uint64_t mark_count;
    uint64_t mark_capacity;
    struct sim_need *needs;
    uint64_t need_count;
    uint64_t need_capacity;
    struct sim_vow vows[SIM_VOWS_MAX];
    uint64_t removed_count;
};

#endif
