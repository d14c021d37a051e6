/*
 * The simulator's command: runs seeds, each in a child of its own, so that what
 * killed processes leave behind goes with it, and a crash is one seed's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "sim/sim_scenarios.h"

#define WORKERS_MAX 64u
#define FAILURES_SHOWN 5u

struct settings {
    const char *program;
    const struct sim_scenario *scenario;
    uint64_t first;
    uint64_t last;
    uint64_t workers;
    uint64_t expected; /* the invariant that must fail; 0: none may */
    const char *rule;  /* how manifests are reclaimed; NULL: rightly */
    bool trace;
    bool twice;
};

/* Shared with the children. */
struct slot {
    pid_t child;
    uint64_t seed;
    struct sim_result result;
};

struct totals {
    uint64_t seeds;
    uint64_t failures;
    uint64_t expected_failures;
    struct sim_result sum;
};

static const char usage[] =
    "usage: sim --seed N | --seeds FROM-TO [--scenario NAME] [-jN] [--trace]\n"
    "           [--rule own|eager] [--expect INVARIANT] [--twice] | --list\n";

static void trace_line(const char *area, const char *line, void *arg)
{
    sim_trace(arg, "%s: %s", area, line);
}

static void run_seed(const struct settings *settings,
                     uint64_t seed,
                     struct sim_result *out_result)
{
    struct sim_knobs knobs = sim_scenario_knobs(settings->scenario, seed);
    struct sim_world *world = sim_world_new(seed, settings->trace);

    if (settings->rule != NULL && strcmp(settings->rule, "own") == 0)
        knobs.reclaim_rule = SIM_RECLAIM_OWN;
    if (settings->rule != NULL && strcmp(settings->rule, "eager") == 0)
        knobs.reclaim_rule = SIM_RECLAIM_EAGER;
    if (settings->trace)
        lks_log_set(trace_line, world, "all");
    sim_run(world, &knobs, out_result);
}

/* What a child does; it says nothing unless something is wrong. */
static void run_child(const struct settings *settings, struct slot *slot)
{
    struct sim_result again;

    if (settings->expected != 0 && freopen("/dev/null", "w", stderr) == NULL)
        _exit(EXIT_FAILURE);
    run_seed(settings, slot->seed, &slot->result);
    if (settings->twice) {
        run_seed(settings, slot->seed, &again);
        if (again.digest != slot->result.digest) {
            fprintf(stderr, "seed %" PRIu64 " ran differently twice\n",
                    slot->seed);
            _exit(EXIT_FAILURE);
        }
    }
    _exit(EXIT_SUCCESS);
}

static void add_result(struct sim_result *sum, const struct sim_result *one)
{
    sum->switches += one->switches;
    sum->requests += one->requests;
    sum->versions += one->versions;
    sum->steps += one->steps;
    sum->strays += one->strays;
    sum->acked += one->acked;
    sum->read += one->read;
    sum->first_live += one->first_live;
    sum->removed += one->removed;
    sum->virtual_ms += one->virtual_ms;
    if (sum->largest_manifest < one->largest_manifest)
        sum->largest_manifest = one->largest_manifest;
}

/* In one write, for others are writing too. */
static void print_replay(const struct settings *settings,
                         const char *what,
                         uint64_t seed)
{
    bool has_rule = settings->rule != NULL;

    fprintf(stderr,
            "%sreplay: %s --scenario %s --seed %" PRIu64 "%s%s --trace\n", what,
            settings->program, settings->scenario->name, seed,
            has_rule ? " --rule " : "", has_rule ? settings->rule : "");
}

/* Waits for one child and judges it. */
static void collect(const struct settings *settings,
                    struct slot *slots,
                    struct totals *totals)
{
    char what[64] = "";
    int status;
    pid_t child = wait(&status);
    struct slot *slot = slots;

    if (child < 0) {
        perror("sim: wait");
        exit(EXIT_FAILURE);
    }
    while (slot->child != child)
        slot++;
    slot->child = 0;
    totals->seeds++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        add_result(&totals->sum, &slot->result);
        return;
    }
    totals->failures++;
    if (WIFEXITED(status) &&
        (uint64_t)WEXITSTATUS(status) == 10 + settings->expected)
        totals->expected_failures++;
    if (WIFSIGNALED(status))
        snprintf(what, sizeof(what), "seed %" PRIu64 ": killed by signal %d\n",
                 slot->seed, WTERMSIG(status));
    if (settings->expected == 0)
        print_replay(settings, what, slot->seed);
}

