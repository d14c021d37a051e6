/*
 * Runs: who is fenced, what a restart keeps, and what a dead job's watermarks
 * are worth.
 */
#include "format/watermark.h"
#include "support/env_hasty.h"
#include "support/life.h"

static void refuse_open(enum lks_status expected,
                        uint32_t rank,
                        const char *run,
                        uint64_t step,
                        const char *message)
{
    struct lks_consumer *consumer = NULL;
    struct lks_error error;

    assert_status(expected,
                  life_open(life.stream, rank, run, step, &consumer, &error));
    assert_message_has(message);
}

static void refuse_checkpoint(enum lks_status expected,
                              struct lks_consumer *consumer,
                              uint64_t step,
                              const char *message)
{
    struct lks_error error;

    life_read_to(consumer, step);
    assert_status(expected,
                  lks_consumer_checkpointed(consumer, step, 0, 0, &error));
    assert_message_has(message);
}

static void an_older_start_is_fenced_wherever_it_wakes_up(void **state)
{
    struct lks_consumer *old, *new;

    (void)state;
    life_add(life.stream, "p0", 10);
    old = life_rank(0, "job-17.1", 0);
    new = life_rank(0, "job-17.2", 2);
    refuse_checkpoint(LKS_FENCED, old, 4, "run job-17.2 took over");
    refuse_open(LKS_FENCED, 1, "job-17.1", 5, "job-17.1 is over");
    refuse_open(LKS_FENCED, 1, "job-17", 5, "job-17.0 is over");
    life_checkpoint(new, 4);
    lks_consumer_close(old);
    lks_consumer_close(new);

    new = life_rank(0, "job-18", 4);
    refuse_open(LKS_FENCED, 0, "job-17.9", 5, "run job-18.0 took over");
    refuse_open(LKS_INVALID, 0, "job-18.-1", 5, "its attempt is below 0");
    lks_consumer_close(new);
}

/* Found by exhaustive interleaving: with shared watermarks step 3, which the
 * third start needs, would be gone. */
static void a_dead_jobs_watermarks_mean_nothing(void **state)
{
    struct lks_consumer *ranks[2];

    (void)state;
    life_add(life.stream, "p0", 10);
    ranks[0] = life_rank(0, "job.0", 0);
    ranks[1] = life_rank(1, "job.0", 0);
    life_checkpoint(ranks[0], 3);
    life_checkpoint(ranks[1], 3);
    life_checkpoint(ranks[0], 6); /* Rank 1 dies before its own. */
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);

    ranks[1] = life_rank(1, "job.1", 3);
    life_checkpoint(ranks[1], 5);
    life_reclaim_to(3);
    ranks[0] = life_rank(0, "job.2", 3);
    life_read_to(ranks[0], 4);
    life_reclaim_to(3);
    assert_int_equal(life_count("watermark/"), 0);
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);
}

static void garbage_of_other_runs_goes_and_that_of_this_stays(void **state)
{
    struct lks_consumer *rank;

    (void)state;
    life_add(life.stream, "p0", 10);
    life_checkpoint(rank = life_rank(0, "job.0", 0), 3);
    lks_consumer_close(rank);
    life_checkpoint(rank = life_rank(0, "job.1", 3), 5);
    assert_int_equal(life_count("watermark/"), 2);
    life_reclaim_to(3); /* Rank 1 has not begun and counts as the floor. */
    assert_int_equal(life_count("watermark/"), 1);
    assert_true(life_exists("watermark/train/job-1/0"));
    lks_consumer_close(rank);
}

static void damaged_watermarks_are_found_and_hold_the_stream(void **state)
{
    struct lks_error error;
    char *text = NULL;

    (void)state;
    life_add(life.stream, "p0", 10);
    life_mark("train", 1, 0, 6);
    life_assert_sound(life.stream);
    life_put("watermark/train/watermark-0/0");
    assert_status(LKS_OK, lks_stream_verify(life.stream, 0, &text, &error));
    assert_non_null(strstr(text, "\"ok\": false"));
    assert_non_null(strstr(text, "watermark/train/watermark-0/0"));
    lks_text_free(text);
    life_reclaim_to(0);
}

