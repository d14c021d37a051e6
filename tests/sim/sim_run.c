/*
 * A run: makes the stream, starts a process per job, and starts those again
 * that end before their job is done. Now and then one is killed, or a second
 * one started beside the first.
 */
#include "sim/sim_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/stream.h"
#include "sim/sim_team.h"

#define RESTART_MEAN_S 5.0
#define START_MAX_S 5.0
#define GRACE_S 3600.0
#define QUIET_S 7200.0 /* then whatever was on its way has landed */

static uint64_t ns_of(double seconds)
{
    return (uint64_t)(seconds * (double)LKS_NS_PER_S);
}

/* ---------------------------------------------------------------- jobs -- */

static void job_start(void *arg);

static void start_in(struct sim_job *job, double seconds)
{
    struct sim_world *world = job->run->world;

    sim_world_at(world, world->now_ns + ns_of(seconds), job_start, job);
}

static void job_ended(struct sim_process *process, void *arg)
{
    struct sim_job *job = arg;

    (void)process;
    job->live_count--;
    if (!job->done && job->live_count == 0)
        start_in(job,
                 sim_random_exponential(&job->run->random, RESTART_MEAN_S));
}

static void job_start(void *arg)
{
    struct sim_job *job = arg;

    if (job->done)
        return;
    job->live_count++;
    sim_process_start(job->run->world, job->name, job->main, job, job_ended,
                      job);
}

/* Everybody else is gone, and whatever they had sent has landed. */
static void sweep_last(void *arg)
{
    struct sim_run *run = arg;

    run->last = (struct sim_job){.run = run, .name = "last"};
    sim_process_start(run->world, run->last.name, sim_sweep_last, &run->last,
                      job_ended, &run->last);
}

static void end_all(void *arg)
{
    struct sim_run *run = arg;
    struct sim_process *process;

    for (uint32_t i = 0; i < run->job_count; i++)
        run->jobs[i].done = true;
    for (process = run->world->processes; process != NULL;
         process = process->next)
        sim_process_kill(process);
    sim_world_at(run->world, run->world->now_ns + ns_of(QUIET_S), sweep_last,
                 run);
}

void sim_run_swept(struct sim_run *run)
{
    run->last.done = true;
    sim_world_stop(run->world);
}

void sim_run_dropped(struct sim_run *run)
{
    run->left_count = 1;
    sim_run_count_down(run);
    run->left_count = UINT32_MAX; /* Whoever is done now counts no more. */
}

void sim_run_count_down(struct sim_run *run)
{
    struct sim_world *world = run->world;
    uint64_t calm_ns = ns_of(run->knobs.faults_s);

    if (--run->left_count > 0)
        return;
    if (run->knobs.keeper_count == 0)
        sim_world_stop(world);
    else
        sim_world_at(world, world->now_ns > calm_ns ? world->now_ns : calm_ns,
                     end_all, run);
}

void sim_job_done(struct sim_job *job)
{
    struct sim_run *run = job->run;

    if (job->done)
        return;
    sim_trace(run->world, "%s is done", job->name);
    job->done = true;
    if (job->essential)
        sim_run_count_down(run);
}

struct sim_process *sim_job_process(const struct sim_job *job)
{
    return sim_process_current(job->run->world);
}

void sim_job_sleep(struct sim_job *job, double mean_s)
{
    struct sim_process *process = sim_job_process(job);

    sim_seam(process);
    lks_env_sleep_ns(&process->env,
                     ns_of(sim_random_exponential(&job->run->random, mean_s)));
}

struct lks_stream *sim_job_stream(struct sim_job *job)
{
    for (;;) {
        struct lks_stream *stream = NULL;
        struct lks_error error;
        struct lks_store *store =
            sim_bucket_store(&job->run->bucket, sim_job_process(job));
        enum lks_status status = lks_stream_load(store, &stream, &error);

        if (status == LKS_OK)
            return stream;
        sim_job_judge(job, &error);
        sim_job_sleep(job, 1.0);
    }
}

