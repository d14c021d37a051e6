/*
 * The scenarios of a stream's life: training jobs whose checkpoints decide what
 * may go, and the product's own reclaim. docs/testing.md has the list.
 */
#include "sim/sim_scenarios.h"

static bool coin(struct sim_random *random)
{
    return sim_random_chance(random, 0.5);
}

/* A job of a few ranks, and somebody who reclaims behind it. */
static void trained(struct sim_knobs *knobs, struct sim_random *random)
{
    knobs->reader_count = 0;
    knobs->team_count = 1;
    knobs->team_keep = (uint32_t)sim_random_between(random, 1, 2);
    knobs->team_every = sim_random_between(random, 1, 6);
    knobs->team_new_ids = coin(random);
    knobs->keeper_count = 1;
    knobs->reclaim_mean_s = 8;
    knobs->append_mean_ms = 1500;
}

void sim_mix_life(struct sim_knobs *knobs, struct sim_random *random)
{
    knobs->reclaimer_count = 0;
    knobs->keeper_count = (uint32_t)sim_random_between(random, 1, 2);
    knobs->pinner_count = (uint32_t)sim_random_below(random, 2);
    knobs->forker_count = sim_random_chance(random, 0.2);
    knobs->reclaim_mean_s = coin(random) ? 5 : 60;
    knobs->evict_mean_s = coin(random) ? 0 : 60;
    knobs->team_count = (uint32_t)sim_random_below(random, 3);
    knobs->team_later_s = (double)sim_random_below(random, 300);
    knobs->team_mean_s = coin(random) ? 0.3 : 3;
    knobs->team_every = sim_random_between(random, 1, 8);
    knobs->team_keep = (uint32_t)sim_random_between(random, 1, 2);
    knobs->team_zombies = coin(random) ? 0.5 : 0;
    knobs->team_slow_starts = coin(random) ? 0.1 : 0;
    knobs->team_resizes = coin(random);
    knobs->team_new_ids = coin(random);
    knobs->team_reclaims = sim_random_chance(random, 0.2);
    if (knobs->team_count > 0 && sim_random_chance(random, 0.3))
        knobs->max_live_steps = 160; /* More than a job needs: 2 * 8 * 8. */
}

static void pin_race(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->pinner_count = 3;
    knobs->pin_mean_s = 1;
    knobs->keeper_count = 2;
    knobs->team_every = 1;
    knobs->reclaim_mean_s = 1;
    knobs->append_mean_ms = 800;
    knobs->tgbs = 20;
    knobs->faults.silent_chance = 0.05;
    knobs->faults.late_chance = 0.05;
    knobs->faults.late_mean_s = 10;
    knobs->hazards.pause_chance = 0.005;
    knobs->hazards.pause_mean_s = 10;
}

static void late_group(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->team_count = 5;
    knobs->team_later_s = 15;
    knobs->team_every = 1;
    knobs->team_mean_s = 0.3;
    knobs->keeper_count = 2;
    knobs->reclaim_mean_s = 2;
    knobs->hazards.pause_chance = 0.002;
    knobs->hazards.pause_mean_s = 10;
    knobs->faults.silent_chance = 0.02;
}

/* Ranks die with their watermarks half written, and the job starts again. */
static void dead_job(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->reclaim_mean_s = 2;
    knobs->hazards.victims = "team";
    knobs->hazards.kill_chance = 0.001;
}

static void resized_job(struct sim_knobs *knobs, struct sim_random *random)
{
    dead_job(knobs, random);
    knobs->team_resizes = true;
}

static void zombie_ranks(struct sim_knobs *knobs, struct sim_random *random)
{
    dead_job(knobs, random);
    knobs->team_zombies = 0.8;
    knobs->team_slow_starts = 0.2;
    knobs->team_resizes = coin(random);
    knobs->keeper_count = 2;
    knobs->hazards.victims = coin(random) ? "team" : NULL;
    knobs->hazards.kill_chance = 0.002;
    knobs->hazards.pause_chance = 0.005;
    knobs->hazards.pause_mean_s = 40;
    knobs->faults.late_chance = 0.05;
    knobs->faults.late_mean_s = 30;
    knobs->faults.again_chance = 0.05;
}

