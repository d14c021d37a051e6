/*
 * Training jobs: all ranks of a group start together, save checkpoints, publish
 * watermarks; when one dies the job is started again, of the same or another
 * number of ranks, while ranks of the old one may live on as zombies.
 *
 * What a job may go back to is known here and nowhere in the stream. It must
 * never be reclaimed: a checkpoint counts once all ranks of the run that the
 * stream shows have saved it.
 */
#include "sim/sim_team.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 16u
#define RESTART_MEAN_S 20.0
#define START_MEAN_S 1.0
#define SLOW_START_MEAN_S 60.0
#define SAVE_MEAN_S 1.0

struct sim_attempt;

struct sim_rank {
    struct sim_job job; /* to be judged by; nobody restarts it */
    struct sim_attempt *attempt;
    uint32_t number;
    struct sim_process *process;
    uint64_t saved; /* its newest checkpoint, and the oldest it keeps */
    uint64_t held;
    bool ended;
    bool lost; /* and so it is evicted, and counts no more */
};

/* One start of the job. */
struct sim_attempt {
    struct sim_team *team;
    struct sim_attempt *before;
    char run[SIM_NAME_SIZE]; /* the option */
    uint32_t dp;
    uint32_t rank_count;
    uint64_t start;
    uint64_t need; /* its number */
    bool failed;
    bool was_shown; /* before the next one began */
    struct sim_rank ranks[RANKS_MAX];
};

static uint64_t seconds_on(const struct sim_run *run, double mean_s)
{
    return run->world->now_ns +
           (uint64_t)(sim_random_exponential(&run->world->random, mean_s) *
                      (double)LKS_NS_PER_S);
}

static bool is_shown(const struct sim_attempt *attempt)
{
    return sim_truth_shows(&attempt->team->run->truth, attempt->need);
}

/* ------------------------------------------------------------ attempts -- */

static uint64_t least_of(const struct sim_attempt *attempt, bool held)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < attempt->rank_count; i++) {
        const struct sim_rank *rank = &attempt->ranks[i];
        uint64_t step = held ? rank->held : rank->saved;

        if (!rank->lost && step < least)
            least = step;
    }
    return least;
}

static void note_held(struct sim_attempt *attempt)
{
    struct sim_truth *truth = &attempt->team->run->truth;

    truth->life.needs[attempt->need].step = least_of(attempt, true);
}

static void rank_ended(struct sim_process *process, void *arg);
static void attempt_begin(struct sim_team *team, uint64_t start);

static void rank_start(void *arg)
{
    struct sim_rank *rank = arg;
    struct sim_team *team = rank->attempt->team;

    /* One of an old job that was slow to start may start yet. */
    if (team->done ||
        (rank->attempt != team->newest && !rank->attempt->was_shown &&
         team->run->knobs.team_new_ids))
        return;
    rank->process = sim_process_start(team->run->world, rank->job.name,
                                      sim_train, rank, rank_ended, rank);
}

/* What the job can go back to, as its launcher sees it. */
static uint64_t restart_step(struct sim_team *team)
{
    struct sim_attempt *attempt = team->newest;
    bool older = team->run->knobs.team_keep > 1 &&
                 sim_random_chance(&team->run->world->random, 0.5);

    while (attempt != NULL && !is_shown(attempt))
        attempt = attempt->before;
    if (attempt == NULL)
        return team->run->truth.life.first_live;
    return least_of(attempt, older);
}

static void restart(void *arg)
{
    struct sim_team *team = arg;
    struct sim_run *run = team->run;
    struct sim_attempt *attempt;

    if (team->done)
        return;
    if (team->losing) {
        sim_world_at(run->world, seconds_on(run, RESTART_MEAN_S), restart,
                     team);
        return;
    }
    /* An id that nobody has seen yet is no former one: it could take over from
     * a later start, as only attempts can tell. So such ranks die. */
    team->newest->was_shown = is_shown(team->newest);
    for (attempt = team->newest; attempt != NULL; attempt = attempt->before) {
        bool may_live = attempt->was_shown || !run->knobs.team_new_ids;

        for (uint32_t i = 0; i < attempt->rank_count; i++) {
            struct sim_rank *rank = &attempt->ranks[i];

            if (rank->process != NULL &&
                !(may_live && sim_random_chance(&run->world->random,
                                                run->knobs.team_zombies)))
                sim_process_kill(rank->process);
        }
    }
    attempt_begin(team, restart_step(team));
}

