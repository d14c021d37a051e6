/*
 * Groups, pins and lineage for people: above all, who holds the stream back.
 */
#include "inspect/info_life.h"

#include <string.h>

static bool is_behind(const struct lks_claims *claims,
                      const struct lks_group_record *group,
                      uint32_t rank,
                      uint64_t step)
{
    return !lks_group_rank_is_evicted(group, rank) &&
           lks_claims_of_rank(claims, group, rank) == step;
}

/* The ranks at the group's step, if there are others ahead of it: in a job that
 * checkpoints together, those are late, or dead. */
static void put_stalled(struct lks_json_out *out,
                        const struct lks_claims *claims,
                        const struct lks_group_record *group,
                        uint64_t step)
{
    uint32_t behind_count = 0;
    uint32_t shown_count = 0;

    for (uint32_t rank = 0; rank < group->run.ranks; rank++)
        behind_count += is_behind(claims, group, rank, step);
    lks_json_out_open(out, "stalled", '[');
    if (behind_count + group->evicted_count < group->run.ranks) {
        for (uint32_t rank = 0; rank < group->run.ranks; rank++) {
            if (shown_count < LKS_INFO_RANKS_MAX &&
                is_behind(claims, group, rank, step)) {
                lks_json_out_u64(out, NULL, rank);
                shown_count++;
            }
        }
    }
    lks_json_out_close(out, ']');
}

static void put_evicted(struct lks_json_out *out,
                        const struct lks_group_record *group)
{
    lks_json_out_open(out, "evicted", '[');
    for (size_t i = 0; i < group->evicted_count; i++)
        lks_json_out_u64(out, NULL, group->evicted[i]);
    lks_json_out_close(out, ']');
}

static void put_group(struct lks_json_out *out,
                      const struct lks_manifest *head,
                      const struct lks_claims *claims,
                      const struct lks_group_record *group)
{
    uint64_t next = lks_manifest_next_step(head);
    uint64_t step = next;
    bool counts = lks_claims_of_group(claims, group, &step);

    lks_json_out_open(out, NULL, '{');
    lks_json_out_text(out, "name", group->name);
    lks_json_out_text(out, "run", group->run.id);
    lks_json_out_u64(out, "attempt", group->run.attempt);
    lks_json_out_u64(out, "ranks", group->run.ranks);
    lks_json_out_u64(out, "floor", group->run.floor);
    if (counts) {
        lks_json_out_u64(out, "step", step);
        lks_json_out_u64(out, "lag", step < next ? next - step : 0);
    } else {
        lks_json_out_null(out, "step");
        lks_json_out_null(out, "lag");
    }
    put_stalled(out, claims, group, step);
    put_evicted(out, group);
    lks_json_out_close(out, '}');
}

void lks_info_put_groups(struct lks_json_out *out,
                         const struct lks_manifest *head,
                         const struct lks_claims *claims)
{
    lks_json_out_open(out, "groups", '[');
    for (uint32_t i = 0; i < lks_manifest_group_count(head); i++) {
        struct lks_group_record group;

        lks_manifest_group(head, i, &group);
        put_group(out, head, claims, &group);
    }
    lks_json_out_close(out, ']');
}

void lks_info_put_pins(struct lks_json_out *out,
                       const struct lks_manifest *head)
{
    lks_json_out_open(out, "pins", '[');
    for (uint32_t i = 0; i < lks_manifest_pin_count(head); i++) {
        struct lks_pin_record pin;

        lks_manifest_pin(head, i, &pin);
        lks_json_out_open(out, NULL, '{');
        lks_json_out_text(out, "name", pin.name);
        lks_json_out_u64(out, "step", pin.step);
        lks_json_out_close(out, '}');
    }
    lks_json_out_close(out, ']');
}

void lks_info_put_lineage(struct lks_json_out *out,
                          const struct lks_descriptor *descriptor)
{
    const char *ancestors = descriptor->ancestors;

    if (descriptor->parent_url != NULL)
        lks_json_out_text(out, "parent", descriptor->parent_url);
    else
        lks_json_out_null(out, "parent");
    lks_json_out_open(out, "lineage", '[');
    if (descriptor->parent_url != NULL) {
        lks_json_out_open(out, NULL, '{');
        lks_json_out_text(out, "url", descriptor->parent_url);
        lks_json_out_hex(out, "stream", descriptor->parent_stream, LKS_ID_SIZE);
        lks_json_out_u64(out, "step", descriptor->first_step);
        lks_json_out_close(out, '}');
    }
    /* An array of objects, and not an empty one: without its brackets. */
    if (ancestors != NULL)
        lks_json_out_raw(out, ancestors + 1, strlen(ancestors) - 2);
    lks_json_out_close(out, ']');
}
