/*
 * One seed's run: a stream in a bucket, and the processes that use it.
 */
#ifndef LKS_SIM_RUN_H
#define LKS_SIM_RUN_H

#include "lakestream.h"
#include "sim/sim_truth.h"

#define SIM_READERS_MAX 512u

/* By what a manifest's age is judged before it is deleted. */
enum sim_reclaim_rule {
    SIM_RECLAIM_SUCCESSOR, /* the next one in the listing is older than Y */
    SIM_RECLAIM_OWN,       /* it is older than Y itself: naive */
    SIM_RECLAIM_EAGER,     /* all but the head: naive */
};

struct sim_knobs {
    uint32_t dp;
    uint32_t cp;
    uint32_t producer_count;
    uint32_t reader_count;
    uint32_t reader_dp; /* 0: the stream's */
    uint32_t reclaimer_count;
    uint32_t watcher_count;
    uint64_t tgbs;           /* that each producer id appends in all */
    uint64_t append_mean_ms; /* between two appends */
    uint64_t commit_gap_ms;
    double flush_chance; /* after an append */
    uint64_t poll_ms;
    double faults_s;    /* then all is calm */
    double twin_mean_s; /* a second process opens an id; 0: never */
    double kill_mean_s; /* a process is killed; 0: never */
    enum sim_reclaim_rule reclaim_rule;
    uint64_t reclaim_y_ms;
    double reclaim_mean_s;
    double watch_mean_s;
    uint32_t keeper_count; /* who reclaim as the product does */
    uint32_t pinner_count;
    uint32_t forker_count;
    double pin_mean_s;
    double evict_mean_s;     /* then the first producer is lost; 0: never */
    double team_evict_s;     /* then the first job, or a rank of it; 0: never */
    double drop_s;           /* then the stream is dropped; 0: never */
    uint64_t max_live_steps; /* 0: no limit */
    uint64_t max_live_bytes;
    uint32_t team_count;     /* training jobs */
    double team_later_s;     /* between the first one's start and the next */
    double team_mean_s;      /* per step */
    uint64_t team_every;     /* batches between two checkpoints */
    uint32_t team_keep;      /* checkpoints that are kept */
    double team_zombies;     /* chance to outlive the job */
    double team_slow_starts; /* chance to start long after the others */
    bool team_resizes;       /* another number of ranks at each start */
    bool team_new_ids;       /* a new id at each start, and no attempts */
    bool team_reclaims;      /* rank 0 reclaims when it has checkpointed */
    bool team_speaks_as_one; /* rank 0 writes the watermark of all ranks */
    struct sim_hazards hazards;
    struct sim_faults faults;
};

struct sim_run;

/* A producer id or a rank, and all the processes that play it. */
struct sim_job {
    struct sim_run *run;
    uint32_t number;
    lks_thread_fn *main;
    char name[SIM_NAME_SIZE];
    uint32_t live_count;
    bool essential; /* the run ends when all of these are done */
    bool done;
    uint64_t step; /* a reader's checkpoint */
};

struct sim_team;

struct sim_run {
    struct sim_world *world;
    struct sim_bucket bucket;
    struct sim_truth truth;
    struct sim_knobs knobs;
    struct sim_random random;
    struct sim_job *jobs;
    uint32_t job_count;
    struct sim_team *teams;
    uint32_t left_count; /* essential jobs and teams not done */
    bool drops;          /* somebody has asked for it */
    struct sim_job last; /* who sweeps at the end */
};

/* What it took, for reports. */
struct sim_result {
    uint64_t digest;
    uint64_t switches;
    uint64_t requests;
    uint64_t versions;
    uint64_t steps;
    uint64_t strays;
    uint64_t acked;
    uint64_t read;
    uint64_t virtual_ms;
    uint64_t largest_manifest;
    uint64_t removed;
    uint64_t first_live;
};

/* Runs it to the end; a violation ends the program. */
void sim_run(struct sim_world *world,
             const struct sim_knobs *knobs,
             struct sim_result *out_result);

/* For the processes' main functions. */
void sim_job_done(struct sim_job *job);

/* Nobody needs to finish any more: the stream is dropped. */
void sim_run_dropped(struct sim_run *run);

/* An essential job or team is done. */
void sim_run_count_down(struct sim_run *run);

/* All is reclaimed. */
void sim_run_swept(struct sim_run *run);
struct lks_stream *sim_job_stream(struct sim_job *job);
struct sim_process *sim_job_process(const struct sim_job *job);
void sim_job_sleep(struct sim_job *job, double mean_s);

/* Sets an option to a number; it must be right. */
struct lks_options *sim_options_new(void);
void sim_options_set(struct lks_options *options,
                     const char *name,
                     uint64_t value);
void sim_options_set_text(struct lks_options *options,
                          const char *name,
                          const char *value);

/* A failure that no fault explains ends the run: wrong data, wrong calls. */
void sim_job_judge(struct sim_job *job, const struct lks_error *error);

/* The main functions; the argument is the job. */
void sim_produce(void *job);
void sim_read(void *job);
void sim_reclaim(void *job);
void sim_watch(void *job);
void sim_keep(void *job);
void sim_pin(void *job);
void sim_evict(void *job);
void sim_evict_team(void *job);
void sim_drop(void *job);
void sim_fork(void *job);
void sim_sweep_last(void *job);

/* That a batch has the slices that are due to this rank of this mesh. */
void sim_check_batch(struct sim_run *run,
                     const struct lks_batch *batch,
                     uint32_t rank,
                     uint32_t dp);

#endif