static void team_done(struct sim_team *team)
{
    sim_trace(team->run->world, "%s is done", team->group);
    team->done = true;
    sim_run_count_down(team->run);
}

static void rank_ended(struct sim_process *process, void *arg)
{
    struct sim_rank *rank = arg;
    struct sim_attempt *attempt = rank->attempt;
    struct sim_team *team = attempt->team;

    (void)process;
    rank->process = NULL;
    if (attempt != team->newest || team->done)
        return;
    if (!rank->ended && !rank->lost) {
        if (!attempt->failed)
            sim_world_at(team->run->world,
                         seconds_on(team->run, RESTART_MEAN_S), restart, team);
        attempt->failed = true;
        return;
    }
    for (uint32_t i = 0; i < attempt->rank_count; i++) {
        if (!attempt->ranks[i].ended && !attempt->ranks[i].lost)
            return;
    }
    team_done(team);
}

/* Without the job's restarts to come: who is killed here stays dead. */
static void lose_all(struct sim_team *team)
{
    struct sim_attempt *attempt;

    team_done(team);
    for (attempt = team->newest; attempt != NULL; attempt = attempt->before) {
        team->run->truth.life.needs[attempt->need].step = UINT64_MAX;
        for (uint32_t i = 0; i < attempt->rank_count; i++) {
            if (attempt->ranks[i].process != NULL)
                sim_process_kill(attempt->ranks[i].process);
        }
    }
}

static void lose_one(struct sim_team *team, uint32_t number)
{
    struct sim_rank *rank = &team->newest->ranks[number];

    rank->lost = true;
    note_held(team->newest);
    if (rank->process != NULL)
        sim_process_kill(rank->process);
}

bool sim_team_lose(struct sim_team *team, uint32_t *out_rank)
{
    struct sim_attempt *attempt = team->newest;
    struct sim_random *random = &team->run->random;

    if (!team->losing) {
        team->lost_rank = LKS_RANK_ALL;
        if (team->done || attempt == NULL || attempt->failed ||
            !is_shown(attempt))
            return false;
        team->losing = true;
        if (attempt->rank_count > 1 && sim_random_chance(random, 0.5))
            team->lost_rank =
                (uint32_t)sim_random_below(random, attempt->rank_count);
        if (team->lost_rank == LKS_RANK_ALL)
            lose_all(team);
        else
            lose_one(team, team->lost_rank);
    }
    *out_rank = team->lost_rank;
    return true;
}

void sim_team_evicted(struct sim_team *team)
{
    team->losing = false;
}

static void name_run(struct sim_attempt *attempt, struct sim_need *need)
{
    struct sim_team *team = attempt->team;

    memcpy(need->group, team->group, sizeof(need->group));
    if (team->run->knobs.team_new_ids) {
        snprintf(need->run, sizeof(need->run), "job-%u", team->attempt_count);
        snprintf(attempt->run, sizeof(attempt->run), "job-%u",
                 team->attempt_count);
    } else {
        snprintf(need->run, sizeof(need->run), "job");
        need->attempt = team->attempt_count;
        snprintf(attempt->run, sizeof(attempt->run), "job.%u",
                 team->attempt_count);
    }
}

static uint32_t choose_dp(struct sim_team *team)
{
    const struct sim_knobs *knobs = &team->run->knobs;

    if (!knobs->team_resizes)
        return knobs->dp;
    return 1u << sim_random_below(&team->run->world->random, 4);
}

