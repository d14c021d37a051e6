/*
 * The commit of a reclaim: it only says what need not stay. Deleting comes
 * after it, and by it.
 *
 * Groups, runs and pins are fields of the manifest, so W is found from the base
 * of the commit itself: whoever joins or pins in between makes the commit lose
 * its race, and W is found anew. docs/protocol.md, "Reclaim".
 */
#include <assert.h>
#include <inttypes.h>

#include "base/trace.h"
#include "manifest/change.h"
#include "manifest/claim.h"
#include "manifest/lookup.h"

/* Bases in a row that another reclaim may overtake. */
#define COMMIT_TRIES 8

struct commit {
    struct lks_claims *claims;
    struct lks_log *log;
    struct lks_lookup lookup;
    struct lks_claim claim; /* of the head that was judged last */
};

static bool is_committed(const struct lks_manifest *head,
                         const struct lks_claim *claim)
{
    return claim->live == lks_manifest_first_live_step(head) &&
           claim->claimed == lks_manifest_claimed(head);
}

static enum lks_status judge(const struct lks_manifest *head,
                             void *arg,
                             bool *out_done,
                             struct lks_error *error)
{
    struct commit *commit = arg;
    struct lks_claims *claims = commit->claims;
    struct lks_claim *claim = &commit->claim;
    enum lks_status status;

    *out_done = lks_manifest_dropped(head);
    if (*out_done)
        return LKS_OK;
    lks_claims_find(claims, head, claim);
    /* Somebody may have read newer watermarks: be sure before going back. */
    if (claim->held && claim->claimed < lks_manifest_claimed(head) &&
        claims->version != lks_manifest_version(head)) {
        status = lks_claims_read(claims, head, error);
        if (status != LKS_OK)
            return status;
        lks_claims_find(claims, head, claim);
    }
    *out_done = !claim->held || is_committed(head, claim);
    return LKS_OK;
}

/* The bytes of all steps below `step`, which is live or the next. */
static enum lks_status bytes_below(struct commit *commit,
                                   uint64_t step,
                                   uint64_t *out_bytes,
                                   struct lks_error *error)
{
    const struct lks_manifest *head = commit->log->head;
    struct lks_entry entry;
    enum lks_status status;

    if (step == lks_manifest_first_live_step(head)) {
        *out_bytes =
            lks_manifest_total_bytes(head) - lks_manifest_live_bytes(head);
        return LKS_OK;
    }
    status =
        lks_lookup_entry(&commit->lookup, commit->log, step - 1, &entry, error);
    if (status == LKS_OK)
        *out_bytes = entry.total;
    return status;
}

static enum lks_status apply(struct lks_manifest *next,
                             void *arg,
                             struct lks_error *error)
{
    struct commit *commit = arg;
    const struct lks_claim *claim = &commit->claim;
    uint64_t claimed_bytes;
    uint64_t live_bytes;
    enum lks_status status;

    status = bytes_below(commit, claim->live, &live_bytes, error);
    if (status == LKS_OK)
        status = bytes_below(commit, claim->claimed, &claimed_bytes, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_set_first_live(next, claim->live, live_bytes);
    lks_manifest_set_claimed(next, claim->claimed, claimed_bytes);
    LKS_TRACE(LKS_AREA_RECLAIM,
              "first live step %" PRIu64 ", claimed from %" PRIu64
              ", in version %" PRIu64,
              claim->live, claim->claimed, lks_manifest_version(next));
    return LKS_OK;
}

enum lks_status lks_claims_commit(struct lks_claims *claims,
                                  struct lks_log *log,
                                  uint64_t deadline_ns,
                                  struct lks_error *error)
{
    struct commit commit = {.claims = claims, .log = log};
    const struct lks_change change = {
        .what = "reclaim",
        .judge = judge,
        .apply = apply,
        .arg = &commit,
    };
    enum lks_status status = LKS_RECLAIMED;

    assert(log->view == LKS_LOG_WHOLE);

    lks_lookup_init(&commit.lookup, log->stream, log->cancel);
    /* A block that another reclaim took meanwhile makes a newer look due. */
    for (int i = 0; i < COMMIT_TRIES && status == LKS_RECLAIMED; i++)
        status = lks_log_change(log, &change, deadline_ns, error);
    if (status == LKS_RECLAIMED)
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "reclaim %s: overtaken %d times",
                               log->stream->store->url, COMMIT_TRIES);
    lks_lookup_done(&commit.lookup);
    return status;
}
