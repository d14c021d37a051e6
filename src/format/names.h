/*
 * The names of a stream's objects, and of what is in them.
 */
#ifndef LKS_FORMAT_NAMES_H
#define LKS_FORMAT_NAMES_H

#include <stdbool.h>

#include "base/error.h"

#define LKS_ID_SIZE 16u /* a stream's id, a producer's owner */
#define LKS_STEP_MAX ((uint64_t)INT64_MAX) /* of steps and byte totals */
#define LKS_NAME_SIZE 192u                 /* any object's name, with its NUL */
#define LKS_DESCRIPTOR_NAME "stream.json"

/* [A-Za-z0-9._-]{1,64}, no dot first: producers, groups, pins. See also the
 * public lks_id_check(). */
bool lks_id_is_valid(const char *id);

/*
 * manifest/<8 hex of the stream>/<13 hex>/<3 hex>: 2^64-1-version in hex, so
 * that the newest lists first and no folder grows past 4,096 names.
 */
void lks_manifest_name(const uint8_t stream[LKS_ID_SIZE],
                       uint64_t version,
                       char name[LKS_NAME_SIZE]);

/* What all manifests of the stream begin with. */
void lks_manifest_prefix(const uint8_t stream[LKS_ID_SIZE],
                         char name[LKS_NAME_SIZE]);

/* False if `name` is no manifest's of this stream. */
bool lks_manifest_name_parse(const uint8_t stream[LKS_ID_SIZE],
                             const char *name,
                             uint64_t *out_version);

/* index/<16 hex> */
void lks_index_name(uint64_t number, char name[LKS_NAME_SIZE]);
bool lks_index_name_parse(const char *name, uint64_t *out_number);

/* The four bytes of an owner that stand in data names and entries. */
uint32_t lks_owner_tag(const uint8_t owner[LKS_ID_SIZE]);

/* data/<producer>/<epoch>-<8 hex>/<seq>, the numbers in decimal */
void lks_data_name(const char *producer,
                   uint64_t epoch,
                   uint32_t owner_tag,
                   uint64_t seq,
                   char name[LKS_NAME_SIZE]);

struct lks_data_parts {
    char producer[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t epoch;
    uint32_t owner_tag;
    uint64_t seq;
};

/* False if `name` is no TGB's. */
bool lks_data_name_parse(const char *name, struct lks_data_parts *out_parts);

/* Whose watermark it is. */
struct lks_watermark_parts {
    char group[LKS_PRODUCER_ID_SIZE_MAX + 1];
    char run[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t attempt;
    uint32_t rank; /* LKS_RANK_ALL: one rank writes for all */
};

/* watermark/<group>/<run>-<attempt>/<rank>; the rank may be "all" */
void lks_watermark_name(const struct lks_watermark_parts *parts,
                        char name[LKS_NAME_SIZE]);

/* What all watermarks of the run begin with; the rank is passed over. */
void lks_watermark_prefix(const struct lks_watermark_parts *parts,
                          char name[LKS_NAME_SIZE]);
bool lks_watermark_name_parse(const char *name,
                              struct lks_watermark_parts *out_parts);

#endif
