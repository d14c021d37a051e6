/*
 * What the benches share.
 *
 * All sides run in one process, warmed up, in turns, and in changing order,
 * so that whatever the machine does meanwhile it does to all. The result is a
 * ratio of medians.
 */
#include "bench.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench_folder.h"
#include "commands.h"
#include "interrupt.h"
#include "library_options.h"
#include "progress.h"
#include "report.h"

#define MB 1e6
#define THREADS_MAX (BENCH_WORKERS_MAX * BENCH_DEPTH_MAX)

struct samples {
    double mb_per_s[BENCH_PAIRS_MAX];
    size_t count;
    uint64_t requests; /* of all of them */
    uint64_t commits;
    uint64_t commit_requests;
};

void bench_key(uint64_t index, char key[BENCH_KEY_SIZE])
{
    snprintf(key, BENCH_KEY_SIZE, "raw/%08" PRIu64, index);
}

int bench_parse(struct bench *bench,
                struct args *args,
                const char *title,
                const char *workers,
                const char *depth)
{
    struct lks_error error;

    *bench = (struct bench){
        .args = args,
        .title = title,
        .workers = workers,
        .depth = depth,
        .slice_size = args_number(args, "slice-size"),
        .slices = args_number(args, "slices"),
        .count = args_number(args, "count"),
        .pairs = args_number(args, "pairs"),
        .worker_count = args_number(args, workers),
        .depth_count = args_number(args, depth),
    };
    bench->tgb_size = bench->slice_size * bench->slices;
    bench->item = "tgb";
    bench->item_count = bench->count;
    /* It is an option of the library too; both sides must have the same. */
    if (lks_options_set(args->options, depth, args_text(args, depth), &error) !=
        LKS_OK)
        return report_usage(args->command, "%s", error.message);
    if (bench->count % bench->worker_count != 0)
        return report_usage(args->command,
                            "--count %" PRIu64 " must be a "
                            "multiple of --%s %" PRIu64,
                            bench->count, workers, bench->worker_count);
    return EXIT_DONE;
}

/* Bytes that no codec makes smaller, the same each time. */
static void fill_payload(uint8_t *payload, uint64_t size)
{
    uint64_t state = 0;

    for (uint64_t i = 0; i < size; i += sizeof(state)) {
        uint64_t word = state += UINT64_C(0x9e3779b97f4a7c15);

        word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
        memcpy(payload + i, &word, sizeof(word));
    }
}

static enum lks_status make_url(struct bench *bench, struct lks_error *error)
{
    const char *base = bench->args->operands[0];
    size_t length = strlen(base);
    uint64_t nonce = 0;

    if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
        return fail_errno(error, "read", "the system's random numbers");
    while (length > 0 && base[length - 1] == '/')
        length--;
    /* Room is left for the names below. */
    if (length > sizeof(bench->url) - 128)
        return fail(error, LKS_INVALID, "the URL is too long");
    snprintf(bench->url, sizeof(bench->url), "%.*s/bench-%016" PRIx64,
             (int)length, base, nonce);
    return LKS_OK;
}

uint64_t bench_frame_size(const struct bench *bench)
{
    return (bench->slice_size + 63) / 64 * 64 + 64;
}

/* Raw objects have as much around their bytes as TGBs: a store that cuts
 * objects at 4 MiB has one cut more for 4 MiB and a header, and that is no
 * matter of streams. */
static uint64_t size_of_object(const struct bench *bench)
{
    return bench->slices * bench_frame_size(bench) + 128;
}

enum lks_status bench_open(struct bench *bench, struct lks_error *error)
{
    uint64_t room;
    enum lks_status status;

    bench->object_size = size_of_object(bench);
    room = bench->object_size + sizeof(uint64_t);
    status = make_url(bench, error);
    if (status != LKS_OK)
        return status;
    bench->payload = malloc(room);
    if (bench->payload == NULL)
        return fail(error, LKS_NO_MEMORY,
                    "out of memory for a TGB of %" PRIu64
                    " bytes; use a smaller --slice-size or --slices",
                    bench->tgb_size);
    fill_payload(bench->payload, bench->object_size);

