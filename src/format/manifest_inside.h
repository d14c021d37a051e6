/*
 * What a manifest is made of. Private to this room.
 */
#ifndef LKS_FORMAT_MANIFEST_INSIDE_H
#define LKS_FORMAT_MANIFEST_INSIDE_H

#include "format/entries.h"
#include "format/manifest.h"

struct lks_manifest {
    uint8_t stream[LKS_ID_SIZE];
    uint64_t version;
    Lks__ManifestHead *head;
    Lks__ManifestControl *control; /* NULL: only the head was decoded */
    /* Places in the arrays of pointers; the messages count those in use. */
    size_t tail_capacity;
    size_t writer_capacity;
    size_t producer_capacity;
    /* The encoded map of producers has at most so many bytes. */
    size_t map_bound;
};

/* The tail, borrowed. */
struct lks_entries lks_manifest_tail(const struct lks_manifest *manifest);

/* Whether what was decoded can be true. */
enum lks_status lks_manifest_check_head(const struct lks_manifest *manifest,
                                        struct lks_error *error);
enum lks_status lks_manifest_check_control(const struct lks_manifest *manifest,
                                           struct lks_error *error);

/* Room for one more in an array of pointers: where it is then. NULL when memory
 * is out; the array stays as it was. */
void *lks_manifest_grow(void *array, size_t count, size_t *capacity);

enum lks_status lks_manifest_check_offset(size_t size, struct lks_error *error);

/* What a producer takes in the encoded map. */
size_t lks_manifest_record_size(const Lks__Producer *producer);

/* Whether the map may have `after` bytes for producer `id` instead of
 * `before`; and that it now has. */
enum lks_status lks_manifest_check_map(struct lks_manifest *manifest,
                                       const char *id,
                                       size_t before,
                                       size_t after,
                                       struct lks_error *error);
void lks_manifest_count_map(struct lks_manifest *manifest,
                            size_t before,
                            size_t after);

#endif
