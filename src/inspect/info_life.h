/*
 * What a stream's state says of those who need its steps, and where it is from.
 */
#ifndef LKS_INSPECT_INFO_LIFE_H
#define LKS_INSPECT_INFO_LIFE_H

#include "base/json_out.h"
#include "manifest/claim.h"

/* Ranks of a group that are named. */
#define LKS_INFO_RANKS_MAX 32u

/* "groups": each with its run, the step it still needs, its lag behind the next
 * step, and the ranks that are behind the others of their group. */
void lks_info_put_groups(struct lks_json_out *out,
                         const struct lks_manifest *head,
                         const struct lks_claims *claims);
void lks_info_put_pins(struct lks_json_out *out,
                       const struct lks_manifest *head);

/* "parent", and "lineage": the streams that it came from, nearest first. */
void lks_info_put_lineage(struct lks_json_out *out,
                          const struct lks_descriptor *descriptor);

#endif
