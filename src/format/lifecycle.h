/*
 * What a manifest says of the steps that must stay, and who needs them: groups
 * with their runs, pins, limits. Pure: the rules of who may change what are in
 * the rooms above; here is only what the fields hold.
 */
#ifndef LKS_FORMAT_LIFECYCLE_H
#define LKS_FORMAT_LIFECYCLE_H

#include "format/manifest.h"

#define LKS_GROUPS_MAX 256u
#define LKS_FORMER_IDS_MAX 64u
#define LKS_RANKS_MAX 65536u
#define LKS_EVICTED_MAX 1024u /* ranks of one run */

/* One start of a group's training job. Pointers are borrowed. */
struct lks_run {
    const char *id;
    uint64_t attempt;
    uint32_t ranks;
    uint64_t floor; /* the lowest step that a rank was opened at */
};

struct lks_group_record {
    const char *name;
    struct lks_run run;
    const uint32_t *evicted; /* ranks, ascending */
    size_t evicted_count;
};

struct lks_pin_record {
    const char *name;
    uint64_t step;
};

/* ------------------------------------------------------------- reading -- */

uint32_t lks_manifest_group_count(const struct lks_manifest *manifest);
void lks_manifest_group(const struct lks_manifest *manifest,
                        uint32_t index,
                        struct lks_group_record *out_group);

/* False if there is none of that name. */
bool lks_manifest_find_group(const struct lks_manifest *manifest,
                             const char *name,
                             struct lks_group_record *out_group);

/* Whether a run of this id came before the group's present one. */
bool lks_manifest_run_is_former(const struct lks_manifest *manifest,
                                const char *group,
                                const char *run_id);
bool lks_group_rank_is_evicted(const struct lks_group_record *group,
                               uint32_t rank);

uint32_t lks_manifest_pin_count(const struct lks_manifest *manifest);
void lks_manifest_pin(const struct lks_manifest *manifest,
                      uint32_t index,
                      struct lks_pin_record *out_pin);
bool lks_manifest_find_pin(const struct lks_manifest *manifest,
                           const char *name,
                           struct lks_pin_record *out_pin);

/* ------------------------------------------------------------ changing -- */

/*
 * Makes `run` the group's run, and the group if there is none. The run before,
 * if its id is another, becomes the newest of the former ones. Nobody of the
 * new run is evicted. LKS_INVALID past LKS_GROUPS_MAX.
 */
enum lks_status lks_manifest_put_run(struct lks_manifest *manifest,
                                     const char *group,
                                     const struct lks_run *run,
                                     struct lks_error *error);

/* Sets the floor of the group's run. The group must exist. */
void lks_manifest_set_floor(struct lks_manifest *manifest,
                            const char *group,
                            uint64_t floor);

/* Removes the group, with what it remembers. The group must exist. */
void lks_manifest_remove_group(struct lks_manifest *manifest,
                               const char *group);

/* Adds a rank to the run's evicted ones. The group must exist. */
enum lks_status lks_manifest_evict_rank(struct lks_manifest *manifest,
                                        const char *group,
                                        uint32_t rank,
                                        struct lks_error *error);

/* Sets a pin, or moves the one of that name. LKS_INVALID past LKS_PINS_MAX. */
enum lks_status lks_manifest_put_pin(struct lks_manifest *manifest,
                                     const char *name,
                                     uint64_t step,
                                     struct lks_error *error);

/* The pin must exist. */
void lks_manifest_remove_pin(struct lks_manifest *manifest, const char *name);

/* 0 is no limit. */
enum lks_status lks_manifest_set_limits(struct lks_manifest *manifest,
                                        uint64_t max_live_steps,
                                        uint64_t max_live_bytes,
                                        struct lks_error *error);

/* The steps below `step` are no longer live; they had `bytes` bytes, counted
 * from the stream's first. Neither moves back. */
void lks_manifest_set_first_live(struct lks_manifest *manifest,
                                 uint64_t step,
                                 uint64_t bytes);

/* The same for what groups, pins aside, have no more need of. This may move
 * back, when a group joins below it. */
void lks_manifest_set_claimed(struct lks_manifest *manifest,
                              uint64_t step,
                              uint64_t bytes);

/* Ends the stream at next_step, dropped: nothing in it is needed any more. */
void lks_manifest_drop(struct lks_manifest *manifest);

#endif