static void ranks_join_below_the_floor_but_not_below_what_is_live(void **state)
{
    struct lks_group_record group;
    struct lks_consumer *ranks[2];
    struct lks_error error;
    struct lks_log log;

    (void)state;
    life_add(life.stream, "p0", 10);
    ranks[0] = life_rank(0, "job.0", 5);
    ranks[1] = life_rank(1, "job.0", 2);
    lks_log_init(&log, life.stream, LKS_LOG_WHOLE, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_true(lks_manifest_find_group(log.head, "train", &group));
    assert_int_equal(group.run.floor, 2);
    assert_int_equal(group.run.ranks, 2);
    lks_log_done(&log);
    life_reclaim_to(2);
    refuse_open(LKS_RECLAIMED, 1, "job.1", 1, "first live step is 2");
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);
}

static void going_back_needs_a_new_run(void **state)
{
    struct lks_consumer *rank;
    char text[LKS_STATE_SIZE_MAX];
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    rank = life_rank(0, "job.0", 0);
    life_read_to(rank, 3);
    assert_status(LKS_OK, lks_consumer_state(rank, text, sizeof(text), &error));
    life_checkpoint(rank, 6);
    assert_status(LKS_INVALID, lks_consumer_restore(rank, text, &error));
    assert_message_has("needs a new run");
    refuse_checkpoint(LKS_INVALID, rank, 5, "never moves back");
    lks_consumer_close(rank);
    refuse_open(LKS_INVALID, 0, "job.0", 3, "needs a new run");
    rank = life_rank(0, "job.1", 3);
    life_read_to(rank, 6);
    lks_consumer_close(rank);
}

/* By mistake: each knows only of its own checkpoints. */
static void two_processes_of_one_rank_do_not_go_back(void **state)
{
    struct lks_consumer *ahead, *behind;

    (void)state;
    life_add(life.stream, "p0", 10);
    ahead = life_rank(0, "job.0", 0);
    behind = life_rank(0, "job.0", 0);
    life_checkpoint(behind, 2);
    life_checkpoint(ahead, 6);
    refuse_checkpoint(LKS_INVALID, behind, 4,
                      "below the watermark 6 at watermark/train/job-0/0");
    life_checkpoint(behind, 6);
    life_checkpoint(ahead, 8);
    life_set(life.options, "run", "job.0");
    life_mark("train", 2, 1, 10);
    life_read_to(behind, 7); /* before it is gone */
    life_reclaim_to(8);
    refuse_checkpoint(LKS_RECLAIMED, behind, 7, "first live step is 8");
    life_reclaim_to(8);
    lks_consumer_close(ahead);
    lks_consumer_close(behind);
}

static void older_checkpoints_may_be_kept(void **state)
{
    struct lks_consumer *rank;
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    rank = life_rank(0, "job.0", 0);
    life_read_to(rank, 8);
    assert_status(LKS_INVALID,
                  lks_consumer_checkpointed(rank, 9, 0, 0, &error));
    assert_message_has("next step to hand out is 8");
    assert_status(LKS_INVALID,
                  lks_consumer_checkpointed(rank, 7, 1, 8, &error));
    assert_status(LKS_OK, lks_consumer_checkpointed(rank, 8, 1, 4, &error));
    life_mark("train", 2, 1, 10);
    life_reclaim_to(4);
    lks_consumer_close(rank);
}

static struct lks_consumer *open_for_all(void)
{
    struct lks_consumer *consumer = life_rank(0, "job.0", 0);

    consumer->member.for_all = true;
    return consumer;
}