static void start_child(const struct settings *settings,
                        struct slot *slots,
                        uint64_t seed)
{
    struct slot *slot = slots;
    pid_t child;

    while (slot->child != 0)
        slot++;
    slot->seed = seed;
    fflush(NULL);
    child = fork();
    if (child < 0) {
        perror("sim: fork");
        exit(EXIT_FAILURE);
    }
    if (child == 0)
        run_child(settings, slot);
    slot->child = child;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_enough(const struct settings *settings,
                      const struct totals *totals)
{
    if (settings->expected != 0)
        return totals->expected_failures > 0;
    return totals->failures >= FAILURES_SHOWN;
}

static void report(const struct settings *settings,
                   const struct totals *totals,
                   double took_s)
{
    const struct sim_result *sum = &totals->sum;

    printf("%s: %" PRIu64 " seeds in %.1f s (%.1f/s), %" PRIu64
           " failed; %" PRIu64 " versions, %" PRIu64 " steps, %" PRIu64
           " acknowledged, %" PRIu64 " slices read, %" PRIu64
           " steps reclaimed, %" PRIu64 " objects removed, %" PRIu64
           " strays, %" PRIu64 " requests, %" PRIu64
           " switches, %.1f virtual hours, largest "
           "manifest %" PRIu64 " bytes\n",
           settings->scenario->name, totals->seeds, took_s,
           (double)totals->seeds / took_s, totals->failures, sum->versions,
           sum->steps, sum->acked, sum->read, sum->first_live, sum->removed,
           sum->strays, sum->requests, sum->switches,
           (double)sum->virtual_ms / 3.6e6, sum->largest_manifest);
}

static int run_seeds(const struct settings *settings)
{
    struct slot *slots =
        mmap(NULL, WORKERS_MAX * sizeof(*slots), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct totals totals = {0};
    uint64_t running = 0;
    uint64_t seed = settings->first;
    double began_s = now_s();

    if (slots == MAP_FAILED) {
        perror("sim: mmap");
        return EXIT_FAILURE;
    }
    while (running > 0 ||
           (seed <= settings->last && !is_enough(settings, &totals))) {
        while (running < settings->workers && seed <= settings->last &&
               !is_enough(settings, &totals)) {
            start_child(settings, slots, seed++);
            running++;
        }
        collect(settings, slots, &totals);
        running--;
    }
    report(settings, &totals, now_s() - began_s);
    if (settings->expected == 0)
        return totals.failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (totals.expected_failures > 0)
        return EXIT_SUCCESS;
    printf("no seed broke invariant %" PRIu64 "\n", settings->expected);
    return EXIT_FAILURE;
}

static int run_one(const struct settings *settings)
{
    struct sim_result result;

    run_seed(settings, settings->first, &result);
    printf("seed %" PRIu64 ": all holds; digest %016" PRIx64 ", %" PRIu64
           " versions, %" PRIu64 " steps, %" PRIu64 " strays, %" PRIu64
           " requests, %.1f virtual s\n",
           settings->first, result.digest, result.versions, result.steps,
           result.strays, result.requests, (double)result.virtual_ms / 1e3);
    return EXIT_SUCCESS;
}

static int list(void)
{
    for (size_t i = 0; sim_scenario_at(i) != NULL; i++)
        printf("%-18s %s\n", sim_scenario_at(i)->name,
               sim_scenario_at(i)->says);
    return EXIT_SUCCESS;
}

static int refuse(void)
{
    fputs(usage, stderr);
    return 2;
}

static bool parse_range(char *text, struct settings *settings)
{
    char *dash = strchr(text, '-');

    if (dash == NULL)
        return false;
    *dash = '\0';
    return lks_parse_u64(text, &settings->first) &&
           lks_parse_u64(dash + 1, &settings->last) &&
           settings->first <= settings->last;
}

/* One option with a value. */
static bool parse_valued(const char *name,
                         char *value,
                         struct settings *settings)
{
    if (value == NULL)
        return false;
    if (strcmp(name, "--seed") == 0 && lks_parse_u64(value, &settings->first)) {
        settings->last = settings->first;
        return true;
    }
    if (strcmp(name, "--seeds") == 0)
        return parse_range(value, settings);
    if (strcmp(name, "--scenario") == 0) {
        settings->scenario = sim_scenario_find(value);
        return settings->scenario != NULL;
    }
    if (strcmp(name, "--expect") == 0)
        return lks_parse_u64(value, &settings->expected);
    if (strcmp(name, "--rule") != 0)
        return false;
    settings->rule = value;
    return strcmp(value, "own") == 0 || strcmp(value, "eager") == 0;
}

static bool parse(int argc, char **argv, struct settings *settings)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            settings->trace = true;
        } else if (strcmp(argv[i], "--twice") == 0) {
            settings->twice = true;
        } else if (strncmp(argv[i], "-j", 2) == 0) {
            if (!lks_parse_u64(argv[i] + 2, &settings->workers) ||
                settings->workers == 0 || settings->workers > WORKERS_MAX)
                return false;
        } else if (parse_valued(argv[i], argv[i + 1], settings)) {
            i++;
        } else {
            return false;
        }
    }
    return settings->first <= settings->last;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = argv[0],
        .scenario = sim_scenario_at(0),
        .first = 1,
        .workers = 1,
    };

    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    if (!parse(argc, argv, &settings))
        return refuse();
    if (settings.first == settings.last && settings.expected == 0 &&
        !settings.twice)
        return run_one(&settings);
    return run_seeds(&settings);
}