    status =
        lks_store_open(bench->url, bench->args->options, &bench->store, error);
    if (status == LKS_OK)
        interrupt_watch_work(bench);
    return status;
}

void bench_drop_stream(struct bench *bench, struct lks_stream *stream)
{
    char *json = NULL;

    if (stream == NULL)
        return;
    if (lks_stream_drop(stream, 1, bench->args->options, &json, NULL) == LKS_OK)
        lks_text_free(json);
    lks_stream_close(stream);
}

void bench_close(struct bench *bench)
{
    char key[BENCH_KEY_SIZE];

    bench_drop_stream(bench, bench->stream);
    if (bench->store != NULL) {
        interrupt_unwatch(bench);
        for (uint64_t i = 0; i < bench->raw_count; i++) {
            bench_key(i, key);
            lks_object_remove(bench->store, key, NULL);
        }
        lks_store_close(bench->store);
        if (!bench_folder_remove(bench->url))
            fprintf(stderr,
                    "lakestream bench: what keeps its dropped streams' "
                    "prefixes from being used again is left; remove it with "
                    "the store's own tool, such as aws s3 rm --recursive %s\n",
                    bench->url);
    }
    free(bench->payload);
}

enum lks_status bench_create_stream(struct bench *bench,
                                    struct lks_stream **out_stream,
                                    struct lks_error *error)
{
    char url[BENCH_URL_SIZE + 64];

    snprintf(bench->stream_name, sizeof(bench->stream_name), "ours-%" PRIu64,
             bench->stream_count++);
    snprintf(url, sizeof(url), "%s/%s", bench->url, bench->stream_name);
    return lks_stream_create(url, (uint32_t)bench->slices, 1,
                             bench->args->options, out_stream, error);
}

uint64_t bench_requests(struct lks_store *store,
                        struct lks_stream *stream,
                        const char *kind)
{
    enum lks_status status;
    char *text = NULL;
    uint64_t sum = 0;
    const char *name;
    json_t *counts, *count;

    status = stream != NULL ? lks_stream_stats(stream, &text, NULL)
                            : lks_store_stats(store, &text, NULL);
    if (status != LKS_OK)
        return 0;
    counts = report_parse(text);
    json_object_foreach(counts, name, count)
    {
        if (kind == NULL || strcmp(name, kind) == 0)
            sum += (uint64_t)json_integer_value(count);
    }
    json_decref(counts);
    return sum;
}

struct team {
    bench_work_fn *work;
    void *shared;

    struct {
        pthread_mutex_t mutex;
        pthread_cond_t begun;
        bool begin;
        size_t next_index;
        struct lks_error error; /* the first */
    } locked;
};

static void *run_member(void *arg)
{
    struct team *team = arg;
    struct lks_error error = {0};
    size_t index;

    pthread_mutex_lock(&team->locked.mutex);
    index = team->locked.next_index++;
    while (!team->locked.begin)
        pthread_cond_wait(&team->locked.begun, &team->locked.mutex);
    pthread_mutex_unlock(&team->locked.mutex);

    if (team->work(team->shared, index, &error) != LKS_OK) {
        pthread_mutex_lock(&team->locked.mutex);
        if (team->locked.error.status == LKS_OK)
            team->locked.error = error;
        pthread_mutex_unlock(&team->locked.mutex);
    }
    return NULL;
}

static void begin(struct team *team)
{
    pthread_mutex_lock(&team->locked.mutex);
    team->locked.begin = true;
    pthread_cond_broadcast(&team->locked.begun);
    pthread_mutex_unlock(&team->locked.mutex);
}

