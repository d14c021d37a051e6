/*
 * A process that forks the stream, again and again, each time into a bucket of
 * its own, while the parent goes on and is reclaimed. A fork must begin with
 * the producers exactly where they were at its step.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "producer/producer.h"
#include "reclaim/reclaim.h"
#include "sim/sim_run.h"

#define FORK_MEAN_S 10.0

/* Where a producer was at a step, by the chain. */
struct place {
    uint64_t next_seq;
    uint64_t epoch; /* of its last TGB */
    char offset[SIM_OFFSET_SIZE];
};

static struct place place_at(const struct sim_truth *truth,
                             const struct sim_seat *seat,
                             uint64_t step)
{
    struct place place = {.offset = ""};

    while (place.next_seq < seat->next_seq &&
           seat->steps[place.next_seq] < step)
        place.next_seq++;
    if (place.next_seq > 0) {
        uint64_t seq = place.next_seq - 1;
        const struct sim_step *last = &truth->steps[seat->steps[seq]];
        struct sim_author author = {.epoch = last->epoch,
                                    .owner_tag = last->owner_tag};

        memcpy(author.id, seat->id, sizeof(author.id));
        sim_offset(&author, seq, place.offset);
        place.epoch = last->epoch;
    }
    return place;
}

static void check_producer(struct sim_truth *truth,
                           const struct sim_seat *seat,
                           const struct lks_manifest *first,
                           uint64_t step)
{
    struct place place = place_at(truth, seat, step);
    struct lks_producer_record record = {.next_seq = 0};
    bool found = lks_manifest_find_producer(first, seat->id, &record);

    if (!found && place.next_seq == 0)
        return;
    if (!found || record.next_seq != place.next_seq ||
        record.epoch <= place.epoch || record.finished ||
        record.offset_size != strlen(place.offset) ||
        (record.offset_size > 0 &&
         memcmp(record.offset, place.offset, record.offset_size) != 0))
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "a fork at step %" PRIu64 " has %s at seq %" PRIu64
                 " of epoch %" PRIu64 "%s, and it was at %" PRIu64 " '%s'",
                 step, seat->id, record.next_seq, record.epoch,
                 record.finished ? ", finished" : "", place.next_seq,
                 place.offset);
}

/* The fork's first manifest, as it stands in its bucket. */
static void check_first(struct sim_truth *truth,
                        const struct sim_bucket *bucket,
                        const struct lks_stream *fork,
                        uint64_t step)
{
    struct lks_manifest *first = NULL;
    const struct sim_object *object;
    struct lks_error error = {.message = "it is not there"};
    char name[LKS_NAME_SIZE];

    lks_manifest_name(fork->descriptor.stream, 1, name);
    object = sim_objects_find(&bucket->objects, name);
    if (object == NULL ||
        lks_manifest_decode(object->data, object->size, fork->descriptor.stream,
                            1, &first, &error) != LKS_OK)
        sim_fail(truth->world, SIM_ATOMIC, "a fork's first manifest: %s",
                 error.message);
    if (lks_manifest_first_live_step(first) != step ||
        lks_manifest_next_step(first) != step)
        sim_fail(truth->world, SIM_LINEAR,
                 "a fork at step %" PRIu64 " begins at step %" PRIu64, step,
                 lks_manifest_next_step(first));
    for (uint32_t i = 0; i < truth->seat_count; i++)
        check_producer(truth, &truth->seats[i], first, step);
    lks_manifest_free(first);
}

/* A producer that opens the fork continues where it was. */
static void check_opening(struct sim_job *job,
                          struct lks_stream *fork,
                          uint64_t step)
{
    struct sim_truth *truth = &job->run->truth;
    const struct sim_seat *seat =
        &truth->seats[sim_random_below(&job->run->random, truth->seat_count)];
    struct lks_producer *producer = NULL;
    struct lks_error error;
    enum lks_status status =
        lks_producer_open(fork, seat->id, NULL, &producer, &error);

    if (status != LKS_OK)
        sim_job_judge(job, &error);
    else if (lks_producer_next_seq(producer) !=
             place_at(truth, seat, step).next_seq)
        sim_fail(truth->world, SIM_EXACTLY_ONCE,
                 "%s continues in a fork at step %" PRIu64 " with seq %" PRIu64,
                 seat->id, step, lks_producer_next_seq(producer));
    lks_producer_close(producer);
}

static void fork_once(struct sim_job *job,
                      struct lks_stream *stream,
                      uint64_t step)
{
    struct sim_run *run = job->run;
    /* It stays, for requests may be on their way. */
    struct sim_bucket *bucket = calloc(1, sizeof(*bucket));
    struct sim_faults calm = run->knobs.faults;
    const struct sim_process *process = sim_job_process(job);
    uint64_t stood_still_ns = process->stood_still_ns;
    struct lks_stream *fork = NULL;
    struct lks_error error;
    enum lks_status status;

    if (bucket == NULL)
        abort();
    calm.until_ns = 0;
    calm.key_limit = false;
    calm.skew_ms = 0; /* Or the probe would refuse it. */
    sim_bucket_init(bucket, run->world, &calm);
    status =
        lks_fork(stream, step, sim_bucket_store(bucket, sim_job_process(job)),
                 &fork, &error);
    if (status == LKS_RECLAIMED) {
        sim_truth_check_reclaimed(&run->truth, step, job->name);
    } else if (status == LKS_UNSUPPORTED &&
               process->stood_still_ns != stood_still_ns) {
        /* By a clock that stood still, the store's seems to run ahead. */
        sim_trace(run->world, "no fork: %s", error.message);
    } else if (status != LKS_OK) {
        sim_job_judge(job, &error);
    } else {
        sim_trace(run->world, "forked at step %" PRIu64, step);
        check_first(&run->truth, bucket, fork, step);
        if (run->truth.seat_count > 0)
            check_opening(job, fork, step);
        lks_stream_close(fork);
    }
}

void sim_fork(void *arg)
{
    struct sim_job *job = arg;
    struct sim_truth *truth = &job->run->truth;
    struct lks_stream *stream = sim_job_stream(job);

    while (!job->done) {
        uint64_t first = truth->life.first_live;
        uint64_t room = truth->step_count - first;

        if (room > 3 && sim_random_chance(&job->run->random, 0.5))
            room = 3;
        fork_once(job, stream,
                  first + sim_random_below(&job->run->random, room + 1));
        sim_job_sleep(job, FORK_MEAN_S);
    }
    lks_stream_close(stream);
}
