/*
 * Where each producer was at a step: what a fork continues from.
 */
#ifndef LKS_RECLAIM_POSITIONS_H
#define LKS_RECLAIM_POSITIONS_H

#include "format/tgb.h"
#include "manifest/log.h"

struct lks_position {
    char id[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t epoch;
    uint64_t next_seq;
    uint8_t offset[LKS_OFFSET_SIZE_MAX];
    size_t offset_size;
    bool settled; /* next_seq and offset are those of the step */
};

struct lks_positions {
    struct lks_position *items; /* by id, ascending */
    uint32_t count;
};

void lks_positions_init(struct lks_positions *positions);
void lks_positions_done(struct lks_positions *positions);

/*
 * The producers as of `step`, which is live or the next of the log's head: one
 * index block and the footers of at most one block's TGBs are read, however old
 * the step is. LKS_RECLAIMED if it is deleted meanwhile.
 */
enum lks_status lks_positions_find(struct lks_positions *positions,
                                   struct lks_log *log,
                                   uint64_t step,
                                   struct lks_error *error);

#endif
