/*
 * Scenarios: what a seed draws, and how each named hazard changes that. The
 * reasons are in docs/testing.md and, as schedules, in docs/protocol.md.
 */
#include "sim/sim_scenarios.h"

#include <string.h>

/* What all have in common: a small stream, latencies as of S3, no faults. */
static const struct sim_knobs calm = {
    .dp = 2,
    .cp = 1,
    .producer_count = 3,
    .reader_count = 2,
    .tgbs = 40,
    .append_mean_ms = 2000,
    .commit_gap_ms = 500,
    .flush_chance = 0.2,
    .poll_ms = 1000,
    .faults_s = 300,
    .reclaim_y_ms = 150000,
    .reclaim_mean_s = 15,
    .watch_mean_s = 20,
    .pin_mean_s = 20,
    .team_mean_s = 1,
    .team_every = 4,
    .team_keep = 1,
    .hazards = {.pause_mean_s = 100, .pause_max_s = 1800},
    .faults =
        {
            .put_ms = 45,
            .get_ms = 20,
            .sigma = 0.4,
            .stall_chance = 0.002,
            .stall_mean_ms = 2000,
            .late_mean_s = 60,
            .slow_stamp_mean_s = 20,
            .slow_put_mean_s = 5,
            .timeout_ms = 8000,
        },
};

static bool coin(struct sim_random *random)
{
    return sim_random_chance(random, 0.5);
}

/* Every kind of trouble, each in half of the seeds. */
static void mix_faults(struct sim_faults *faults, struct sim_random *random)
{
    faults->lost_chance = coin(random) ? 0.03 : 0;
    faults->silent_chance = coin(random) ? 0.05 : 0;
    faults->late_chance = coin(random) ? 0.05 : 0;
    faults->late_mean_s = coin(random) ? 10 : 120;
    faults->again_chance = coin(random) ? 0.03 : 0;
    faults->throttle_chance = coin(random) ? 0.05 : 0;
    faults->slow_stamp_chance = coin(random) ? 0.02 : 0;
    faults->key_limit = coin(random);
    faults->second_dates = coin(random);
    faults->start_dated = coin(random);
    faults->slow_put_chance = 0.02;
    faults->skew_ms = coin(random) ? 20000 : 0;
    faults->stall_chance = coin(random) ? 0.02 : 0.002;
}

static void mix(struct sim_knobs *knobs, struct sim_random *random)
{
    knobs->dp = 1u << sim_random_below(random, 3);
    knobs->cp = (uint32_t)sim_random_between(random, 1, 2);
    knobs->producer_count = (uint32_t)sim_random_between(random, 1, 5);
    knobs->reader_count = (uint32_t)sim_random_between(random, 1, 4);
    knobs->reader_dp = coin(random) ? 0 : 1u << sim_random_below(random, 3);
    knobs->reclaimer_count = (uint32_t)sim_random_below(random, 3);
    knobs->watcher_count = (uint32_t)sim_random_below(random, 3);
    knobs->tgbs = sim_random_between(random, 5, 40);
    knobs->append_mean_ms = sim_random_between(random, 100, 15000);
    knobs->commit_gap_ms = sim_random_between(random, 0, 2000);
    knobs->flush_chance = sim_random_unit(random);
    knobs->faults_s = (double)sim_random_between(random, 100, 1200);
    knobs->reclaim_y_ms = sim_random_between(random, 150000, 900000);
    knobs->twin_mean_s = coin(random) ? 60 : 0;
    knobs->kill_mean_s = coin(random) ? 60 : 0;
    knobs->hazards.pause_chance = coin(random) ? 0.005 : 0;
    knobs->hazards.pause_mean_s = coin(random) ? 20 : 200;
    knobs->hazards.suspended_share = sim_random_unit(random);
    knobs->hazards.kill_chance = coin(random) ? 0.001 : 0;
    if (sim_random_below(random, 8) == 0) { /* Over a block's end, too. */
        knobs->tgbs = 400 / knobs->producer_count;
        knobs->append_mean_ms = 500;
    }
    mix_faults(&knobs->faults, random);
    if (coin(random))
        sim_mix_life(knobs, random);
}

