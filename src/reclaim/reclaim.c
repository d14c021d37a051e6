/*
 * Reclaiming: watermarks, the commit, the sweep, in this order.
 *
 * The commit says for ever what is not needed; only then is anything deleted,
 * and only by what the manifest says. So it may be done by anyone, any number
 * at once, and be killed at any point: whoever comes next goes on.
 * docs/protocol.md, "Reclaim".
 */
#include "reclaim/reclaim.h"

#include "reclaim/reclaim_report.h"

/* Sweeps in a row that another reclaim may overtake. */
#define SWEEP_TRIES 8

struct reclaim {
    struct lks_log log;
    struct lks_claims claims;
    struct lks_sweep sweep;
    bool dry_run;
    uint64_t deadline_ns;
    struct lks_claim claim; /* by the head that the sweep goes by */
    uint64_t first_before;
    uint64_t version;    /* of the head that the sweep goes by */
    uint64_t first_live; /* and what it says, or would say */
};

/* Looks, reads watermarks and, but for a dry run, commits. */
static enum lks_status decide(struct reclaim *reclaim, struct lks_error *error)
{
    struct lks_log *log = &reclaim->log;
    bool is_first = log->head == NULL;
    enum lks_status status = lks_log_look(log, error);

    if (status != LKS_OK)
        return status;
    if (is_first)
        reclaim->first_before = lks_manifest_first_live_step(log->head);
    status = lks_claims_read(&reclaim->claims, log->head, error);
    if (status == LKS_OK && !reclaim->dry_run)
        status = lks_claims_commit(&reclaim->claims, log, reclaim->deadline_ns,
                                   error);
    if (status != LKS_OK)
        return status;
    lks_claims_find(&reclaim->claims, log->head, &reclaim->claim);
    reclaim->version = lks_manifest_version(log->head);
    reclaim->first_live = lks_manifest_first_live_step(log->head);
    if (reclaim->dry_run && reclaim->claim.held)
        reclaim->first_live = reclaim->claim.live;
    return LKS_OK;
}

static enum lks_status sweep_once(struct reclaim *reclaim,
                                  struct lks_error *error)
{
    enum lks_status status;

    lks_sweep_done(&reclaim->sweep);
    status = lks_sweep_init(&reclaim->sweep, &reclaim->log, reclaim->first_live,
                            reclaim->dry_run, error);
    if (status != LKS_OK)
        return status;
    if (lks_manifest_dropped(reclaim->log.head))
        return lks_sweep_dropped(&reclaim->sweep, error);
    return lks_sweep_all(&reclaim->sweep, error);
}

static enum lks_status write_report(const struct reclaim *reclaim,
                                    char **out_json,
                                    struct lks_error *error)
{
    const struct lks_manifest *head = reclaim->log.head;
    struct lks_json_out out;
    enum lks_status status;

    lks_json_out_init(&out);
    lks_json_out_open(&out, NULL, '{');
    lks_json_out_text(&out, "url", reclaim->log.stream->store->url);
    lks_json_out_bool(&out, "dry_run", reclaim->dry_run);
    lks_json_out_u64(&out, "version", reclaim->version);
    lks_json_out_u64(&out, "next_step", lks_manifest_next_step(head));
    lks_json_out_u64(&out, "first_live_step_before", reclaim->first_before);
    lks_json_out_u64(&out, "first_live_step", reclaim->first_live);
    lks_json_out_u64(&out, "claimed",
                     reclaim->claim.held ? reclaim->claim.claimed
                                         : lks_manifest_claimed(head));
    lks_report_holders(&out, &reclaim->claims, head, &reclaim->claim);
    lks_report_sweep(&out, &reclaim->sweep);
    lks_json_out_close(&out, '}');
    status = lks_json_out_take(&out, out_json, error);
    lks_json_out_done(&out);
    return status;
}

enum lks_status lks_reclaim(struct lks_stream *stream,
                            bool dry_run,
                            uint64_t timeout_ms,
                            char **out_json,
                            struct lks_error *error)
{
    struct reclaim reclaim = {.dry_run = dry_run};
    enum lks_status status = LKS_RECLAIMED;

    lks_log_init(&reclaim.log, stream, LKS_LOG_WHOLE, NULL);
    lks_claims_init(&reclaim.claims, stream, NULL);
    reclaim.deadline_ns = lks_env_deadline_ms(stream->env, timeout_ms);
    for (int i = 0; i < SWEEP_TRIES && status == LKS_RECLAIMED; i++) {
        status = decide(&reclaim, error);
        if (status == LKS_OK)
            status = sweep_once(&reclaim, error);
    }
    if (status == LKS_RECLAIMED)
        status = lks_error_set(error, LKS_UNAVAILABLE,
                               "reclaim %s: overtaken %d times",
                               stream->store->url, SWEEP_TRIES);
    if (status == LKS_OK)
        status = write_report(&reclaim, out_json, error);
    lks_sweep_done(&reclaim.sweep);
    lks_claims_done(&reclaim.claims);
    lks_log_done(&reclaim.log);
    return status;
}
