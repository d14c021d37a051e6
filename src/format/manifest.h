/*
 * A manifest in memory: the whole visible state of a stream at one version.
 *
 * It keeps the decoded messages themselves, so that fields which only a newer
 * library knows survive when this one builds the next version on it.
 */
#ifndef LKS_FORMAT_MANIFEST_H
#define LKS_FORMAT_MANIFEST_H

#include "base/buf.h"
#include "format/descriptor.h"
#include "format/entry.h"

#define LKS_MANIFEST_SIZE_MAX (4u << 20)
#define LKS_MANIFEST_GUESS (16u << 10) /* holds nearly every first section */
#define LKS_PRODUCERS_MAX 4096u
#define LKS_PRODUCERS_SIZE_MAX (1u << 20) /* of the map, encoded */
#define LKS_PINS_MAX 1024u

struct lks_manifest;

/* Version 0: the empty stream that the descriptor describes. */
enum lks_status lks_manifest_genesis(const struct lks_descriptor *descriptor,
                                     struct lks_manifest **out_manifest,
                                     struct lks_error *error);

/* A copy to change. */
enum lks_status lks_manifest_copy(const struct lks_manifest *manifest,
                                  struct lks_manifest **out_copy,
                                  struct lks_error *error);
void lks_manifest_free(struct lks_manifest *manifest);

enum lks_status lks_manifest_encode(const struct lks_manifest *manifest,
                                    struct lks_buf *buf,
                                    struct lks_error *error);

/*
 * Decodes an object, which must be this stream's manifest of this version.
 * LKS_CORRUPT says what is off; LKS_UNSUPPORTED names what only a newer
 * library can read.
 */
enum lks_status lks_manifest_decode(const uint8_t *bytes,
                                    size_t size,
                                    const uint8_t stream[LKS_ID_SIZE],
                                    uint64_t version,
                                    struct lks_manifest **out_manifest,
                                    struct lks_error *error);

/*
 * The same from the object's first `size` bytes, for those who only read: what
 * concerns producers, groups and pins is absent. If the first section is not
 * all there, *out_needed is the size that is, and *out_manifest NULL; else
 * *out_needed is 0.
 */
enum lks_status lks_manifest_decode_head(const uint8_t *bytes,
                                         size_t size,
                                         const uint8_t stream[LKS_ID_SIZE],
                                         uint64_t version,
                                         struct lks_manifest **out_manifest,
                                         size_t *out_needed,
                                         struct lks_error *error);

/* One producer's place in the ring of those who take turns to commit. */
struct lks_ring_place {
    bool in_ring;
    uint32_t misses;            /* turns it let pass */
    uint32_t slowness_permille; /* of its turn; 0 counts as 1000 */
};

/* The ring, out of the manifest: the rules are the producers' business. */
struct lks_ring {
    uint64_t guest_version; /* the next version that guests may try on */
    uint64_t guest_gap;     /* versions from one of those to the next */
    uint64_t turn_us;       /* a turn's unit, as committers measure it */
    uint32_t last;          /* who had the last turn; UINT32_MAX: nobody */
    uint32_t count;         /* of producers, in the order of the map */
    struct lks_ring_place *places;
};

/* ------------------------------------------------------------- reading -- */

const uint8_t *lks_manifest_stream(const struct lks_manifest *manifest);
uint64_t lks_manifest_version(const struct lks_manifest *manifest);
uint64_t lks_manifest_next_step(const struct lks_manifest *manifest);
uint64_t lks_manifest_first_live_step(const struct lks_manifest *manifest);
uint64_t lks_manifest_claimed(const struct lks_manifest *manifest);
uint64_t lks_manifest_total_bytes(const struct lks_manifest *manifest);
/* Of the steps that are live: not below first_live_step. */
uint64_t lks_manifest_live_bytes(const struct lks_manifest *manifest);
uint64_t lks_manifest_max_live_steps(const struct lks_manifest *manifest);
uint64_t lks_manifest_max_live_bytes(const struct lks_manifest *manifest);
/* Whether a limit holds appends back: by what is claimed, pins aside. */
bool lks_manifest_is_full(const struct lks_manifest *manifest);
bool lks_manifest_ended(const struct lks_manifest *manifest);
bool lks_manifest_dropped(const struct lks_manifest *manifest);

/* The steps [first, next_step) are in the tail. */
uint64_t lks_manifest_tail_first(const struct lks_manifest *manifest);
bool lks_manifest_tail_is_full(const struct lks_manifest *manifest);

/* `step` must be in the tail. The stream's mesh has `slice_count` slices. */
void lks_manifest_entry(const struct lks_manifest *manifest,
                        uint64_t step,
                        uint32_t slice_count,
                        struct lks_entry *out_entry);

uint32_t lks_manifest_producers_to_end(const struct lks_manifest *manifest);
uint32_t lks_manifest_producer_count(const struct lks_manifest *manifest);
void lks_manifest_producer(const struct lks_manifest *manifest,
                           uint32_t index,
                           struct lks_producer_record *out_record);
/* False if there is none of that id. */
bool lks_manifest_find_producer(const struct lks_manifest *manifest,
                                const char *id,
                                struct lks_producer_record *out_record);

/* Where in the map `id` is; false if it is not. */
bool lks_manifest_find_place(const struct lks_manifest *manifest,
                             const char *id,
                             uint32_t *out_index);

/* Producers, not finished, whose last commit is among the newest `span`
 * versions. */
uint32_t lks_manifest_active_count(const struct lks_manifest *manifest,
                                   uint64_t span);

/* `ring->places` has room for LKS_PRODUCERS_MAX and is filled in. */
void lks_manifest_read_ring(const struct lks_manifest *manifest,
                            struct lks_ring *ring);

/* ------------------------------------------------------------ changing -- */

/* Makes it the next version: version + 1, and a full tail emptied; its index
 * block must exist by then. The first change of all. */
void lks_manifest_advance(struct lks_manifest *manifest);

/*
 * Puts a producer's record in, or in the place of the one with its id; its
 * place in the ring stays. LKS_INVALID past LKS_PRODUCERS_MAX ids or
 * LKS_PRODUCERS_SIZE_MAX, with the way out.
 */
enum lks_status lks_manifest_put_producer(
    struct lks_manifest *manifest,
    const struct lks_producer_record *record,
    struct lks_error *error);

/*
 * Appends the next step to the tail, which must not be full: next_step, totals
 * and the producer's next_seq follow, its `finished` is cleared. The entry's
 * step, version and total are set here, whatever it says. `offset` becomes the
 * producer's.
 */
enum lks_status lks_manifest_append(struct lks_manifest *manifest,
                                    const struct lks_entry *entry,
                                    const void *offset,
                                    size_t offset_size,
                                    struct lks_error *error);

/* Gives the producer, which is in the map, a place in the ring. */
enum lks_status lks_manifest_join_ring(struct lks_manifest *manifest,
                                       const char *id,
                                       struct lks_error *error);

/* Puts in what became of the ring that was read from this manifest, or from the
 * one it is built on. Producers put in since keep out of it. */
enum lks_status lks_manifest_write_ring(struct lks_manifest *manifest,
                                        const struct lks_ring *ring,
                                        struct lks_error *error);

/* Ends the stream at next_step. */
void lks_manifest_end(struct lks_manifest *manifest);

/* Ends it if enough producers are finished and none is unfinished. */
void lks_manifest_end_if_complete(struct lks_manifest *manifest);

#endif