static void two_openers(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->producer_count = 2;
    knobs->reader_count = 1;
    knobs->append_mean_ms = 500;
    knobs->tgbs = 30;
    knobs->twin_mean_s = 2;
    knobs->faults_s = 60;
    knobs->faults.silent_chance = 0.2;
    knobs->faults.lost_chance = 0.05;
}

/* Pauses beyond Y at any place, manifests deleted at Y, and strays. */
static void stalled_writer(struct sim_knobs *knobs, struct sim_random *random)
{
    knobs->producer_count = 4;
    knobs->reader_count = 1;
    knobs->reclaimer_count = 2;
    knobs->watcher_count = 2;
    knobs->append_mean_ms = 10000;
    knobs->tgbs = 100;
    knobs->faults_s = 3000;
    knobs->reclaim_y_ms = 120000;
    knobs->hazards.pause_chance = 0.02;
    knobs->hazards.pause_mean_s = 150;
    knobs->hazards.suspended_share = 0.5;
    knobs->faults.late_chance = 0.05;
    knobs->faults.late_mean_s = 200;
    knobs->faults.again_chance = 0.05;
    knobs->faults.skew_ms = coin(random) ? 10000 : 0;
}

static void suspended_clock(struct sim_knobs *knobs, struct sim_random *random)
{
    stalled_writer(knobs, random);
    knobs->hazards.suspended_share = 1;
}

static void fooled_reader(struct sim_knobs *knobs, struct sim_random *random)
{
    stalled_writer(knobs, random);
    knobs->producer_count = 3;
    knobs->reader_count = 6;
    knobs->watcher_count = 8;
    knobs->append_mean_ms = 5000;
    knobs->faults.again_chance = 0.3;
}

/*
 * Replies that are dated long after the store looked. A proof dated by its own
 * reply is off by up to X, so Y must be below 2 X to tell the rules apart.
 */
static void late_dates(struct sim_knobs *knobs, struct sim_random *random)
{
    fooled_reader(knobs, random);
    knobs->reclaim_y_ms = 75000;
    knobs->reclaim_mean_s = 3;
    knobs->hazards.pause_chance = 0.005;
    knobs->faults.skew_ms = 0;
    knobs->faults.timeout_ms = 300000;
    knobs->faults.slow_stamp_chance = 0.1;
    knobs->faults.slow_stamp_mean_s = 40;
}

/* Watchers that list at every look, and sleep before they read what they
 * listed; losers of a race whose writes land when its winner's is deleted. */
static void slept_lister(struct sim_knobs *knobs, struct sim_random *random)
{
    stalled_writer(knobs, random);
    knobs->producer_count = 5;
    knobs->watcher_count = 20;
    knobs->watch_mean_s = 70;
    knobs->append_mean_ms = 5000;
    knobs->commit_gap_ms = 0;
    knobs->tgbs = 200;
    knobs->faults_s = 2000;
    knobs->reclaim_y_ms = 75000;
    knobs->reclaim_mean_s = 3;
    knobs->hazards.victims = "watcher";
    knobs->hazards.pause_chance = 0.2;
    knobs->hazards.pause_mean_s = 200;
    knobs->faults.skew_ms = 0;
    knobs->faults.late_chance = 0.3;
    knobs->faults.late_mean_s = 150;
}

/* PUTs that the store dates at their begin, and that take long. */
static void slow_puts(struct sim_knobs *knobs, struct sim_random *random)
{
    fooled_reader(knobs, random);
    knobs->producer_count = 2;
    knobs->append_mean_ms = 10000;
    knobs->reclaim_mean_s = 3;
    knobs->hazards.pause_chance = 0.002;
    knobs->faults.timeout_ms = 600000;
    knobs->faults.start_dated = true;
    knobs->faults.slow_put_chance = 0.05;
    knobs->faults.slow_put_mean_s = 150;
}

static void lost_reply(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->append_mean_ms = 300;
    knobs->faults.silent_chance = 0.3;
}

static void late_write(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->append_mean_ms = 1000;
    knobs->faults.late_chance = 0.2;
    knobs->faults.late_mean_s = 20;
    knobs->faults.again_chance = 0.1;
}

