/*
 * A reading process: one rank, from its checkpoint to the end of the stream.
 * Every byte is checked.
 */
#include <stdlib.h>

#include "manifest/stream.h"
#include "sim/sim_run.h"

#define SEEN_BEFORE_CHECKPOINT 8u

static struct lks_options *reader_options(const struct sim_knobs *knobs)
{
    struct lks_options *options = sim_options_new();

    sim_options_set(options, "poll_ms", knobs->poll_ms);
    sim_options_set(options, "fetches", 1);
    sim_options_set(options, "prefetch_bytes", 65536);
    sim_options_set(options, "starve_timeout_ms", 600000);
    return options;
}

static uint32_t reader_dp(const struct sim_knobs *knobs)
{
    return knobs->reader_dp == 0 ? knobs->dp : knobs->reader_dp;
}

/* Which slices of which step this batch must be, by the mesh of the reader. */
void sim_check_batch(struct sim_run *run,
                     const struct lks_batch *batch,
                     uint32_t rank,
                     uint32_t dp)
{
    const struct sim_knobs *knobs = &run->knobs;
    uint32_t each = dp < knobs->dp ? knobs->dp / dp : 1;
    uint32_t d = rank / knobs->cp % dp;
    uint64_t step =
        lks_batch_step(batch) + (dp > knobs->dp ? d / knobs->dp : 0);

    for (uint32_t i = 0; i < each; i++) {
        struct lks_slice slice = lks_batch_slice(batch, i);

        sim_truth_check_slice(&run->truth, step,
                              (d * each + i) % knobs->dp * knobs->cp +
                                  rank % knobs->cp,
                              slice.data, slice.size);
    }
}

static enum lks_status read_next(struct sim_job *job,
                                 struct lks_consumer *consumer,
                                 struct lks_error *error)
{
    uint64_t expected = lks_consumer_step(consumer);
    struct lks_batch *batch = NULL;
    enum lks_status status = lks_consumer_next(consumer, &batch, error);

    if (status != LKS_OK)
        return status;
    if (lks_batch_step(batch) != expected)
        sim_fail(job->run->world, SIM_LINEAR, "a reader left out a step");
    sim_check_batch(job->run, batch, job->number, reader_dp(&job->run->knobs));
    if (lks_batch_next_step(batch) % SEEN_BEFORE_CHECKPOINT == 0)
        job->step = lks_batch_next_step(batch);
    lks_batch_release(batch);
    return LKS_OK;
}

static void check_end(struct sim_job *job,
                      const struct lks_consumer *consumer,
                      uint64_t start)
{
    const struct sim_knobs *knobs = &job->run->knobs;
    uint64_t group =
        knobs->reader_dp > knobs->dp ? knobs->reader_dp / knobs->dp : 1;
    uint64_t steps = job->run->truth.step_count;
    uint64_t step = lks_consumer_step(consumer);

    if (step != steps - (steps - start) % group)
        sim_fail(job->run->world, SIM_ATOMIC,
                 "rank %u ends at step %llu of %llu: ranks that read %llu TGBs "
                 "as one must agree",
                 job->number, (unsigned long long)step,
                 (unsigned long long)steps, (unsigned long long)group);
    sim_truth_check_end(&job->run->truth, steps);
}

void sim_read(void *arg)
{
    struct sim_job *job = arg;
    const struct sim_knobs *knobs = &job->run->knobs;
    struct lks_stream *stream = sim_job_stream(job);
    struct lks_options *options = reader_options(knobs);
    struct lks_consumer *consumer = NULL;
    struct lks_error error;
    enum lks_status status;
    uint32_t dp = reader_dp(knobs);
    uint64_t start = job->step;
    uint64_t step = start;

    status =
        lks_consumer_open(stream, job->number % (dp * knobs->cp), dp, knobs->cp,
                          job->step, options, &consumer, &error);
    while (status == LKS_OK || status == LKS_TIMEOUT) {
        status = read_next(job, consumer, &error);
        step = lks_consumer_step(consumer);
        sim_seam(sim_job_process(job));
    }
    if (status == LKS_ENDED) {
        check_end(job, consumer, start);
        sim_job_done(job);
    } else if (status == LKS_RECLAIMED) {
        /* It is of no group, so nothing is kept for it. */
        sim_truth_check_reclaimed(&job->run->truth, step, job->name);
        job->step = job->run->truth.life.first_live;
    } else {
        sim_job_judge(job, &error);
    }
    lks_consumer_close(consumer);
    lks_options_free(options);
    lks_stream_close(stream);
}