static void two_processes_that_speak_for_all_do_not_go_back(void **state)
{
    struct lks_consumer *ahead, *behind;

    (void)state;
    life_add(life.stream, "p0", 10);
    ahead = open_for_all();
    behind = open_for_all();
    life_checkpoint(ahead, 6);
    refuse_checkpoint(LKS_INVALID, behind, 4, "watermark/train/job-0/all");
    life_read_to(behind, 5); /* before it is gone */
    life_reclaim_to(6);
    refuse_checkpoint(LKS_RECLAIMED, behind, 5, "first live step is 6");
    lks_consumer_close(ahead);
    lks_consumer_close(behind);
}

static void one_rank_may_speak_for_all(void **state)
{
    (void)state;
    life_add(life.stream, "p0", 10);
    life_mark("train", 4, 2, 7);
    life_mark("train", 4, LKS_RANK_ALL, 5);
    life_reclaim_to(5);
    assert_true(life_exists("watermark/train/watermark-0/all"));
}

static void watermarks_are_checked_where_they_come_in(void **state)
{
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    life_mark("train", 4, 2, 7);
    assert_status(LKS_INVALID, lks_stream_watermark(life.stream, "train", 4, 2,
                                                    11, life.options, &error));
    assert_message_has("next step is 10");
    assert_status(LKS_INVALID, lks_stream_watermark(life.stream, "train", 4, 2,
                                                    6, life.options, &error));
    assert_message_has("never moves back");
    assert_status(LKS_INVALID, lks_stream_watermark(life.stream, "train", 5, 2,
                                                    8, life.options, &error));
    assert_message_has("has 4 ranks, not 5");
    assert_status(LKS_INVALID, lks_stream_watermark(life.stream, "train", 4, 4,
                                                    8, life.options, &error));
    assert_status(LKS_INVALID,
                  lks_stream_watermark(life.stream, "no/such", 4, 0, 8,
                                       life.options, &error));
}

static void watermarks_of_a_named_run_move_on(void **state)
{
    struct lks_consumer *rank;

    (void)state;
    life_add(life.stream, "p0", 10);
    rank = life_rank(0, "job.1", 0);
    life_set(life.options, "run", "job.1");
    for (uint64_t step = 0; step <= 10; step += 2) {
        life_mark("train", 2, 0, step);
        life_mark("train", 2, 1, step);
        life_reclaim_to(step);
    }
    lks_consumer_close(rank);
}

static void an_evicted_rank_counts_no_more_and_is_told(void **state)
{
    struct lks_consumer *ranks[2];
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    ranks[0] = life_rank(0, "job.0", 0);
    ranks[1] = life_rank(1, "job.0", 0);
    life_checkpoint(ranks[0], 6);
    life_reclaim_to(0);
    assert_status(LKS_OK, lks_stream_evict_group(life.stream, "train", 1,
                                                 life.options, &error));
    life_reclaim_to(6);
    refuse_checkpoint(LKS_FENCED, ranks[1], 0, "rank 1 of group train was");
    refuse_open(LKS_FENCED, 1, "job.0", 7, "evicted");
    lks_consumer_close(ranks[1]);
    ranks[1] = life_rank(1, "job.1", 7);
    assert_status(LKS_NOT_FOUND, lks_stream_evict_group(life.stream, "train", 2,
                                                        life.options, &error));
    assert_status(LKS_NOT_FOUND,
                  lks_stream_evict_group(life.stream, "nobody", LKS_RANK_ALL,
                                         life.options, &error));
    assert_status(LKS_OK,
                  lks_stream_evict_group(life.stream, "train", LKS_RANK_ALL,
                                         life.options, &error));
    refuse_checkpoint(LKS_FENCED, ranks[1], 7, "group train was evicted");
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);
}