static void attempt_begin(struct sim_team *team, uint64_t start)
{
    struct sim_run *run = team->run;
    struct sim_attempt *attempt = calloc(1, sizeof(*attempt));
    struct sim_need need = {.step = start};

    if (attempt == NULL)
        abort();
    team->attempt_count++;
    attempt->team = team;
    attempt->before = team->newest;
    attempt->start = start;
    attempt->dp = choose_dp(team);
    attempt->rank_count = attempt->dp * run->knobs.cp;
    assert(attempt->rank_count <= RANKS_MAX);
    name_run(attempt, &need);
    attempt->need = sim_truth_add_need(&run->truth, &need);
    team->newest = attempt;
    sim_trace(run->world, "%s starts run %s of %u ranks at step %" PRIu64,
              team->group, attempt->run, attempt->rank_count, start);
    for (uint32_t i = 0; i < attempt->rank_count; i++) {
        struct sim_rank *rank = &attempt->ranks[i];
        bool slow =
            sim_random_chance(&run->world->random, run->knobs.team_slow_starts);

        rank->attempt = attempt;
        rank->number = i;
        rank->saved = start;
        rank->held = start;
        rank->job = (struct sim_job){.run = run, .number = i};
        snprintf(rank->job.name, sizeof(rank->job.name), "%.12s.%u.%u",
                 team->group, team->attempt_count, i);
        sim_world_at(run->world,
                     seconds_on(run, slow ? SLOW_START_MEAN_S : START_MEAN_S),
                     rank_start, rank);
    }
}

void sim_team_start(void *arg)
{
    struct sim_team *team = arg;

    attempt_begin(team, team->run->truth.life.first_live);
}

/* --------------------------------------------------------------- ranks -- */

static struct lks_options *rank_options(const struct sim_rank *rank)
{
    const struct sim_knobs *knobs = &rank->attempt->team->run->knobs;
    struct lks_options *options = sim_options_new();

    sim_options_set(options, "poll_ms", knobs->poll_ms);
    sim_options_set(options, "fetches", 1);
    sim_options_set(options, "prefetch_bytes", 65536);
    sim_options_set(options, "starve_timeout_ms", 600000);
    sim_options_set_text(options, "group", rank->attempt->team->group);
    sim_options_set_text(options, "run", rank->attempt->run);
    if (knobs->team_speaks_as_one)
        sim_options_set_text(options, "watermark", "all");
    if (knobs->team_reclaims)
        sim_options_set_text(options, "reclaim", "yes");
    return options;
}

/* A start that comes too late may find its checkpoint gone only if the job
 * before it went on to a newer one. */
static void judge_reclaimed(const struct sim_rank *rank, uint64_t step)
{
    const struct sim_attempt *attempt = rank->attempt;
    struct sim_truth *truth = &attempt->team->run->truth;
    const struct sim_attempt *before = attempt->before;

    sim_truth_check_reclaimed(truth, step, rank->job.name);
    if (truth->life.dropped)
        return;
    if (is_shown(attempt))
        sim_fail(truth->world, SIM_SAFE,
                 "%s is of the run that is shown, and its step %" PRIu64
                 " is reclaimed",
                 rank->job.name, step);
    if (attempt != attempt->team->newest)
        return;
    while (before != NULL && !is_shown(before))
        before = before->before;
    if (before != NULL && least_of(before, false) <= attempt->start)
        sim_fail(truth->world, SIM_SAFE,
                 "%s starts at the newest checkpoint, at step %" PRIu64
                 ", and that is reclaimed",
                 rank->job.name, attempt->start);
}

static void judge(struct sim_rank *rank,
                  uint64_t step,
                  const struct lks_error *error)
{
    struct sim_run *run = rank->attempt->team->run;

    sim_trace(run->world, "%s: %s", lks_status_name(error->status),
              error->message);
    if (error->status == LKS_RECLAIMED)
        judge_reclaimed(rank, step);
    else if (error->status == LKS_FENCED &&
             rank->attempt == rank->attempt->team->newest)
        sim_fail(run->world, SIM_LIVE, "%s is of the newest start: %s",
                 rank->job.name, error->message);
    else
        sim_job_judge(&rank->job, error);
}

