/*
 * A discrete-event model of many producers that commit to one stream. It runs
 * the library's pacing code, and nothing else of it.
 *
 * What it keeps honest: nobody knows when another's commit landed but by its
 * own looks; what a try holds is fixed when it is sent; a reply takes as long
 * back as the request took there.
 */
#ifndef PACING_MODEL_H
#define PACING_MODEL_H

#include "producer/pacing.h"

#define MODEL_BUCKETS 60u

struct model_config {
    struct lks_pacing_options pacing;
    uint32_t producers;
    double seconds;
    double warm_seconds; /* not counted */
    double tgb_rate;     /* of one producer, per second */
    double tgb_size;
    double put_ms;
    double get_ms;
    double sigma; /* of the logarithm of latencies */
    double stall_chance;
    double stall_ms;
    double bandwidth;     /* bytes per second, of one request */
    double idle_part;     /* producers that never have anything */
    double flip_seconds;  /* mean time between busy and idle; 0: never */
    double churn_seconds; /* mean life of a producer; 0: for ever */
    double slow_part;     /* producers whose requests take longer... */
    double slow_times;    /* ...by this factor */
    uint32_t slow_count;  /* the same, as a number of producers */
    bool growing;         /* a manifest that lists all steps, as the paper's */
    bool opens;           /* nobody is open when it begins */
    bool key_limit;       /* the store takes one write a second of a key */
    uint64_t seed;
};

struct model_result {
    uint64_t tries;
    uint64_t wins;
    uint64_t guest_tries;
    uint64_t guest_wins;
    uint64_t take_overs;
    uint64_t gets;
    uint64_t lists;
    uint64_t tgbs;
    uint64_t offered;
    double fresh_p50;
    double fresh_p95;
    double fresh_p99;
    double attempt_seconds; /* T, as producers measured it */
    double open_seconds;    /* until the last one was open */
    uint64_t open_tries;
    uint64_t wins_least; /* of a producer that was busy throughout */
    uint64_t wins_most;
    double bytes[MODEL_BUCKETS]; /* committed in each part of the time */
    double commits[MODEL_BUCKETS];
    uint64_t manifest_size; /* at the end */
};

/* Runs it. False when memory is out. */
bool model_run(const struct model_config *config, struct model_result *result);

/* ----------------------------------------------------------- the inside -- */

/* xoshiro256**, seeded by splitmix64. */
struct model_random {
    uint64_t state[4];
};

void model_random_init(struct model_random *random, uint64_t seed);
double model_random_unit(struct model_random *random);
double model_random_exponential(struct model_random *random, double mean);
double model_random_normal(struct model_random *random);

struct model_event {
    double time;
    uint64_t order; /* of two at one time, the first one made */
    uint32_t kind;
    uint32_t who;
    uint64_t number; /* what it is about */
};

struct model_events {
    struct model_event *items;
    size_t count;
    size_t capacity;
    uint64_t made;
};

bool model_events_push(struct model_events *events,
                       double time,
                       uint32_t kind,
                       uint32_t who,
                       uint64_t number);
/* False if there is none. */
bool model_events_pop(struct model_events *events, struct model_event *out);

/* The manifests: only the newest ones are kept. */
#define MODEL_HISTORY 2048u

struct model_version {
    double landed;
    uint32_t by;
    uint64_t steps;
    struct lks_ring ring;
    uint64_t *last_commit; /* of each producer: a version */
};

struct model_chain {
    uint32_t producers;
    uint64_t head;
    struct model_version *versions; /* MODEL_HISTORY of them */
};

bool model_chain_init(struct model_chain *chain, uint32_t producers);
void model_chain_done(struct model_chain *chain);
struct model_version *model_chain_at(const struct model_chain *chain,
                                     uint64_t version);
/* What a producer reads in a version. */
void model_chain_view(const struct model_chain *chain,
                      uint64_t version,
                      uint32_t who,
                      struct lks_pacing_view *out_view);
/* The next version, made by `who` out of `base`, the head. */
struct model_version *model_chain_add(struct model_chain *chain,
                                      uint32_t who,
                                      uint64_t steps,
                                      double now,
                                      double attempt_ns);

#endif