enum lks_status bench_threads(size_t count,
                              bench_work_fn *work,
                              void *shared,
                              double *out_seconds,
                              struct lks_error *error)
{
    pthread_t threads[THREADS_MAX];
    struct team team = {
        .work = work,
        .shared = shared,
        .locked = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                   .begun = PTHREAD_COND_INITIALIZER},
    };
    size_t started = 0;
    double start;

    while (started < count &&
           pthread_create(&threads[started], NULL, run_member, &team) == 0)
        started++;
    if (started < count) /* Those that run find that it has failed. */
        fail(&team.locked.error, LKS_NO_MEMORY, "cannot start %zu threads",
             count);

    start = seconds_now();
    begin(&team);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    *out_seconds = seconds_now() - start;

    if (team.locked.error.status != LKS_OK)
        *error = team.locked.error;
    return team.locked.error.status;
}

enum side { SIDE_RAW, SIDE_RAW_CRC, SIDE_OURS, SIDE_COUNT };

static const char *const side_names[SIDE_COUNT] = {"raw", "raw_crc", "ours"};

static enum lks_status take_sample(struct bench *bench,
                                   bench_measure_fn *measure,
                                   struct samples *samples,
                                   struct lks_error *error)
{
    enum lks_status status;
    double seconds = 0;

    if (interrupted())
        return fail(error, LKS_CANCELLED, "interrupted");
    status = measure(bench, &seconds, error);
    if (status != LKS_OK)
        return status;
    samples->mb_per_s[samples->count++] =
        (double)(bench->tgb_size * bench->count) / MB / seconds;
    samples->requests += bench->request_count;
    samples->commits += bench->commit_count;
    samples->commit_requests += bench->commit_request_count;
    return LKS_OK;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* {"median", "min", "max"}; sorts the samples. */
static json_t *summarize(struct samples *samples)
{
    double *values = samples->mb_per_s;
    size_t count = samples->count;

    qsort(values, count, sizeof(*values), compare_numbers);
    return json_pack("{s:f, s:f, s:f}", "median",
                     (values[(count - 1) / 2] + values[count / 2]) / 2, "min",
                     values[0], "max", values[count - 1]);
}

static double number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Ours over another side's, round by round. */
static json_t *summarize_ratios(const struct samples *samples, enum side side)
{
    struct samples ratios = {.count = samples[SIDE_OURS].count};

    for (size_t i = 0; i < ratios.count; i++)
        ratios.mb_per_s[i] =
            samples[SIDE_OURS].mb_per_s[i] / samples[side].mb_per_s[i];
    return summarize(&ratios);
}

static double per(uint64_t count, uint64_t of)
{
    return of > 0 ? (double)count / (double)of : 0;
}

/* What each item took, and each commit beside the TGBs' own requests. */
static void report_requests(json_t *report,
                            const struct bench *bench,
                            const struct samples *samples)
{
    const struct samples *ours = &samples[SIDE_OURS];
    uint64_t item_count = bench->pairs * bench->item_count;
    char name[32];

    snprintf(name, sizeof(name), "requests_per_%s", bench->item);
    json_object_set_new(report, name,
                        json_pack("{s:f, s:f}", "raw",
                                  per(samples[SIDE_RAW].requests, item_count),
                                  "ours", per(ours->requests, item_count)));
    if (ours->commits == 0)
        return;
    json_object_set_new(report, "tgbs_per_commit",
                        json_real(per(item_count, ours->commits)));
    json_object_set_new(report, "requests_per_commit",
                        json_real(per(ours->commit_requests, ours->commits)));
}

/* The whole report; the samples are sorted afterwards. */
static json_t *make_report(const struct bench *bench, struct samples *samples)
{
    json_t *rounds_raw = summarize_ratios(samples, SIDE_RAW);
    json_t *rounds_crc = summarize_ratios(samples, SIDE_RAW_CRC);
    json_t *report =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "bench",
                  bench->title, "url", bench->args->operands[0], bench->workers,
                  (json_int_t)bench->worker_count, bench->depth,
                  (json_int_t)bench->depth_count, "slice_size",
                  (json_int_t)bench->slice_size, "slices",
                  (json_int_t)bench->slices, "count", (json_int_t)bench->count,
                  "pairs", (json_int_t)bench->pairs, "unit", "MB/s");
    double medians[SIDE_COUNT];