/* Saves what was read so far, and says so. */
static enum lks_status save(struct sim_rank *rank,
                            struct lks_consumer *consumer,
                            struct lks_error *error)
{
    uint64_t step = lks_consumer_step(consumer);
    uint64_t oldest =
        rank->attempt->team->run->knobs.team_keep > 1 ? rank->saved : step;
    enum lks_status status;

    rank->saved = step;
    sim_job_sleep(&rank->job, SAVE_MEAN_S);
    rank->held = oldest;
    note_held(rank->attempt);
    if (rank->attempt->team->run->knobs.team_speaks_as_one) {
        if (rank->number != 0)
            return LKS_OK;
        oldest = least_of(rank->attempt, true);
    }
    status = lks_consumer_checkpointed(consumer, step, 1, oldest, error);
    /* The next one will do, and says what this one said. */
    if (status == LKS_UNAVAILABLE || status == LKS_TIMEOUT)
        status = LKS_OK;
    return status;
}

static enum lks_status train_step(struct sim_rank *rank,
                                  struct lks_consumer *consumer,
                                  struct lks_error *error)
{
    struct sim_attempt *attempt = rank->attempt;
    struct sim_run *run = attempt->team->run;
    uint64_t expected = lks_consumer_step(consumer);
    uint64_t each =
        attempt->dp > run->knobs.dp ? attempt->dp / run->knobs.dp : 1;
    struct lks_batch *batch = NULL;
    enum lks_status status = lks_consumer_next(consumer, &batch, error);

    if (status != LKS_OK)
        return status == LKS_TIMEOUT ? LKS_OK : status;
    if (lks_batch_step(batch) != expected)
        sim_fail(run->world, SIM_LINEAR, "%s left out a step", rank->job.name);
    sim_check_batch(run, batch, rank->number, attempt->dp);
    lks_batch_release(batch);
    sim_job_sleep(&rank->job, run->knobs.team_mean_s);
    if ((expected + each - attempt->start) / each % run->knobs.team_every != 0)
        return LKS_OK;
    return save(rank, consumer, error);
}

static void check_end(const struct sim_rank *rank, uint64_t step)
{
    const struct sim_attempt *attempt = rank->attempt;
    struct sim_run *run = attempt->team->run;
    uint64_t each =
        attempt->dp > run->knobs.dp ? attempt->dp / run->knobs.dp : 1;
    uint64_t steps = run->truth.step_count;

    if (step != steps - (steps - attempt->start) % each)
        sim_fail(run->world, SIM_ATOMIC,
                 "%s ends at step %" PRIu64 " of %" PRIu64
                 "; it began at %" PRIu64 " and reads %" PRIu64 " as one",
                 rank->job.name, step, steps, attempt->start, each);
    sim_truth_check_end(&run->truth, steps);
}

void sim_train(void *arg)
{
    struct sim_rank *rank = arg;
    struct sim_attempt *attempt = rank->attempt;
    const struct sim_knobs *knobs = &attempt->team->run->knobs;
    struct lks_stream *stream = sim_job_stream(&rank->job);
    struct lks_options *options = rank_options(rank);
    struct lks_consumer *consumer = NULL;
    uint64_t step = attempt->start;
    struct lks_error error;
    enum lks_status status;

    status = lks_consumer_open(stream, rank->number, attempt->dp, knobs->cp,
                               attempt->start, options, &consumer, &error);
    while (status == LKS_OK) {
        status = train_step(rank, consumer, &error);
        step = lks_consumer_step(consumer);
    }
    if (status == LKS_ENDED) {
        check_end(rank, step);
        status = save(rank, consumer, &error);
        rank->ended = status == LKS_OK;
    }
    if (status != LKS_OK)
        judge(rank, step, &error);
    lks_consumer_close(consumer);
    lks_options_free(options);
    lks_stream_close(stream);
}
