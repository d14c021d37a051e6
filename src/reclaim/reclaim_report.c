/*
 * A reclaim's report: those who look after a stream that is full must find here
 * who holds it, and what to do.
 */
#include "reclaim/reclaim_report.h"

#include <inttypes.h>

/* The ranks of the group that are at its step, the evicted ones aside. */
static void put_ranks(struct lks_json_out *out,
                      const struct lks_claims *claims,
                      const struct lks_group_record *group,
                      uint64_t step)
{
    uint32_t count = 0;

    lks_json_out_open(out, "ranks", '[');
    for (uint32_t rank = 0; rank < group->run.ranks; rank++) {
        if (lks_claims_of_rank(claims, group, rank) > step ||
            lks_group_rank_is_evicted(group, rank))
            continue;
        if (count < LKS_REPORT_RANKS)
            lks_json_out_u64(out, NULL, rank);
        count++;
    }
    lks_json_out_close(out, ']');
    lks_json_out_u64(out, "rank_count", count);
}

static void put_groups(struct lks_json_out *out,
                       const struct lks_claims *claims,
                       const struct lks_manifest *head,
                       uint64_t live)
{
    for (uint32_t i = 0; i < lks_manifest_group_count(head); i++) {
        struct lks_group_record group;
        uint64_t step;

        lks_manifest_group(head, i, &group);
        if (!lks_claims_of_group(claims, &group, &step) || step > live)
            continue;
        lks_json_out_open(out, NULL, '{');
        lks_json_out_text(out, "kind", "group");
        lks_json_out_text(out, "name", group.name);
        lks_json_out_u64(out, "step", step);
        lks_json_out_text(out, "run", group.run.id);
        lks_json_out_u64(out, "attempt", group.run.attempt);
        put_ranks(out, claims, &group, step);
        lks_json_out_close(out, '}');
    }
}

static void put_pins(struct lks_json_out *out,
                     const struct lks_manifest *head,
                     uint64_t live)
{
    for (uint32_t i = 0; i < lks_manifest_pin_count(head); i++) {
        struct lks_pin_record pin;

        lks_manifest_pin(head, i, &pin);
        if (pin.step > live)
            continue;
        lks_json_out_open(out, NULL, '{');
        lks_json_out_text(out, "kind", "pin");
        lks_json_out_text(out, "name", pin.name);
        lks_json_out_u64(out, "step", pin.step);
        lks_json_out_close(out, '}');
    }
}

void lks_report_holders(struct lks_json_out *out,
                        const struct lks_claims *claims,
                        const struct lks_manifest *head,
                        const struct lks_claim *claim)
{
    const char *why = "those in held_by may still replay the steps from "
                      "first_live_step on";

    lks_json_out_open(out, "held_by", '[');
    if (claim->held) {
        put_groups(out, claims, head, claim->live);
        put_pins(out, head, claim->live);
    }
    lks_json_out_close(out, ']');
    if (lks_manifest_dropped(head))
        why = "the stream was dropped";
    else if (!claim->held)
        why = "no group has said what it still needs, so no step is reclaimed: "
              "consume with --group, or use 'lakestream watermark'";
    else if (claim->live == lks_manifest_next_step(head))
        why = "all steps are checkpointed";
    lks_json_out_text(out, "why", why);
}

static void put_tally(struct lks_json_out *out,
                      const char *name,
                      const struct lks_tally *tally)
{
    lks_json_out_open(out, name, '{');
    lks_json_out_u64(out, "count", tally->count);
    lks_json_out_u64(out, "bytes", tally->size);
    lks_json_out_close(out, '}');
}

/* What they hold no store tells. */
static void put_uploads(struct lks_json_out *out, uint64_t count)
{
    lks_json_out_open(out, "uploads", '{');
    lks_json_out_u64(out, "count", count);
    lks_json_out_close(out, '}');
}

void lks_report_sweep(struct lks_json_out *out, const struct lks_sweep *sweep)
{
    static const char *const names[] = {
        [LKS_SWEPT_DATA] = "data",
        [LKS_SWEPT_INDEX] = "index",
        [LKS_SWEPT_MANIFESTS] = "manifests",
        [LKS_SWEPT_WATERMARKS] = "watermarks",
    };
    struct lks_tally all = {0};

    lks_json_out_open(out, "removed", '{');
    for (size_t i = 0; i < LKS_SWEPT_KINDS; i++) {
        put_tally(out, names[i], &sweep->removed[i]);
        all.count += sweep->removed[i].count;
        all.size += sweep->removed[i].size;
    }
    lks_json_out_u64(out, "count", all.count);
    lks_json_out_u64(out, "bytes", all.size);
    put_uploads(out, sweep->aborted_count);
    lks_json_out_close(out, '}');

    lks_json_out_open(out, "left", '{');
    put_tally(out, "in_flight", &sweep->in_flight);
    put_tally(out, "young_manifests", &sweep->young);
    put_tally(out, "unknown", &sweep->unknown);
    if (sweep->unknown.count > 0)
        lks_json_out_text(out, "unknown_such_as", sweep->such_as);
    put_uploads(out, sweep->uploading_count);
    lks_json_out_close(out, '}');
    if (sweep->unseen.status != LKS_OK)
        lks_json_out_text(out, "uploads_unseen", sweep->unseen.message);
    lks_json_out_u64(out, "requests", sweep->request_count);
}