    for (int side = 0; side < SIDE_COUNT; side++) {
        json_t *summary = summarize(&samples[side]);

        medians[side] = number_at(summary, "median");
        json_object_set_new(report, side_names[side], summary);
    }
    json_object_set_new(report, "ratio",
                        json_real(medians[SIDE_OURS] / medians[SIDE_RAW]));
    json_object_set_new(report, "ratio_crc",
                        json_real(medians[SIDE_OURS] / medians[SIDE_RAW_CRC]));
    json_object_set_new(report, "ratio_of_pairs", rounds_raw);
    json_object_set_new(report, "ratio_crc_of_pairs", rounds_crc);
    report_requests(report, bench, samples);
    return report;
}

static void print_requests(const json_t *report, const struct bench *bench)
{
    const json_t *sides;
    char name[32];

    snprintf(name, sizeof(name), "requests_per_%s", bench->item);
    sides = json_object_get(report, name);
    printf("requests per %s: %.2f raw, %.2f ours", bench->item,
           number_at(sides, "raw"), number_at(sides, "ours"));
    if (json_object_get(report, "tgbs_per_commit") != NULL)
        printf("; per commit: %.1f TGBs, %.2f requests",
               number_at(report, "tgbs_per_commit"),
               number_at(report, "requests_per_commit"));
    printf("\n");
}

static void print_row(const char *name, const json_t *summary, int decimals)
{
    printf("%-14s %10.*f %10.*f %10.*f\n", name, decimals,
           number_at(summary, "median"), decimals, number_at(summary, "min"),
           decimals, number_at(summary, "max"));
}

static int print_result(const struct bench *bench, struct samples *samples)
{
    json_t *report = make_report(bench, samples);

    if (bench->args->json)
        return report_json(bench->args, report);

    printf("%s: %" PRIu64 ", %s of each: %" PRIu64 ", TGBs: %" PRIu64
           " of %" PRIu64 " x %" PRIu64 " bytes, rounds: %" PRIu64 "\n",
           bench->workers, bench->worker_count, bench->depth,
           bench->depth_count, bench->count, bench->slices, bench->slice_size,
           bench->pairs);
    printf("%-14s %10s %10s %10s  MB/s\n", "", "median", "min", "max");
    for (int side = 0; side < SIDE_COUNT; side++)
        print_row(side_names[side], json_object_get(report, side_names[side]),
                  1);
    print_row("ours/raw", json_object_get(report, "ratio_of_pairs"), 3);
    print_row("ours/raw_crc", json_object_get(report, "ratio_crc_of_pairs"), 3);
    printf("ratio of medians: %.3f of raw, %.3f of raw with a checksum\n",
           number_at(report, "ratio"), number_at(report, "ratio_crc"));
    print_requests(report, bench);
    json_decref(report);
    return EXIT_DONE;
}

int bench_run(struct bench *bench, const struct bench_sides *sides)
{
    bench_measure_fn *const measures[SIDE_COUNT] = {sides->raw, sides->raw_crc,
                                                    sides->ours};
    static struct samples samples[SIDE_COUNT];
    uint64_t round_size = SIDE_COUNT * bench->count * bench->tgb_size;
    enum lks_status status = LKS_OK;
    struct progress progress;
    struct lks_error error;

    progress_start(&progress, bench->title, (bench->pairs + 1) * round_size,
                   true);
    for (uint64_t i = 0; i <= bench->pairs && status == LKS_OK; i++) {
        for (uint64_t k = 0; k < SIDE_COUNT && status == LKS_OK; k++) {
            uint64_t side = (i + k) % SIDE_COUNT;

            status = take_sample(bench, measures[side], &samples[side], &error);
        }
        for (int side = 0; i == 0 && side < SIDE_COUNT; side++)
            samples[side] = (struct samples){0}; /* That was to warm up. */
        progress_show(&progress, (i + 1) * round_size);
    }
    progress_stop(&progress);
    return status == LKS_OK ? print_result(bench, samples)
                            : report_error(bench->args, &error);
}