void sim_job_judge(struct sim_job *job, const struct lks_error *error)
{
    sim_trace(job->run->world, "%s: %s", lks_status_name(error->status),
              error->message);
    switch (error->status) {
    case LKS_UNAVAILABLE:
    case LKS_TIMEOUT:
    case LKS_FENCED:
    case LKS_ENDED:
        return;
    case LKS_NOT_FOUND:
        if (job->run->truth.life.dropped)
            return;
        /* fall through */
    default:
        sim_fail(job->run->world, SIM_ATOMIC, "%s: %s",
                 lks_status_name(error->status), error->message);
    }
}

struct lks_options *sim_options_new(void)
{
    struct lks_options *options = NULL;

    if (lks_options_new(&options, NULL) != LKS_OK)
        abort();
    return options;
}

void sim_options_set(struct lks_options *options,
                     const char *name,
                     uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    sim_options_set_text(options, name, text);
}

void sim_options_set_text(struct lks_options *options,
                          const char *name,
                          const char *value)
{
    struct lks_error error;

    if (lks_options_set(options, name, value, &error) != LKS_OK) {
        fprintf(stderr, "sim: %s\n", error.message);
        abort();
    }
}

/* --------------------------------------------------------------- chaos -- */

static bool chaos_is_over(const struct sim_run *run)
{
    return run->world->now_ns >= ns_of(run->knobs.faults_s);
}

static void twin_later(struct sim_run *run);
static void kill_later(struct sim_run *run);

static void start_twin(void *arg)
{
    struct sim_run *run = arg;

    if (chaos_is_over(run))
        return;
    job_start(
        &run->jobs[sim_random_below(&run->random, run->knobs.producer_count)]);
    twin_later(run);
}

static void twin_later(struct sim_run *run)
{
    if (run->knobs.twin_mean_s > 0)
        sim_world_at(run->world,
                     run->world->now_ns +
                         ns_of(sim_random_exponential(&run->random,
                                                      run->knobs.twin_mean_s)),
                     start_twin, run);
}

static void kill_one(void *arg)
{
    struct sim_run *run = arg;
    struct sim_process *process;
    struct sim_process *picked = NULL;
    uint64_t count = 0;

    if (chaos_is_over(run))
        return;
    for (process = run->world->processes; process != NULL;
         process = process->next) {
        if (process->state != SIM_DEAD &&
            sim_random_below(&run->random, ++count) == 0)
            picked = process;
    }
    if (picked != NULL)
        sim_process_kill(picked);
    kill_later(run);
}

static void kill_later(struct sim_run *run)
{
    if (run->knobs.kill_mean_s > 0)
        sim_world_at(run->world,
                     run->world->now_ns +
                         ns_of(sim_random_exponential(&run->random,
                                                      run->knobs.kill_mean_s)),
                     kill_one, run);
}

/* --------------------------------------------------------------- a run -- */

static void add_jobs(struct sim_run *run,
                     const char *kind,
                     uint32_t count,
                     lks_thread_fn *main,
                     bool essential)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_job *job = &run->jobs[run->job_count++];

        *job = (struct sim_job){
            .run = run,
            .number = i,
            .main = main,
            .essential = essential,
        };
        snprintf(job->name, sizeof(job->name), "%s%u", kind, i);
        run->left_count += essential;
        start_in(job, START_MAX_S * sim_random_unit(&run->random));
    }
}

static void add_teams(struct sim_run *run)
{
    run->teams = calloc(run->knobs.team_count + 1, sizeof(*run->teams));
    if (run->teams == NULL)
        abort();
    for (uint32_t i = 0; i < run->knobs.team_count; i++) {
        struct sim_team *team = &run->teams[i];

        team->run = run;
        snprintf(team->group, sizeof(team->group), "team%u", i);
        run->left_count++;
        sim_world_at(run->world, ns_of(run->knobs.team_later_s * i + 1),
                     sim_team_start, team);
    }
}

