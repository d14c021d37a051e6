/*
 * Stand-ins for those who are not built yet or never shown: a process that
 * deletes old manifests, by the rule of docs/protocol.md or by naive ones, and
 * one that only looks which manifest is the newest.
 */
#include <stdlib.h>
#include <string.h>

#include "manifest/log.h"
#include "sim/sim_run.h"

/* Whether the manifest at `place` of the listing, newest first, may go. */
static bool may_delete(const struct sim_knobs *knobs,
                       const struct lks_listed *listed,
                       size_t place,
                       int64_t date_ms)
{
    int64_t y_ms = (int64_t)knobs->reclaim_y_ms;

    if (place == 0)
        return false;
    switch (knobs->reclaim_rule) {
    case SIM_RECLAIM_SUCCESSOR:
        return date_ms - listed[place - 1].modified_ms > y_ms;
    case SIM_RECLAIM_OWN:
        return date_ms - listed[place].modified_ms > y_ms;
    case SIM_RECLAIM_EAGER:
        return true;
    }
    return false;
}

static void sweep(struct sim_job *job,
                  struct lks_stream *stream,
                  struct lks_listed *listed)
{
    const char *keys[LKS_LIST_MAX];
    struct lks_call call = LKS_CALL_INIT;
    char prefix[LKS_NAME_SIZE];
    size_t count = 0;
    size_t key_count = 0;

    call.want_date = true;
    lks_manifest_prefix(stream->descriptor.stream, prefix);
    if (lks_store_list(stream->store, prefix, "", LKS_LIST_MAX, listed, &count,
                       &call, NULL) != LKS_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (may_delete(&job->run->knobs, listed, i, call.date_ms))
            keys[key_count++] = listed[i].key;
    }
    if (key_count > 0)
        lks_store_remove(stream->store, keys, key_count, NULL, NULL);
}

void sim_reclaim(void *arg)
{
    struct sim_job *job = arg;
    struct lks_stream *stream = sim_job_stream(job);
    struct lks_listed *listed = calloc(LKS_LIST_MAX, sizeof(*listed));

    if (listed == NULL)
        abort();
    while (!job->done) {
        sim_job_sleep(job, job->run->knobs.reclaim_mean_s);
        sweep(job, stream, listed);
    }
    free(listed);
    lks_stream_close(stream);
}

void sim_watch(void *arg)
{
    struct sim_job *job = arg;
    struct sim_truth *truth = &job->run->truth;
    struct lks_stream *stream = sim_job_stream(job);
    struct lks_log log;

    lks_log_init(&log, stream,
                 job->number % 2 == 0 ? LKS_LOG_HEAD : LKS_LOG_WHOLE, NULL);
    while (!job->done) {
        uint64_t version = truth->version;
        struct lks_error error;
        enum lks_status status = lks_log_look(&log, &error);

        if (status == LKS_OK)
            sim_truth_check_look(truth, version, log.head);
        else
            sim_job_judge(job, &error);
        sim_job_sleep(job, job->run->knobs.watch_mean_s);
    }
    lks_log_done(&log);
    lks_stream_close(stream);
}
