/*
 * The report of `bench commit`: medians, and the ratios of pairs, since what
 * happens to a machine while it is measured happens to both of a pair.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench_commit.h"
#include "report.h"

static const char *const cost_names[COST_COUNT] = {
    [COST_COMMIT] = "commit",
    [COST_OPEN_PRODUCER] = "open_producer",
    [COST_OPEN_CONSUMER] = "open_consumer",
    [COST_POLL] = "poll",
    [COST_LOOKUP] = "lookup",
    [COST_RAW] = "raw",
};

static const char *const field_names[FIELD_COUNT] = {
    [FIELD_MS] = "ms",
    [FIELD_REQUESTS] = "requests",
    [FIELD_BYTES_READ] = "bytes_read",
    [FIELD_BYTES_WRITTEN] = "bytes_written",
};

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The value that `percent` of them do not exceed. */
static double percentile(const double *values, size_t count, size_t percent)
{
    double sorted[BENCH_PAIRS_MAX];

    memcpy(sorted, values, count * sizeof(*values));
    qsort(sorted, count, sizeof(*sorted), compare_numbers);
    return sorted[(count * percent + 99) / 100 - 1];
}

static double median_of_ratios(const double *above,
                               const double *below,
                               size_t count)
{
    double ratios[BENCH_PAIRS_MAX];

    for (size_t i = 0; i < count; i++)
        ratios[i] = above[i] / below[i];
    return percentile(ratios, count, 50);
}

static json_t *describe_cost(const struct bench *bench,
                             const struct bench_stream *target,
                             enum bench_cost cost)
{
    const double *ms = target->samples[cost][FIELD_MS];
    json_t *object =
        json_pack("{s:f, s:f}", "ms_median", percentile(ms, bench->pairs, 50),
                  "ms_p95", percentile(ms, bench->pairs, 95));

    for (int field = FIELD_REQUESTS; field < FIELD_COUNT; field++)
        json_object_set_new(
            object, field_names[field],
            json_integer((json_int_t)percentile(target->samples[cost][field],
                                                bench->pairs, 50)));
    return object;
}

static json_t *describe_stream(const struct bench *bench,
                               const struct bench_stream *target)
{
    json_t *object =
        json_pack("{s:I, s:f, s:I, s:I}", "steps", (json_int_t)target->steps,
                  "build_seconds", target->build_seconds, "version",
                  (json_int_t)target->version, "manifest_bytes",
                  (json_int_t)target->manifest_size);

    for (int cost = 0; cost < COST_COUNT; cost++)
        json_object_set_new(object, cost_names[cost],
                            describe_cost(bench, target, cost));
    return object;
}

/* What each costs on the long stream over what it costs on the short one. */
static json_t *describe_ratios(const struct bench *bench,
                               const struct bench_stream *small,
                               const struct bench_stream *large)
{
    json_t *object = json_object();

    for (int cost = 0; cost < COST_COUNT; cost++)
        json_object_set_new(object, cost_names[cost],
                            json_real(
                                median_of_ratios(large->samples[cost][FIELD_MS],
                                                 small->samples[cost][FIELD_MS],
                                                 bench->pairs)));
    return object;
}

static void print_cost(const json_t *report, const char *name)
{
    const json_t *costs[] = {
        json_object_get(json_object_get(report, "small"), name),
        json_object_get(json_object_get(report, "large"), name),
    };

    printf("%-14s", name);
    for (int i = 0; i < 2; i++)
        printf(" %9.3f %9.3f",
               json_number_value(json_object_get(costs[i], "ms_median")),
               json_number_value(json_object_get(costs[i], "ms_p95")));
    printf(" %9.3f %8" JSON_INTEGER_FORMAT "\n",
           json_number_value(
               json_object_get(json_object_get(report, "large_over_small"),
                               name)),
           json_integer_value(json_object_get(costs[1], "requests")));
}

static int print_report(const struct bench *bench,
                        const struct bench_stream *small,
                        const struct bench_stream *large,
                        json_t *report)
{
    printf("streams: %" PRIu64 " and %" PRIu64 " steps, built in %.1f and "
           "%.1f s; manifests: %" PRIu64 " and %" PRIu64 " bytes; pairs: "
           "%" PRIu64 "\n",
           small->steps, large->steps, small->build_seconds,
           large->build_seconds, small->manifest_size, large->manifest_size,
           bench->pairs);
    printf("%-14s %9s %9s %9s %9s %9s %8s\n", "ms", "small", "p95", "large",
           "p95", "ratio", "requests");
    for (int cost = 0; cost < COST_COUNT; cost++)
        print_cost(report, cost_names[cost]);
    printf("commits per second over raw writes of the same bytes: %.3f\n",
           json_number_value(json_object_get(report, "ratio")));
    json_decref(report);
    return EXIT_DONE;
}

int bench_commit_report(const struct bench *bench,
                        struct bench_stream *small,
                        struct bench_stream *large,
                        uint64_t map_count)
{
    json_t *report = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "bench",
                               "commit", "url", bench->args->operands[0],
                               "slice_size", (json_int_t)bench->slice_size,
                               "producers_in_map", (json_int_t)map_count,
                               "pairs", (json_int_t)bench->pairs, "unit", "ms");

    json_object_set_new(report, "small", describe_stream(bench, small));
    json_object_set_new(report, "large", describe_stream(bench, large));
    json_object_set_new(report, "large_over_small",
                        describe_ratios(bench, small, large));
    /* As that of the other benches, a rate: the more the better. */
    json_object_set_new(
        report, "ratio",
        json_real(median_of_ratios(large->samples[COST_RAW][FIELD_MS],
                                   large->samples[COST_COMMIT][FIELD_MS],
                                   bench->pairs)));
    return bench->args->json ? report_json(bench->args, report)
                             : print_report(bench, small, large, report);
}
