/*
 * Pins and limits: fields of the manifest, so that none can race a reclaim.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/lifecycle.h"
#include "manifest/lookup.h"
#include "reclaim/change_log.h"
#include "reclaim/reclaim.h"

#define WHAT_SIZE (LKS_PRODUCER_ID_SIZE_MAX + 32u)

struct pin {
    const struct lks_stream *stream;
    const char *name;
    uint64_t step;
    bool seen; /* on any head so far */
};

/* ---------------------------------------------------------------- pins -- */

static enum lks_status judge_pin(const struct lks_manifest *head,
                                 void *arg,
                                 bool *out_done,
                                 struct lks_error *error)
{
    const struct pin *pin = arg;
    uint64_t first = lks_manifest_first_live_step(head);
    uint64_t next = lks_manifest_next_step(head);
    struct lks_pin_record record;
    enum lks_status status = lks_change_check(head, error);

    if (status != LKS_OK)
        return status;
    if (lks_manifest_find_pin(head, pin->name, &record) &&
        record.step == pin->step) {
        *out_done = true;
        return LKS_OK;
    }
    if (pin->step < first)
        return lks_lookup_reclaimed(pin->stream, pin->step, first, error);
    if (pin->step > next)
        return lks_error_set(error, LKS_INVALID,
                             "step %" PRIu64 " cannot be pinned yet: the next "
                             "step is %" PRIu64,
                             pin->step, next);
    return LKS_OK;
}

static enum lks_status apply_pin(struct lks_manifest *next,
                                 void *arg,
                                 struct lks_error *error)
{
    const struct pin *pin = arg;

    return lks_manifest_put_pin(next, pin->name, pin->step, error);
}

enum lks_status lks_pin(struct lks_stream *stream,
                        const char *name,
                        uint64_t step,
                        uint64_t timeout_ms,
                        struct lks_error *error)
{
    struct pin pin = {.stream = stream, .name = name, .step = step};
    char what[WHAT_SIZE];
    const struct lks_change change = {what, judge_pin, apply_pin, &pin};

    snprintf(what, sizeof(what), "pin %s", name);
    return lks_change_stream(stream, &change, timeout_ms, error);
}

/* Gone is done, but for one that never was. */
static enum lks_status judge_unpin(const struct lks_manifest *head,
                                   void *arg,
                                   bool *out_done,
                                   struct lks_error *error)
{
    struct pin *pin = arg;
    struct lks_pin_record record;
    enum lks_status status = lks_change_check(head, error);

    if (status != LKS_OK)
        return status;
    *out_done = !lks_manifest_find_pin(head, pin->name, &record);
    if (*out_done && !pin->seen)
        return lks_error_set(error, LKS_NOT_FOUND, "there is no pin %s",
                             pin->name);
    pin->seen = true;
    return LKS_OK;
}

static enum lks_status apply_unpin(struct lks_manifest *next,
                                   void *arg,
                                   struct lks_error *error)
{
    const struct pin *pin = arg;

    (void)error;
    lks_manifest_remove_pin(next, pin->name);
    return LKS_OK;
}

enum lks_status lks_unpin(struct lks_stream *stream,
                          const char *name,
                          uint64_t timeout_ms,
                          struct lks_error *error)
{
    struct pin pin = {.name = name};
    char what[WHAT_SIZE];
    const struct lks_change change = {what, judge_unpin, apply_unpin, &pin};

    snprintf(what, sizeof(what), "unpin %s", name);
    return lks_change_stream(stream, &change, timeout_ms, error);
}

/* -------------------------------------------------------------- limits -- */

struct limit {
    const uint64_t *max_live_steps;
    const uint64_t *max_live_bytes;
};

/* What the limits become on this manifest. */
static void find_limits(const struct limit *limit,
                        const struct lks_manifest *manifest,
                        uint64_t *out_steps,
                        uint64_t *out_bytes)
{
    *out_steps = limit->max_live_steps != NULL
                     ? *limit->max_live_steps
                     : lks_manifest_max_live_steps(manifest);
    *out_bytes = limit->max_live_bytes != NULL
                     ? *limit->max_live_bytes
                     : lks_manifest_max_live_bytes(manifest);
}

static enum lks_status judge_limit(const struct lks_manifest *head,
                                   void *arg,
                                   bool *out_done,
                                   struct lks_error *error)
{
    enum lks_status status = lks_change_check(head, error);
    uint64_t steps;
    uint64_t bytes;

    if (status != LKS_OK)
        return status;
    find_limits(arg, head, &steps, &bytes);
    *out_done = steps == lks_manifest_max_live_steps(head) &&
                bytes == lks_manifest_max_live_bytes(head);
    return LKS_OK;
}

static enum lks_status apply_limit(struct lks_manifest *next,
                                   void *arg,
                                   struct lks_error *error)
{
    uint64_t steps;
    uint64_t bytes;

    find_limits(arg, next, &steps, &bytes);
    return lks_manifest_set_limits(next, steps, bytes, error);
}

enum lks_status lks_limit(struct lks_stream *stream,
                          const uint64_t *max_live_steps,
                          const uint64_t *max_live_bytes,
                          uint64_t timeout_ms,
                          struct lks_error *error)
{
    struct limit limit = {max_live_steps, max_live_bytes};
    const struct lks_change change = {"limit", judge_limit, apply_limit,
                                      &limit};

    return lks_change_stream(stream, &change, timeout_ms, error);
}