static void wrong_clocks(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->tgbs = 60;
    knobs->append_mean_ms = 30000;
    knobs->team_mean_s = 10;
    knobs->faults_s = 2400;
    knobs->keeper_count = 2;
    knobs->reclaim_mean_s = 30;
    knobs->faults.skew_ms = 20000;
    knobs->faults.second_dates = coin(random);
    knobs->faults.start_dated = coin(random);
    knobs->faults.slow_put_chance = 0.02;
    knobs->faults.slow_stamp_chance = 0.02;
    knobs->hazards.pause_chance = 0.002;
    knobs->hazards.pause_mean_s = 300;
}

static void racing_keepers(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->keeper_count = 4;
    knobs->reclaim_mean_s = 2;
    knobs->team_every = 1;
    knobs->hazards.pause_chance = 0.01;
    knobs->hazards.pause_mean_s = 20;
    knobs->faults.silent_chance = 0.05;
    knobs->faults.late_chance = 0.05;
    knobs->faults.late_mean_s = 20;
}

/* Blocks come and go, and those who sweep sleep between reading and deleting.
 */
static void block_by_block(struct sim_knobs *knobs, struct sim_random *random)
{
    racing_keepers(knobs, random);
    knobs->tgbs = 300;
    knobs->append_mean_ms = 150;
    knobs->commit_gap_ms = 100;
    knobs->keeper_count = 3;
    knobs->reclaim_mean_s = 5;
    knobs->team_mean_s = 0.05;
    knobs->team_every = 8;
    knobs->twin_mean_s = 30;
}

/* Readers of no group, and ranks that lag behind. */
static void edge_readers(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->reader_count = 3;
    knobs->team_every = 1;
    knobs->team_mean_s = 0.2;
    knobs->reclaim_mean_s = 2;
    knobs->hazards.pause_chance = 0.01;
    knobs->hazards.pause_mean_s = 20;
}

static void killed_keeper(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->keeper_count = 3;
    knobs->reclaim_mean_s = 2;
    knobs->team_every = 1;
    knobs->hazards.victims = "keeper";
    knobs->hazards.kill_chance = 0.05;
    knobs->faults.silent_chance = 0.05;
}

static void killed_producers(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->reclaim_mean_s = 3;
    knobs->evict_mean_s = 40;
    knobs->twin_mean_s = 4;
    knobs->append_mean_ms = 500;
    knobs->hazards.victims = "p";
    knobs->hazards.kill_chance = 0.01;
    knobs->hazards.pause_chance = 0.005;
    knobs->hazards.pause_mean_s = 30;
    knobs->faults.late_chance = 0.1;
    knobs->faults.late_mean_s = 30;
}

/* Over the ends of blocks, too. */
static void fork_race(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->forker_count = 2;
    knobs->keeper_count = 2;
    knobs->reclaim_mean_s = 3;
    knobs->team_every = 1;
    knobs->twin_mean_s = 20;
    knobs->hazards.pause_chance = 0.003;
    knobs->hazards.pause_mean_s = 10;
    if (coin(random)) {
        knobs->tgbs = 200;
        knobs->append_mean_ms = 300;
        knobs->team_mean_s = 0.1;
        knobs->team_every = 8;
    }
}

/* Nobody reclaims but the producers who wait. */
static void at_limit(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->max_live_steps = 16;
    knobs->team_keep = 1;
    knobs->team_resizes = false;
    knobs->append_mean_ms = 200;
    knobs->reclaim_mean_s = 1e6;
    knobs->pinner_count = (uint32_t)sim_random_below(random, 2);
    knobs->faults.silent_chance = 0.03;
    knobs->hazards.kill_chance = 0.0003;
}

/* The same by bytes; a TGB has some 2 KiB, most of it frames. */
static void at_byte_limit(struct sim_knobs *knobs, struct sim_random *random)
{
    at_limit(knobs, random);
    knobs->max_live_steps = 0;
    knobs->max_live_bytes = 20000;
}

