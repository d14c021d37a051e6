/*
 * A producing process: opens its id, appends what is missing, flushes now and
 * then, finishes. Every promise it gets is checked.
 */
#include <stdlib.h>
#include <string.h>

#include "producer/producer.h"
#include "sim/sim_run.h"

#define SLICES_MAX 16u
#define META "from the simulator"

/* One append's bytes, until they are released. */
struct tgb {
    struct lks_slice slices[SLICES_MAX];
    uint8_t bytes[SLICES_MAX][SIM_SLICE_SIZE_MAX];
};

static struct lks_options *producer_options(const struct sim_knobs *knobs)
{
    struct lks_options *options = sim_options_new();

    sim_options_set(options, "commit_gap_ms", knobs->commit_gap_ms);
    sim_options_set(options, "uploads", 2);
    sim_options_set(options, "outage_timeout_ms", 60000);
    sim_options_set(options, "flush_timeout_ms", 600000);
    return options;
}

static enum lks_status append(struct sim_job *job,
                              struct lks_producer *producer,
                              const struct sim_author *author,
                              struct lks_error *error)
{
    uint32_t count = job->run->truth.slice_count;
    struct tgb *tgb = calloc(1, sizeof(*tgb));
    uint64_t seq = lks_producer_next_seq(producer);
    char offset[SIM_OFFSET_SIZE];
    enum lks_status status;

    if (tgb == NULL)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        tgb->slices[i].data = tgb->bytes[i];
        tgb->slices[i].size = sim_payload(author, seq, i, tgb->bytes[i]);
    }
    sim_offset(author, seq, offset);
    status = lks_producer_append(producer, tgb->slices, count, offset,
                                 strlen(offset), META, strlen(META), free, tgb,
                                 error);
    if (status != LKS_OK)
        free(tgb);
    return status;
}

/* Until all TGBs of this id are in, or something comes in between. */
static enum lks_status append_all(struct sim_job *job,
                                  struct lks_producer *producer,
                                  const struct sim_author *author,
                                  struct lks_error *error)
{
    struct sim_run *run = job->run;
    uint64_t acked_seq = lks_producer_next_seq(producer);
    enum lks_status status = LKS_OK;

    while (status == LKS_OK &&
           lks_producer_next_seq(producer) < run->knobs.tgbs) {
        status = append(job, producer, author, error);
        if (status == LKS_OK &&
            sim_random_chance(&run->random, run->knobs.flush_chance)) {
            uint64_t end_seq = lks_producer_next_seq(producer);

            status = lks_producer_flush(producer, error);
            if (status == LKS_OK) {
                sim_truth_check_acked(&run->truth, author, acked_seq, end_seq);
                acked_seq = end_seq;
            }
        }
        sim_job_sleep(job, (double)run->knobs.append_mean_ms / 1000.0);
    }
    if (status != LKS_OK)
        return status;
    status = lks_producer_finish(producer, error);
    if (status == LKS_OK) {
        sim_truth_check_acked(&run->truth, author, acked_seq,
                              lks_producer_next_seq(producer));
        sim_truth_check_finished(&run->truth, author);
        sim_job_done(job);
    }
    return status;
}

void sim_produce(void *arg)
{
    struct sim_job *job = arg;
    struct sim_run *run = job->run;
    struct lks_stream *stream = sim_job_stream(job);
    struct lks_options *options = producer_options(&run->knobs);
    struct lks_producer *producer = NULL;
    struct lks_error error;
    enum lks_status status;

    status = lks_producer_open(stream, job->name, options, &producer, &error);
    if (status == LKS_OK) {
        struct sim_author author =
            sim_author_of(job->name, producer->identity.epoch,
                          producer->identity.owner);
        char offset[SIM_OFFSET_SIZE] = "";
        const void *data;
        size_t size;

        lks_producer_offset(producer, &data, &size);
        if (size > 0)
            memcpy(offset, data, size < SIM_OFFSET_SIZE ? size : 0);
        sim_truth_check_opened(&run->truth, &author,
                               lks_producer_next_seq(producer), offset);
        status = append_all(job, producer, &author, &error);
    }
    if (status != LKS_OK)
        sim_job_judge(job, &error);
    lks_producer_close(producer);
    lks_options_free(options);
    lks_stream_close(stream);
}
