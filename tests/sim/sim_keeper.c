/*
 * Those who keep house, by the public functions: processes that reclaim, that
 * pin and unpin, that evict; and the last one, who reclaims when all is done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/sim_run.h"
#include "sim/sim_team.h"

#define PIN_NAMES 3u
#define NEAR_STEPS 3u
#define EVICT_MEAN_S 10.0
#define TIMEOUT_MS 120000u
#define LAST_TRIES 20u

static struct lks_options *keeper_options(void)
{
    struct lks_options *options = sim_options_new();

    sim_options_set(options, "flush_timeout_ms", TIMEOUT_MS);
    return options;
}

/* ---------------------------------------------------------- reclaiming -- */

static enum lks_status reclaim_once(struct sim_job *job,
                                    struct lks_stream *stream,
                                    bool dry_run)
{
    struct lks_options *options = keeper_options();
    struct lks_error error;
    char *json = NULL;
    enum lks_status status =
        lks_stream_reclaim(stream, dry_run, options, &json, &error);

    if (status == LKS_OK) {
        sim_trace(job->run->world, "reclaimed: %s", json);
        lks_text_free(json);
    } else {
        sim_job_judge(job, &error);
    }
    lks_options_free(options);
    return status;
}

void sim_keep(void *arg)
{
    struct sim_job *job = arg;
    struct lks_stream *stream = sim_job_stream(job);

    while (!job->done) {
        sim_job_sleep(job, job->run->knobs.reclaim_mean_s);
        reclaim_once(job, stream, sim_random_chance(&job->run->random, 0.1));
    }
    lks_stream_close(stream);
}

/* ---------------------------------------------------------------- pins -- */

/* Near the first live step, where a reclaim is about to be. */
static uint64_t choose_step(struct sim_job *job)
{
    struct sim_truth *truth = &job->run->truth;
    uint64_t first = truth->life.first_live;
    uint64_t room = truth->step_count - first;

    if (room > NEAR_STEPS && sim_random_chance(&job->run->random, 0.7))
        room = NEAR_STEPS;
    return first + sim_random_below(&job->run->random, room + 1);
}

/* Unpins; whoever had the job before may have left the pin, or not. */
static bool unpin(struct sim_job *job,
                  struct lks_stream *stream,
                  const char *name)
{
    struct sim_vow *vow = sim_truth_vow(&job->run->truth, name);
    struct lks_options *options = keeper_options();
    struct lks_error error;
    enum lks_status status;
    bool was_given = vow->name[0] != '\0';

    vow->name[0] = '\0';
    status = lks_stream_unpin(stream, name, options, &error);
    lks_options_free(options);
    if (status == LKS_NOT_FOUND && was_given && !job->run->truth.life.dropped)
        sim_fail(job->run->world, SIM_SAFE, "pin %s is gone", name);
    if (status != LKS_OK && status != LKS_NOT_FOUND)
        sim_job_judge(job, &error);
    return status == LKS_OK || status == LKS_NOT_FOUND;
}

/* What is pinned can be read. */
static void read_pinned(struct sim_job *job,
                        struct lks_stream *stream,
                        uint64_t step)
{
    struct lks_batch *batch = NULL;
    struct lks_error error;
    struct lks_slice slice;
    enum lks_status status;

    if (step >= job->run->truth.step_count)
        return;
    status = lks_stream_get(stream, step, 0, &batch, &error);
    if (status == LKS_RECLAIMED) {
        if (!job->run->truth.life.dropped)
            sim_fail(job->run->world, SIM_SAFE, "a pinned step is gone: %s",
                     error.message);
        return;
    }
    if (status != LKS_OK) {
        sim_job_judge(job, &error);
        return;
    }
    slice = lks_batch_slice(batch, 0);
    sim_truth_check_slice(&job->run->truth, step, 0, slice.data, slice.size);
    lks_batch_release(batch);
}

static bool pin(struct sim_job *job,
                struct lks_stream *stream,
                const char *name,
                uint64_t step)
{
    struct lks_options *options = keeper_options();
    struct sim_vow *vow;
    struct lks_error error;
    enum lks_status status =
        lks_stream_pin(stream, name, step, options, &error);

    lks_options_free(options);
    if (status == LKS_RECLAIMED) {
        sim_truth_check_reclaimed(&job->run->truth, step, job->name);
        return false;
    }
    if (status != LKS_OK) {
        sim_job_judge(job, &error);
        return false;
    }
    vow = sim_truth_vow(&job->run->truth, name);
    snprintf(vow->name, sizeof(vow->name), "%s", name);
    vow->step = step;
    return true;
}