static void plant_stream(struct sim_run *run)
{
    struct lks_descriptor descriptor = {
        .format = LKS_FORMAT_VERSION,
        .dp = run->knobs.dp,
        .cp = run->knobs.cp,
        .producers_to_end = run->knobs.producer_count,
        .max_live_steps = run->knobs.max_live_steps,
        .max_live_bytes = run->knobs.max_live_bytes,
        .created_ms = SIM_EPOCH_MS,
    };
    struct lks_buf buf;

    for (uint32_t i = 0; i < LKS_ID_SIZE; i++)
        descriptor.stream[i] = (uint8_t)sim_random_next(&run->random);
    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    if (lks_descriptor_encode(&descriptor, &buf, NULL) != LKS_OK)
        abort();
    sim_bucket_plant(&run->bucket, LKS_DESCRIPTOR_NAME, buf.data, buf.size);
    sim_truth_init(&run->truth, &run->bucket, &descriptor);
}

static void check_all_is_there(struct sim_run *run)
{
    if (run->drops)
        return;
    for (uint32_t i = 0; i < run->truth.seat_count; i++) {
        const struct sim_seat *seat = &run->truth.seats[i];

        if (run->truth.lost != NULL && strcmp(seat->id, run->truth.lost) == 0)
            continue;
        if (seat->next_seq != run->knobs.tgbs || !seat->finished)
            sim_fail(run->world, SIM_EXACTLY_ONCE,
                     "%s is done with %" PRIu64 " of %" PRIu64 " TGBs",
                     seat->id, seat->next_seq, run->knobs.tgbs);
    }
    if (!run->truth.ended)
        sim_fail(run->world, SIM_LIVE, "all are done, and it has not ended");
    sim_truth_audit(&run->truth);
}

void sim_run(struct sim_world *world,
             const struct sim_knobs *knobs,
             struct sim_result *out_result)
{
    struct sim_run *run = calloc(1, sizeof(*run));
    uint32_t count = knobs->producer_count + knobs->reader_count +
                     knobs->reclaimer_count + knobs->watcher_count +
                     knobs->keeper_count + knobs->pinner_count +
                     knobs->forker_count + 3;

    if (run == NULL)
        abort();
    run->world = world;
    run->knobs = *knobs;
    run->random = sim_random_from(world->seed ^ UINT64_C(0x5eed));
    run->knobs.faults.until_ns = ns_of(knobs->faults_s);
    world->hazards = knobs->hazards;
    world->hazards.until_ns = ns_of(knobs->faults_s);
    world->limit_ns =
        ns_of(knobs->faults_s + knobs->hazards.pause_max_s + GRACE_S +
              (knobs->keeper_count > 0 ? QUIET_S + GRACE_S : 0));
    sim_bucket_init(&run->bucket, world, &run->knobs.faults);
    plant_stream(run);

    run->jobs = calloc(count, sizeof(*run->jobs));
    if (run->jobs == NULL)
        abort();
    add_jobs(run, "p", knobs->producer_count, sim_produce, true);
    add_jobs(run, "reader", knobs->reader_count, sim_read, true);
    add_jobs(run, "reclaimer", knobs->reclaimer_count, sim_reclaim, false);
    add_jobs(run, "watcher", knobs->watcher_count, sim_watch, false);
    add_jobs(run, "keeper", knobs->keeper_count, sim_keep, false);
    add_jobs(run, "pinner", knobs->pinner_count, sim_pin, false);
    add_jobs(run, "forker", knobs->forker_count, sim_fork, false);
    add_jobs(run, "evictor", knobs->evict_mean_s > 0, sim_evict, true);
    add_jobs(run, "team-evictor", knobs->team_evict_s > 0, sim_evict_team,
             true);
    add_jobs(run, "dropper", knobs->drop_s > 0, sim_drop, false);
    add_teams(run);
    twin_later(run);
    kill_later(run);
    sim_world_run(world);
    check_all_is_there(run);
    *out_result = (struct sim_result){
        .digest = world->digest,
        .switches = world->switch_count,
        .requests = run->bucket.request_count,
        .versions = run->truth.version,
        .steps = run->truth.step_count,
        .strays = run->truth.stray_count,
        .acked = run->truth.acked_count,
        .read = run->truth.read_count,
        .virtual_ms = world->now_ns / LKS_NS_PER_MS,
        .largest_manifest = run->truth.largest_manifest,
        .removed = run->truth.life.removed_count,
        .first_live = run->truth.life.first_live,
    };
}
