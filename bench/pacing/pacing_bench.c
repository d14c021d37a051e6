/*
 * Runs the model once and prints what came of it as one line of JSON.
 *
 *     pacing_bench [NAME=VALUE]...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "pacing_model.h"

static const char *const policies[] = {"turns", "dac", "fixed", "aimd", "incr"};

struct knob {
    const char *name;
    double value;
};

/* In this order everywhere. */
enum knob_index {
    PRODUCERS,
    SECONDS,
    WARM,
    RATE,
    SIZE,
    PUT_MS,
    GET_MS,
    SIGMA,
    STALL,
    STALL_MS,
    BANDWIDTH,
    IDLE,
    FLIP,
    CHURN,
    SLOW,
    SLOW_TIMES,
    SLOW_COUNT,
    GROWING,
    OPENS,
    KEY_LIMIT,
    SEED,
    GAP_MS,
    FRESHNESS_MS,
    OVERHEAD,
    CONFLICT,
    KNOBS
};

static struct knob knobs[KNOBS] = {
    {"producers", 32},
    {"seconds", 600},
    {"warm", 60},
    {"rate", 2},
    {"size", 6748437.5},
    {"put_ms", 45},
    {"get_ms", 20},
    {"sigma", 0.4},
    {"stall", 0.001},
    {"stall_ms", 500},
    {"bandwidth", 1e8},
    {"idle", 0},
    {"flip", 0},
    {"churn", 0},
    {"slow", 0},
    {"slow_times", 3},
    {"slow_count", 0},
    {"growing", 0},
    {"opens", 0},
    {"key_limit", 0},
    {"seed", 1},
    {"gap_ms", 1000},
    {"freshness_ms", 60000},
    {"overhead", 0.05},
    {"conflict", 0.04},
};

static uint64_t ms_to_ns(double ms)
{
    return (uint64_t)(ms * (double)LKS_NS_PER_MS);
}

static void configure(enum lks_pacing_kind kind, struct model_config *config)
{
    *config = (struct model_config){
        .pacing =
            {
                .kind = kind,
                .gap_ns = ms_to_ns(knobs[GAP_MS].value),
                .freshness_ns = ms_to_ns(knobs[FRESHNESS_MS].value),
                .overhead_budget = knobs[OVERHEAD].value,
                .conflict_budget = knobs[CONFLICT].value,
            },
        .producers = (uint32_t)knobs[PRODUCERS].value,
        .seconds = knobs[SECONDS].value,
        .warm_seconds = knobs[WARM].value,
        .tgb_rate = knobs[RATE].value,
        .tgb_size = knobs[SIZE].value,
        .put_ms = knobs[PUT_MS].value,
        .get_ms = knobs[GET_MS].value,
        .sigma = knobs[SIGMA].value,
        .stall_chance = knobs[STALL].value,
        .stall_ms = knobs[STALL_MS].value,
        .bandwidth = knobs[BANDWIDTH].value,
        .idle_part = knobs[IDLE].value,
        .flip_seconds = knobs[FLIP].value,
        .churn_seconds = knobs[CHURN].value,
        .slow_part = knobs[SLOW].value,
        .slow_times = knobs[SLOW_TIMES].value,
        .slow_count = (uint32_t)knobs[SLOW_COUNT].value,
        .growing = knobs[GROWING].value > 0.0,
        .opens = knobs[OPENS].value > 0.0,
        .key_limit = knobs[KEY_LIMIT].value > 0.0,
        .seed = (uint64_t)knobs[SEED].value,
    };
}

static bool read_argument(const char *argument, enum lks_pacing_kind *kind)
{
    size_t size = strcspn(argument, "=");

    if (argument[size] == '\0')
        return false;
    if (size == 6 && memcmp(argument, "policy", size) == 0) {
        for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
            if (strcmp(argument + size + 1, policies[i]) == 0) {
                *kind = (enum lks_pacing_kind)i;
                return true;
            }
        }
        return false;
    }
    for (size_t i = 0; i < KNOBS; i++) {
        if (strlen(knobs[i].name) == size &&
            memcmp(argument, knobs[i].name, size) == 0) {
            knobs[i].value = strtod(argument + size + 1, NULL);
            return true;
        }
    }
    return false;
}

static void print_series(const char *name, const double *values, double unit)
{
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < MODEL_BUCKETS; i++)
        printf("%s%.3f", i > 0 ? ", " : "", values[i] / unit);
    printf("]");
}

static void print_result(enum lks_pacing_kind kind,
                         const struct model_config *config,
                         const struct model_result *result)
{
    double counted = config->seconds - config->warm_seconds;
    double wins = result->wins > 0 ? (double)result->wins : 1.0;
    double tries = result->tries > 0 ? (double)result->tries : 1.0;
    double part = config->seconds / MODEL_BUCKETS;
    double ideal =
        (double)config->producers * (config->put_ms + config->get_ms) / 1000.0;

    printf("{\"policy\": \"%s\", \"producers\": %" PRIu32 ", \"growing\": %d",
           policies[kind], config->producers, config->growing);
    printf(", \"success\": %.5f, \"commits_s\": %.3f, \"mb_s\": %.2f",
           (double)result->wins / tries, (double)result->wins / counted,
           (double)result->tgbs * config->tgb_size / counted / 1e6);
    printf(", \"offered_mb_s\": %.2f",
           (double)result->offered * config->tgb_size / counted / 1e6);
    printf(", \"p50\": %.3f, \"p95\": %.3f, \"p99\": %.3f, \"p95_nt\": %.3f",
           result->fresh_p50, result->fresh_p95, result->fresh_p99,
           result->fresh_p95 / ideal);
    printf(", \"gets\": %.3f, \"lists\": %.4f, \"puts\": %.4f",
           (double)result->gets / wins, (double)result->lists / wins,
           tries / wins);
    printf(", \"tgbs_commit\": %.2f, \"guest_tries\": %" PRIu64
           ", \"guest_wins\": %" PRIu64 ", \"take_overs\": %" PRIu64,
           (double)result->tgbs / wins, result->guest_tries, result->guest_wins,
           result->take_overs);
    printf(", \"t_ms\": %.2f, \"least\": %" PRIu64 ", \"most\": %" PRIu64,
           1000.0 * result->attempt_seconds, result->wins_least,
           result->wins_most);
    if (config->opens)
        printf(", \"open_s\": %.2f, \"open_tries\": %" PRIu64,
               result->open_seconds, result->open_tries);
    printf(", \"manifest_bytes\": %" PRIu64, result->manifest_size);
    print_series("mb_s_over_time", result->bytes, 1e6 * part);
    print_series("commits_s_over_time", result->commits, part);
    printf("}\n");
}

int main(int argc, char **argv)
{
    enum lks_pacing_kind kind = LKS_PACING_TURNS;
    struct model_config config;
    struct model_result result;

    for (int i = 1; i < argc; i++) {
        if (!read_argument(argv[i], &kind)) {
            fprintf(stderr, "pacing_bench: what is %s?\n", argv[i]);
            return 2;
        }
    }
    configure(kind, &config);
    if (!model_run(&config, &result)) {
        fprintf(stderr, "pacing_bench: out of memory\n");
        return 1;
    }
    print_result(kind, &config, &result);
    return 0;
}