void sim_pin(void *arg)
{
    struct sim_job *job = arg;
    struct lks_stream *stream = sim_job_stream(job);
    char name[SIM_NAME_SIZE + 16];

    while (!job->done) {
        uint64_t step = choose_step(job);

        snprintf(name, sizeof(name), "%s-%u", job->name,
                 (unsigned int)sim_random_below(&job->run->random, PIN_NAMES));
        while (!unpin(job, stream, name))
            sim_job_sleep(job, 1.0);
        sim_job_sleep(job, 1.0);
        if (pin(job, stream, name, step)) {
            sim_job_sleep(job, job->run->knobs.pin_mean_s);
            read_pinned(job, stream, step);
        }
        sim_job_sleep(job, job->run->knobs.pin_mean_s);
    }
    lks_stream_close(stream);
}

/* ------------------------------------------------------------ evicting -- */

/* The first producer never comes back once its machine is lost: it is evicted
 * until it counts as finished and nobody plays it any more. */
void sim_evict(void *arg)
{
    struct sim_job *job = arg;
    struct sim_run *run = job->run;
    struct sim_job *lost = &run->jobs[0];
    struct lks_stream *stream = sim_job_stream(job);
    struct lks_options *options = keeper_options();
    const struct sim_seat *seat;

    do {
        sim_job_sleep(job, run->knobs.evict_mean_s);
        seat = sim_truth_seat(&run->truth, lost->name);
    } while (seat == NULL);
    if (!lost->done) {
        run->truth.lost = lost->name;
        sim_job_done(lost);
    }
    while (lost->live_count > 0 || !seat->finished) {
        struct lks_error error;
        enum lks_status status =
            lks_stream_evict_producer(stream, lost->name, options, &error);

        if (status != LKS_OK)
            sim_job_judge(job, &error);
        sim_job_sleep(job, EVICT_MEAN_S);
    }
    sim_job_done(job);
    lks_options_free(options);
    lks_stream_close(stream);
}

/* The first job does not come back, or a rank of it: whoever sees that evicts
 * what is lost. */
void sim_evict_team(void *arg)
{
    struct sim_job *job = arg;
    struct sim_team *team = &job->run->teams[0];
    struct lks_stream *stream = sim_job_stream(job);
    struct lks_options *options = keeper_options();
    uint32_t rank;

    sim_job_sleep(job, job->run->knobs.team_evict_s);
    while (!job->done) {
        struct lks_error error;
        enum lks_status status = LKS_OK;

        if (sim_team_lose(team, &rank))
            status = lks_stream_evict_group(stream, team->group, rank, options,
                                            &error);
        if (status == LKS_OK || status == LKS_NOT_FOUND) {
            sim_team_evicted(team);
            sim_job_done(job);
        } else {
            sim_job_judge(job, &error);
            sim_job_sleep(job, EVICT_MEAN_S);
        }
    }
    lks_options_free(options);
    lks_stream_close(stream);
}

/* ------------------------------------------------------------ dropping -- */

static enum lks_status drop_once(struct sim_job *job, struct lks_stream *stream)
{
    struct lks_options *options = keeper_options();
    struct lks_error error;
    char *json = NULL;
    enum lks_status status =
        lks_stream_drop(stream, true, options, &json, &error);

    job->run->drops = true;
    if (status != LKS_OK)
        sim_job_judge(job, &error);
    else if (!job->run->truth.life.dropped)
        sim_fail(job->run->world, SIM_DURABLE,
                 "%s was told that the stream is dropped, and it is not",
                 job->name);
    lks_text_free(json);
    lks_options_free(options);
    return status;
}

/* The others find out by themselves; a while later they are through with it. */
void sim_drop(void *arg)
{
    struct sim_job *job = arg;
    struct lks_stream *stream = sim_job_stream(job);

    sim_job_sleep(job, job->run->knobs.drop_s);
    while (drop_once(job, stream) != LKS_OK)
        sim_job_sleep(job, 1.0);
    sim_job_sleep(job, job->run->knobs.drop_s);
    sim_job_done(job);
    sim_run_dropped(job->run);
    lks_stream_close(stream);
}

/* ---------------------------------------------------------------- last -- */

static void unpin_all(struct sim_job *job, struct lks_stream *stream)
{
    struct lks_manifest *head = job->run->truth.life.head;

    while (head != NULL && lks_manifest_pin_count(head) > 0) {
        struct lks_pin_record record;
        char name[LKS_PRODUCER_ID_SIZE_MAX + 1];

        lks_manifest_pin(head, 0, &record);
        snprintf(name, sizeof(name), "%s", record.name);
        unpin(job, stream, name);
        head = job->run->truth.life.head;
    }
}

void sim_sweep_last(void *arg)
{
    struct sim_job *job = arg;
    struct lks_stream *stream = sim_job_stream(job);
    enum lks_status status = LKS_UNAVAILABLE;

    if (!job->run->drops)
        unpin_all(job, stream);
    for (uint32_t i = 0; i < LAST_TRIES && status != LKS_OK; i++)
        status = job->run->drops ? drop_once(job, stream)
                                 : reclaim_once(job, stream, false);
    if (status != LKS_OK)
        sim_fail(job->run->world, SIM_LIVE, "nobody can reclaim");
    sim_truth_check_swept(&job->run->truth);
    lks_stream_close(stream);
    sim_run_swept(job->run);
}