static void an_evicted_producer_is_fenced_and_counts_as_finished(void **state)
{
    struct lks_producer *producer;
    struct lks_error error;
    struct lks_log log;

    (void)state;
    producer = life_producer(life.stream, "p0");
    assert_status(LKS_OK, life_append(producer, "p0", &error));
    assert_status(LKS_OK, lks_stream_evict_producer(life.stream, "p0",
                                                    life.options, &error));
    assert_int_not_equal(life_append(producer, "p0", &error), LKS_OK);
    assert_status(LKS_FENCED, lks_producer_finish(producer, &error));
    assert_message_has("who evicted or finished it");
    lks_producer_close(producer);
    lks_log_init(&log, life.stream, LKS_LOG_WHOLE, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    assert_true(lks_manifest_ended(log.head));
    assert_int_equal(lks_manifest_next_step(log.head), 1);
    lks_log_done(&log);
    json_decref(life_reclaim(false));
    assert_int_equal(life_count("data/"), 1); /* Its upload went. */
    life_assert_sound(life.stream);
}

static void several_ranks_need_a_run_and_a_launcher_may_name_it(void **state)
{
    struct lks_consumer *consumer = NULL;
    struct lks_error error;

    (void)state;
    unsetenv("TORCHELASTIC_RUN_ID");
    unsetenv("SLURM_JOB_ID");
    refuse_open(LKS_INVALID, 0, "", 0, "LAKESTREAM_RUN");
    setenv("TORCHELASTIC_RUN_ID", "none", 1);
    refuse_open(LKS_INVALID, 0, "", 0, "LAKESTREAM_RUN");
    setenv("SLURM_JOB_ID", "4711", 1);
    setenv("SLURM_RESTART_COUNT", "2", 1);
    assert_status(LKS_OK, life_open(life.stream, 0, "", 0, &consumer, &error));
    assert_string_equal(consumer->member.id, "4711");
    assert_int_equal(consumer->member.attempt, 2);
    lks_consumer_close(consumer);
    setenv("TORCHELASTIC_RUN_ID", "no/id", 1);
    refuse_open(LKS_INVALID, 0, "", 0, "TORCHELASTIC_RUN_ID");
    setenv("TORCHELASTIC_RUN_ID", "run-x", 1);
    setenv("TORCHELASTIC_RESTART_COUNT", "1", 1);
    assert_status(LKS_OK, life_open(life.stream, 0, "", 0, &consumer, &error));
    assert_string_equal(consumer->member.id, "run-x");
    assert_int_equal(consumer->member.attempt, 1);
    lks_consumer_close(consumer);
    unsetenv("TORCHELASTIC_RUN_ID");
    unsetenv("SLURM_JOB_ID");
}

static enum fault lose_every_reply(enum faulty_op op,
                                   const char *key,
                                   void *arg)
{
    static unsigned count;

    (void)key;
    (void)arg;
    if (op == FAULTY_CREATE)
        return FAULT_LOSE_REPLY;
    return op == FAULTY_PUT && count++ % 2 == 0 ? FAULT_LOSE_REPLY : FAULT_NONE;
}

static void joining_and_publishing_bear_lost_replies(void **state)
{
    struct lks_consumer *ranks[2];

    (void)state;
    life_add(life.stream, "p0", 10);
    life.decide = lose_every_reply;
    ranks[0] = life_rank(0, "job.3", 0);
    ranks[1] = life_rank(1, "job.3", 0);
    life_checkpoint(ranks[0], 4);
    life_checkpoint(ranks[1], 4);
    life.decide = NULL;
    life_reclaim_to(4);
    lks_consumer_close(ranks[0]);
    lks_consumer_close(ranks[1]);
}

static void a_rank_may_reclaim_when_it_has_checkpointed(void **state)
{
    struct lks_consumer *consumer = NULL;
    struct lks_options *options = NULL;
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    assert_status(LKS_OK, lks_options_new(&options, &error));
    life_set(options, "group", "train");
    life_set(options, "run", "job");
    life_set(options, "reclaim", "yes");
    life_set(options, "watermark", "all");
    assert_status(LKS_OK, lks_consumer_open(life.stream, 0, 0, 0, 0, options,
                                            &consumer, &error));
    life_checkpoint(consumer, 7);
    assert_int_equal(life_count("data/"), 3);
    lks_consumer_close(consumer);
    lks_options_free(options);
}

static int begin_hasty(void **state)
{
    int result = life_begin(state);

    /* Not the store's: its clock would run away from the dates it gives. */
    life.stream->env = env_hasty();
    life_set(life.options, "flush_timeout_ms", "3000000");
    return result;
}

static void read_mark(struct lks_buf *mark)
{
    struct lks_error error;

    lks_buf_init(mark, LKS_WATERMARK_SIZE_MAX);
    assert_status(LKS_OK, lks_store_get_all(life.store->inner,
                                            "watermark/train/job-1/0",
                                            LKS_WATERMARK_SIZE_MAX, mark, NULL,
                                            &error));
}

/* What its PUT that was given up does when it lands after all. */
static void put_mark(const struct lks_buf *mark)
{
    const struct lks_part part = {mark->data, mark->size};
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_store_put(life.store->inner, "watermark/train/job-1/0",
                                &part, 1, NULL, &error));
}