static void two_incarnations(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->producer_count = 2;
    knobs->twin_mean_s = 10;
    knobs->append_mean_ms = 500;
    knobs->hazards.pause_chance = 0.01;
    knobs->hazards.pause_mean_s = 10;
}

static void killed_uploader(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->append_mean_ms = 500;
    knobs->hazards.kill_chance = 0.01;
    knobs->twin_mean_s = 20;
    knobs->faults.late_chance = 0.1;
    knobs->faults.late_mean_s = 20;
}

static void unarrived_object(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->append_mean_ms = 500;
    knobs->faults.lost_chance = 0.1;
    knobs->faults.throttle_chance = 0.1;
}

/* Two blocks are filled by producers that are killed at every step. */
static void killed_sealer(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->producer_count = 4;
    knobs->reader_count = 1;
    knobs->tgbs = 140;
    knobs->append_mean_ms = 100;
    knobs->commit_gap_ms = 100;
    knobs->hazards.kill_chance = 0.005;
    knobs->twin_mean_s = 30;
    knobs->faults.silent_chance = 0.05;
    knobs->faults.late_chance = 0.02;
}

static void readers_512(struct sim_knobs *knobs, struct sim_random *random)
{
    knobs->dp = 4;
    knobs->cp = 2;
    knobs->reader_dp = coin(random) ? 2 : 8;
    knobs->reader_count = SIM_READERS_MAX;
    knobs->tgbs = 5;
    knobs->append_mean_ms = 500;
    knobs->faults_s = 30;
    knobs->faults.lost_chance = 0.02;
    knobs->faults.silent_chance = 0.02;
    knobs->hazards.pause_chance = 0.001;
    knobs->hazards.pause_mean_s = 5;
}

/* The same as calm, for what must fail at once or never. */
static void plain(struct sim_knobs *knobs, struct sim_random *random)
{
    (void)random;
    knobs->append_mean_ms = 500;
    knobs->hazards.kill_chance = 0.002;
    knobs->twin_mean_s = 30;
}

static const struct sim_scenario scenarios[] = {
    {"mix", "everything, by the seed", mix},
    {"two_openers", "two openers of one id whose replies are lost",
     two_openers},
    {"stalled_writer", "a writer wakes when its name was used up and reclaimed",
     stalled_writer},
    {"suspended_clock", "the same, and its own clock stood still",
     suspended_clock},
    {"fooled_reader", "a reader meets versions made a second time",
     fooled_reader},
    {"late_dates", "replies dated long after the store looked", late_dates},
    {"slept_lister", "a reader sleeps between a listing and what it named",
     slept_lister},
    {"slow_puts", "an object's age counts from the begin of a long PUT",
     slow_puts},
    {"lost_reply", "a commit's reply is lost, and it is tried again",
     lost_reply},
    {"late_write", "a write lands after its writer moved on", late_write},
    {"two_incarnations", "an old process of a producer wakes up",
     two_incarnations},
    {"killed_uploader", "a producer is killed between upload and commit",
     killed_uploader},
    {"unarrived_object", "an object's put never arrives", unarrived_object},
    {"killed_sealer", "a committer is killed while sealing", killed_sealer},
    {"readers_512", "512 readers, in a mesh of their own", readers_512},
    {"plain", "restarts, and no faults of the store", plain},
};

#define SCENARIO_COUNT (sizeof(scenarios) / sizeof(scenarios[0]))

const struct sim_scenario *sim_scenario_at(size_t index)
{
    if (index < SCENARIO_COUNT)
        return &scenarios[index];
    index -= SCENARIO_COUNT;
    return index < sim_life_scenario_count ? &sim_life_scenarios[index] : NULL;
}

const struct sim_scenario *sim_scenario_find(const char *name)
{
    for (size_t i = 0; sim_scenario_at(i) != NULL; i++) {
        if (strcmp(sim_scenario_at(i)->name, name) == 0)
            return sim_scenario_at(i);
    }
    return NULL;
}

struct sim_knobs sim_scenario_knobs(const struct sim_scenario *scenario,
                                    uint64_t seed)
{
    struct sim_random random = sim_random_from(sim_mix(seed) ^ 0x5ce9a);
    struct sim_knobs knobs = calm;

    scenario->adapt(&knobs, &random);
    return knobs;
}
