/*
 * What a reclaim or a drop tells: what it freed, what it left, and why.
 */
#ifndef LKS_RECLAIM_RECLAIM_REPORT_H
#define LKS_RECLAIM_RECLAIM_REPORT_H

#include "base/json_out.h"
#include "manifest/claim.h"
#include "reclaim/sweep.h"

/* Ranks that are named, of those that hold a group back. */
#define LKS_REPORT_RANKS 16u

/* "held_by": the groups and pins whose step is W, with the ranks; and "why" in
 * a sentence, if W did not move. */
void lks_report_holders(struct lks_json_out *out,
                        const struct lks_claims *claims,
                        const struct lks_manifest *head,
                        const struct lks_claim *claim);

/* "removed" and "left"; and "uploads_unseen" if the store does not list those
 * that are unfinished. */
void lks_report_sweep(struct lks_json_out *out, const struct lks_sweep *sweep);

#endif
