/*
 * An entry: what manifest and index say of one step.
 */
#ifndef LKS_FORMAT_ENTRY_H
#define LKS_FORMAT_ENTRY_H

#include "format/tgb.h"

#define LKS_BLOCK_STEPS 256u /* steps of an index block, entries of a tail */

/* Pointers are borrowed from the manifest or block it was read from. */
struct lks_entry {
    uint64_t step;
    const char *producer;
    uint64_t epoch;
    uint32_t owner_tag;
    uint64_t seq;
    uint64_t size;    /* of the object */
    uint64_t version; /* of the manifest that made it visible */
    uint64_t total;   /* bytes of the stream up to and with this step */
    uint32_t footer_crc;
    uint32_t footer_size;
    uint64_t raw_max; /* 0: no slice is packed */
    struct lks_table table;
};

/* One producer as the map has it. Pointers are borrowed likewise. */
struct lks_producer_record {
    const char *id;
    uint64_t epoch;
    uint8_t owner[LKS_ID_SIZE];
    const char *host;
    int64_t pid;
    uint64_t next_seq;
    const void *offset;
    size_t offset_size;
    bool finished;
    uint64_t version; /* of its last commit */
};

#endif