static void a_watermark_undone_by_a_late_write_is_renewed_at_the_limit(
    void **state)
{
    struct lks_consumer *consumer = NULL;
    struct lks_options *options = NULL;
    struct lks_batch *batch = NULL;
    struct lks_buf old, new, stored;
    const uint64_t limit = 10;
    struct lks_error error;

    (void)state;
    life_add(life.stream, "p0", 10);
    assert_status(LKS_OK, lks_options_new(&options, &error));
    life_set(options, "group", "train");
    life_set(options, "run", "job.1");
    life_set(options, "starve_timeout_ms", "60000");
    assert_status(LKS_OK, lks_consumer_open(life.stream, 0, 0, 0, 0, options,
                                            &consumer, &error));
    lks_options_free(options);
    life_checkpoint(consumer, 6);
    read_mark(&old);
    life_checkpoint(consumer, 10);
    read_mark(&new);
    put_mark(&old);
    assert_status(LKS_OK, lks_stream_limit(life.stream, &limit, NULL,
                                           life.options, &error));
    assert_status(LKS_TIMEOUT, lks_consumer_next(consumer, &batch, &error));
    assert_message_has("at its limit of 10 live steps");
    read_mark(&stored);
    assert_int_equal(stored.size, new.size);
    assert_memory_equal(stored.data, new.data, new.size);
    lks_consumer_close(consumer);
    lks_buf_done(&old);
    lks_buf_done(&new);
    lks_buf_done(&stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(an_older_start_is_fenced_wherever_it_wakes_up),
        LIFE_TEST(a_dead_jobs_watermarks_mean_nothing),
        LIFE_TEST(garbage_of_other_runs_goes_and_that_of_this_stays),
        LIFE_TEST(damaged_watermarks_are_found_and_hold_the_stream),
        LIFE_TEST(ranks_join_below_the_floor_but_not_below_what_is_live),
        LIFE_TEST(going_back_needs_a_new_run),
        LIFE_TEST(two_processes_of_one_rank_do_not_go_back),
        cmocka_unit_test_setup_teardown(
            a_watermark_undone_by_a_late_write_is_renewed_at_the_limit,
            begin_hasty, life_end),
        LIFE_TEST(older_checkpoints_may_be_kept),
        LIFE_TEST(two_processes_that_speak_for_all_do_not_go_back),
        LIFE_TEST(one_rank_may_speak_for_all),
        LIFE_TEST(watermarks_of_a_named_run_move_on),
        LIFE_TEST(watermarks_are_checked_where_they_come_in),
        LIFE_TEST(an_evicted_rank_counts_no_more_and_is_told),
        LIFE_TEST(an_evicted_producer_is_fenced_and_counts_as_finished),
        LIFE_TEST(several_ranks_need_a_run_and_a_launcher_may_name_it),
        LIFE_TEST(joining_and_publishing_bear_lost_replies),
        LIFE_TEST(a_rank_may_reclaim_when_it_has_checkpointed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
