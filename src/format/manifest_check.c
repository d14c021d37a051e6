/*
 * Whether a decoded manifest can be true.
 *
 * The checksums have shown by now that the bytes are what somebody wrote. What
 * is checked here keeps a wrong or hostile writer from leading a reader out of
 * bounds, or a committer into building on nonsense.
 */
#include "format/manifest_inside.h"

#include <inttypes.h>
#include <string.h>

#include "format/lifecycle.h"

static enum lks_status corrupt(const char *problem, struct lks_error *error)
{
    return lks_error_set(error, LKS_CORRUPT, "the manifest is wrong: %s",
                         problem);
}

/* What is off with the steps; NULL: nothing. */
static const char *steps_problem(const Lks__ManifestHead *head)
{
    uint64_t block;

    if (head->next_step > LKS_STEP_MAX)
        return "next_step is too large";
    if (head->first_step > head->next_step)
        return "first_step is beyond next_step";
    if (head->first_live_step > head->next_step)
        return "first_live_step is beyond next_step";
    if (head->first_live_step < head->first_step)
        return "first_live_step is before the first step";
    if (head->claimed > head->next_step)
        return "claimed is beyond next_step";
    if (head->ended ? head->ended_at != head->next_step : head->ended_at != 0)
        return "ended_at is not where it ended";

    if (head->n_tail > head->next_step - head->first_step ||
        head->n_tail > LKS_BLOCK_STEPS)
        return "its tail is too long";
    /* The tail is what there is of the block that next_step is in, or all that
     * there is of the one that it has just filled. */
    block = head->next_step;
    if (head->n_tail > 0)
        block--;
    block -= block % LKS_BLOCK_STEPS;
    if (block < head->first_step)
        block = head->first_step;
    if (head->next_step - head->n_tail != block)
        return "its tail does not begin at a block";
    return NULL;
}

static const char *bytes_problem(const Lks__ManifestHead *head)
{
    if (head->total_bytes > LKS_STEP_MAX)
        return "total_bytes is too large";
    if (head->reclaimed_bytes > head->total_bytes)
        return "reclaimed_bytes is more than total_bytes";
    if (head->claimed_bytes > head->total_bytes)
        return "claimed_bytes is more than total_bytes";
    if (head->n_tail > 0 &&
        head->tail[head->n_tail - 1]->total != head->total_bytes)
        return "total_bytes is not the last entry's total";
    return NULL;
}

enum lks_status lks_manifest_check_head(const struct lks_manifest *manifest,
                                        struct lks_error *error)
{
    const Lks__ManifestHead *head = manifest->head;
    struct lks_entries tail;
    enum lks_status status;
    const char *problem;

    status = lks_required_check(head->n_required, head->required, error);
    if (status != LKS_OK)
        return status;
    problem = steps_problem(head);
    if (problem == NULL)
        problem = bytes_problem(head);
    if (problem != NULL)
        return corrupt(problem, error);
    tail = lks_manifest_tail(manifest);
    return lks_entries_check(&tail, manifest->version, error);
}

static const char *run_problem(const Lks__Run *run)
{
    if (run == NULL || !lks_id_is_valid(run->id))
        return "a group has no run";
    if (run->ranks == 0)
        return "a run has no ranks";
    return NULL;
}

static const char *groups_problem(const Lks__ManifestControl *control)
{
    if (control->n_groups > LKS_GROUPS_MAX)
        return "it has too many groups";
    for (size_t i = 0; i < control->n_groups; i++) {
        const Lks__Group *group = control->groups[i];
        const char *problem = run_problem(group->run);

        if (problem != NULL)
            return problem;
        if (!lks_id_is_valid(group->name))
            return "a group's name is none";
        if (i > 0 && strcmp(control->groups[i - 1]->name, group->name) >= 0)
            return "its groups are out of order";
        if (group->n_former_ids > LKS_FORMER_IDS_MAX)
            return "a group has too many former runs";
        for (size_t k = 0; k < group->n_former_ids; k++) {
            if (!lks_id_is_valid(group->former_ids[k]))
                return "a group's former run has no valid id";
        }
    }
    return NULL;
}

static const char *pins_problem(const Lks__ManifestControl *control)
{
    if (control->n_pins > LKS_PINS_MAX)
        return "it has too many pins";
    for (size_t i = 0; i < control->n_pins; i++) {
        const Lks__Pin *pin = control->pins[i];

        if (!lks_id_is_valid(pin->name))
            return "a pin's name is none";
        if (i > 0 && strcmp(control->pins[i - 1]->name, pin->name) >= 0)
            return "its pins are out of order";
    }
    return NULL;
}

enum lks_status lks_manifest_check_control(const struct lks_manifest *manifest,
                                           struct lks_error *error)
{
    const Lks__ManifestControl *control = manifest->control;
    const char *problem = NULL;

    if (control->n_producers > LKS_PRODUCERS_MAX)
        problem = "it has too many producers";
    else if (control->ring != NULL && control->ring->last[0] != '\0' &&
             !lks_id_is_valid(control->ring->last))
        problem = "its ring names no producer";
    if (problem == NULL)
        problem = groups_problem(control);
    if (problem == NULL)
        problem = pins_problem(control);
    if (problem != NULL)
        return corrupt(problem, error);
    return lks_producers_check(control->producers, control->n_producers, error);
}
