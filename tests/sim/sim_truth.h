/*
 * What really happened: the one chain of manifests as it landed in the bucket,
 * and the checks that quote design section 8 by number.
 */
#ifndef LKS_SIM_TRUTH_H
#define LKS_SIM_TRUTH_H

#include "format/manifest.h"
#include "sim/sim_bucket.h"
#include "sim/sim_life.h"

#define SIM_SEATS_MAX 40u
#define SIM_SLICE_SIZE_MAX 256u
#define SIM_OFFSET_SIZE 64u

/* Who appended something: one incarnation of a producer id. */
struct sim_author {
    char id[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t epoch;
    uint32_t owner_tag;
};

struct sim_step {
    uint32_t seat;
    uint64_t epoch;
    uint32_t owner_tag;
    uint64_t seq;
    uint64_t size;
    uint64_t version;
    uint32_t footer_crc;
    uint32_t footer_size;
};

/* A producer id as the newest manifest has it. */
struct sim_seat {
    char id[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t epoch;
    uint8_t owner[LKS_ID_SIZE];
    uint64_t next_seq;
    char offset[SIM_OFFSET_SIZE];
    bool finished;
    uint64_t *steps; /* by seq */
    uint64_t step_capacity;
};

/* That an epoch began, and where. */
struct sim_opening {
    struct sim_author author;
    uint64_t next_seq;
    char offset[SIM_OFFSET_SIZE];
};

struct sim_truth {
    struct sim_world *world;
    struct sim_bucket *bucket;
    uint8_t stream[LKS_ID_SIZE];
    uint32_t slice_count;
    uint64_t version;
    bool ended;
    uint64_t *next_steps; /* by version */
    uint64_t version_capacity;
    uint64_t base; /* a fork's first step */
    struct sim_step *steps;
    uint64_t step_count;
    uint64_t step_capacity;
    struct sim_seat seats[SIM_SEATS_MAX];
    uint32_t seat_count;
    struct sim_opening *openings;
    uint64_t opening_count;
    uint64_t opening_capacity;
    uint64_t stray_count;
    uint64_t acked_count;
    uint64_t read_count;
    size_t largest_manifest;
    const char *lost; /* the producer that is evicted, or NULL */
    struct sim_life life;
};

void sim_truth_init(struct sim_truth *truth,
                    struct sim_bucket *bucket,
                    const struct lks_descriptor *descriptor);

/* sim_landed_fn: a manifest that moves the chain on is checked against all
 * that was before it. */
void sim_truth_landed(void *truth, const struct sim_object *object);

/* NULL if the newest manifest has no such producer. */
struct sim_seat *sim_truth_seat(struct sim_truth *truth, const char *id);

/* Somebody believes to be this author, and to continue at this place. */
void sim_truth_check_opened(struct sim_truth *truth,
                            const struct sim_author *author,
                            uint64_t next_seq,
                            const char *offset);

/* Somebody was told that its seqs [first_seq, end_seq) are committed. */
void sim_truth_check_acked(struct sim_truth *truth,
                           const struct sim_author *author,
                           uint64_t first_seq,
                           uint64_t end_seq);

/* Somebody was told that its producer is finished. */
void sim_truth_check_finished(struct sim_truth *truth,
                              const struct sim_author *author);

/* Somebody looked, from when `version` was the newest, and saw this. */
void sim_truth_check_look(struct sim_truth *truth,
                          uint64_t version,
                          const struct lks_manifest *seen);

/* Somebody read this slice of this step. */
void sim_truth_check_slice(struct sim_truth *truth,
                           uint64_t step,
                           uint32_t slice,
                           const void *data,
                           size_t size);

/* Somebody was told that there is no step `step`, nor will be. */
void sim_truth_check_end(struct sim_truth *truth, uint64_t step);

/* All live steps are still there, byte by byte. */
void sim_truth_audit(struct sim_truth *truth);

/* sim_index.c: the index block is there and says what the chain says; `now`:
 * the manifest that lands left its entries to it. */
void sim_truth_check_index(struct sim_truth *truth, uint64_t number, bool now);

/* sim_life.c: the life of the stream. Takes the manifest over. */
void sim_life_landed(struct sim_truth *truth, struct lks_manifest *manifest);
void sim_life_marked(struct sim_truth *truth, const struct sim_object *object);

/* sim_removed_fn: an object goes; it must be garbage, and for ever. */
void sim_life_removed(void *truth, const struct sim_object *object);

/* Somebody was told that this step is reclaimed. */
void sim_truth_check_reclaimed(struct sim_truth *truth,
                               uint64_t step,
                               const char *what);

/* The pin of that name, or a free place. */
struct sim_vow *sim_truth_vow(struct sim_truth *truth, const char *name);

/* Its number. */
uint64_t sim_truth_add_need(struct sim_truth *truth,
                            const struct sim_need *need);

/* Whether the newest manifest shows this start as its group's run. */
bool sim_truth_shows(const struct sim_truth *truth, uint64_t need);

/* sim_leak.c: nothing is left that nobody needs. */
void sim_truth_check_swept(struct sim_truth *truth);

/* Twice the room, or the first. */
void *sim_more(void *items, uint64_t *capacity, size_t size);

/* What an author appends as this slice; returns its size. */
size_t sim_payload(const struct sim_author *author,
                   uint64_t seq,
                   uint32_t slice,
                   uint8_t data[SIM_SLICE_SIZE_MAX]);

/* The offset that goes with it. */
void sim_offset(const struct sim_author *author,
                uint64_t seq,
                char text[SIM_OFFSET_SIZE]);

struct sim_author sim_author_of(const char *id,
                                uint64_t epoch,
                                const uint8_t owner[LKS_ID_SIZE]);
bool sim_author_equal(const struct sim_author *left,
                      const struct sim_author *right);

#endif