/* One rank writes for all, once all have saved. */
static void one_for_all(struct sim_knobs *knobs, struct sim_random *random)
{
    dead_job(knobs, random);
    knobs->team_speaks_as_one = true;
    knobs->team_resizes = coin(random);
}

static void lost_job(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->team_count = 2;
    knobs->team_evict_s = 20;
    knobs->team_speaks_as_one = false;
    knobs->keeper_count = 2;
    knobs->reclaim_mean_s = 2;
    knobs->faults.silent_chance = 0.05;
    knobs->faults.late_chance = 0.05;
    knobs->faults.late_mean_s = 20;
    knobs->hazards.victims = coin(random) ? "team-evictor" : "keeper";
    knobs->hazards.kill_chance = 0.01;
}

/* Whoever sleeps through it wakes up in a stream that is gone. */
static void dropped(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->reader_count = 2;
    knobs->pinner_count = (uint32_t)sim_random_below(random, 2);
    knobs->twin_mean_s = 20;
    knobs->drop_s = 30;
    knobs->faults.silent_chance = 0.05;
    knobs->faults.late_chance = 0.1;
    knobs->faults.late_mean_s = 60;
    knobs->faults.again_chance = 0.1;
    knobs->hazards.pause_chance = 0.01;
    knobs->hazards.pause_mean_s = 60;
    knobs->hazards.victims = coin(random) ? "dropper" : NULL;
    knobs->hazards.kill_chance = 0.002;
}

/* The product's own Y, so the sleepers must sleep longer. */
static void reclaimed_name(struct sim_knobs *knobs, struct sim_random *random)
{
    trained(knobs, random);
    knobs->producer_count = 4;
    knobs->watcher_count = 3;
    knobs->watch_mean_s = 60;
    knobs->append_mean_ms = 60000;
    knobs->team_mean_s = 8;
    knobs->tgbs = 60;
    knobs->poll_ms = 10000;
    knobs->faults_s = 7200;
    knobs->reclaim_mean_s = 60;
    knobs->hazards.pause_chance = 0.01;
    knobs->hazards.pause_mean_s = 900;
    knobs->hazards.pause_max_s = 3600;
    knobs->hazards.suspended_share = coin(random) ? 1 : 0.5;
    knobs->faults.late_chance = 0.05;
    knobs->faults.late_mean_s = 600;
    knobs->faults.again_chance = 0.1;
    knobs->faults.skew_ms = coin(random) ? 10000 : 0;
}

const struct sim_scenario sim_life_scenarios[] = {
    {"pin_race", "pins are set where a reclaim is about to be", pin_race},
    {"late_group", "a group joins while another one's steps are reclaimed",
     late_group},
    {"dead_job", "a job dies with its watermarks half written, and restarts",
     dead_job},
    {"resized_job", "the same, with another number of ranks", resized_job},
    {"zombie_ranks", "ranks of a job before go on", zombie_ranks},
    {"wrong_clocks", "the store's and the hosts' clocks are wrong",
     wrong_clocks},
    {"racing_keepers", "four reclaim at once, and sleep on the way",
     racing_keepers},
    {"block_by_block", "whole index blocks are reclaimed", block_by_block},
    {"edge_readers", "slow readers at the edge of what is live", edge_readers},
    {"killed_keeper", "who reclaims is killed at every step", killed_keeper},
    {"killed_producers", "uploads are left behind, a producer is evicted",
     killed_producers},
    {"fork_race", "forks are made while their parent is reclaimed", fork_race},
    {"at_limit", "producers wait at the limit, and nobody reclaims", at_limit},
    {"at_byte_limit", "the same, by a limit in bytes", at_byte_limit},
    {"one_for_all", "a job's first rank writes the watermark of all",
     one_for_all},
    {"lost_job", "a job that is lost, or a rank of one, is evicted", lost_job},
    {"dropped", "the stream is dropped with everybody in it", dropped},
    {"reclaimed_name", "writers and readers sleep past their names' reclaim",
     reclaimed_name},
};

const size_t sim_life_scenario_count =
    sizeof(sim_life_scenarios) / sizeof(sim_life_scenarios[0]);
