/*
 * What tests of a stream's life share: a stream in a store that fails when it
 * is told to, producers and ranks of it, and the names that are there.
 */
#ifndef LKS_TESTS_SUPPORT_LIFE_H
#define LKS_TESTS_SUPPORT_LIFE_H

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/alloc.h"
#include "consumer/consumer.h"
#include "format/lifecycle.h"
#include "manifest/lookup.h"
#include "producer/producer.h"
#include "support/check.h"
#include "support/store_faulty.h"

#define LIFE_SLICES 2u
#define LIFE_NAMES_MAX 4000u

struct life {
    struct faulty_store *store;
    struct lks_stream *stream;
    struct lks_options *options; /* of producers and changes */
    fault_fn *_Atomic decide;    /* NULL: no faults */
};

static struct life life;

static inline enum fault life_decide(enum faulty_op op,
                                     const char *key,
                                     void *arg)
{
    fault_fn *decide = atomic_load(&life.decide);

    (void)arg;
    return decide == NULL ? FAULT_NONE : decide(op, key, &life);
}

static inline void life_set(struct lks_options *options,
                            const char *name,
                            const char *value)
{
    struct lks_error error;

    assert_status(LKS_OK, lks_options_set(options, name, value, &error));
}

static inline int life_begin(void **state)
{
    struct lks_descriptor descriptor = {
        .dp = LIFE_SLICES,
        .cp = 1,
        .producers_to_end = 1,
    };
    struct lks_error error;

    (void)state;
    memset(&life, 0, sizeof(life));
    life.store = faulty_store_new_mem(lks_env_real(), life_decide, NULL);
    assert_status(LKS_OK, lks_stream_make(&life.store->base, &descriptor,
                                          &life.stream, &error));
    lks_descriptor_done(&descriptor);
    assert_status(LKS_OK, lks_options_new(&life.options, &error));
    life_set(life.options, "commit_gap_ms", "0");
    life_set(life.options, "pacing", "fixed");
    life_set(life.options, "flush_timeout_ms", "30000");
    return 0;
}

static inline int life_end(void **state)
{
    (void)state;
    life.decide = NULL;
    lks_options_free(life.options);
    lks_stream_close(life.stream);
    return 0;
}

#define LIFE_TEST(name)                                                        \
    cmocka_unit_test_setup_teardown(name, life_begin, life_end)

/* ----------------------------------------------------------- producers -- */

static inline struct lks_producer *life_producer(struct lks_stream *stream,
                                                 const char *id)
{
    struct lks_producer *producer = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_producer_open(stream, id, life.options, &producer,
                                            &error));
    return producer;
}

/* The offset after a TGB is the text "<id>/<seq>", its slices say the same. */
static inline enum lks_status life_append(struct lks_producer *producer,
                                          const char *id,
                                          struct lks_error *error)
{
    char text[96];
    int size = snprintf(text, sizeof(text), "%s/%" PRIu64, id,
                        lks_producer_next_seq(producer));
    const struct lks_slice slices[LIFE_SLICES] = {{text, (size_t)size},
                                                  {text, (size_t)size}};
    enum lks_status status;

    status = lks_producer_append(producer, slices, LIFE_SLICES, text,
                                 (size_t)size, "", 0, NULL, NULL, error);
    if (status == LKS_OK)
        status = lks_producer_flush(producer, error);
    return status;
}

/* `count` TGBs, one commit each, by a producer that comes and goes. */
static inline void life_add(struct lks_stream *stream,
                            const char *id,
                            uint64_t count)
{
    struct lks_producer *producer = life_producer(stream, id);
    struct lks_error error;

    while (count-- > 0)
        assert_status(LKS_OK, life_append(producer, id, &error));
    lks_producer_close(producer);
}

/* --------------------------------------------------------------- ranks -- */

static inline enum lks_status life_open(struct lks_stream *stream,
                                        uint32_t rank,
                                        const char *run,
                                        uint64_t step,
                                        struct lks_consumer **out_consumer,
                                        struct lks_error *error)
{
    struct lks_options *options = NULL;
    enum lks_status status;

    assert_int_equal(lks_options_new(&options, error), LKS_OK);
    life_set(options, "group", "train");
    life_set(options, "run", run);
    life_set(options, "starve_timeout_ms", "2000");
    status = lks_consumer_open(stream, rank, 0, 0, step, options, out_consumer,
                               error);
    lks_options_free(options);
    return status;
}

static inline struct lks_consumer *life_rank(uint32_t rank,
                                             const char *run,
                                             uint64_t step)
{
    struct lks_consumer *consumer = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  life_open(life.stream, rank, run, step, &consumer, &error));
    return consumer;
}

static inline void life_read_to(struct lks_consumer *consumer, uint64_t step)
{
    struct lks_error error;

    while (lks_consumer_step(consumer) < step) {
        struct lks_batch *batch = NULL;

        assert_status(LKS_OK, lks_consumer_next(consumer, &batch, &error));
        lks_batch_release(batch);
    }
}

/* Reads up to `step` and says that the checkpoint there is durable. */
static inline void life_checkpoint(struct lks_consumer *consumer, uint64_t step)
{
    struct lks_error error;

    life_read_to(consumer, step);
    assert_status(LKS_OK,
                  lks_consumer_checkpointed(consumer, step, 0, 0, &error));
}

static inline void life_mark(const char *group,
                             uint32_t ranks,
                             uint32_t rank,
                             uint64_t step)
{
    struct lks_error error;

    assert_status(LKS_OK, lks_stream_watermark(life.stream, group, ranks, rank,
                                               step, life.options, &error));
}

/* --------------------------------------------------------------- state -- */

static inline json_t *life_reclaim(bool dry_run)
{
    struct lks_error error;
    char *text = NULL;
    json_t *report;

    assert_status(LKS_OK, lks_stream_reclaim(life.stream, dry_run, life.options,
                                             &text, &error));
    report = json_loads(text, 0, NULL);
    assert_non_null(report);
    lks_text_free(text);
    return report;
}

static inline uint64_t life_number(const json_t *report, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(report, key));
}

/* Reclaims; the first live step is then this. */
static inline void life_reclaim_to(uint64_t step)
{
    json_t *report = life_reclaim(false);

    assert_int_equal(life_number(report, "first_live_step"), step);
    json_decref(report);
}

static inline uint64_t life_count_in(struct lks_store *store,
                                     const char *prefix)
{
    struct lks_listed *listed = lks_alloc_zero(LKS_LIST_MAX, sizeof(*listed));
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    struct lks_error error;
    uint64_t total = 0;
    size_t count;

    do {
        assert_status(LKS_OK, lks_store_list(store, prefix, after, LKS_LIST_MAX,
                                             listed, &count, NULL, &error));
        total += count;
        if (count > 0)
            memcpy(after, listed[count - 1].key, sizeof(after));
    } while (count == LKS_LIST_MAX);
    lks_free(listed);
    return total;
}

static inline uint64_t life_count(const char *prefix)
{
    return life_count_in(life.store->inner, prefix);
}

static inline void life_put(const char *name)
{
    const struct lks_part part = {"stray", 5};
    struct lks_error error;

    assert_status(LKS_OK, lks_store_put(life.store->inner, name, &part, 1, NULL,
                                        &error));
}

static inline bool life_exists(const char *name)
{
    return lks_store_stat(life.store->inner, name, NULL, NULL) == LKS_OK;
}

static inline void life_assert_sound(struct lks_stream *stream)
{
    struct lks_error error;
    char *text = NULL;
    json_t *report;

    assert_status(LKS_OK, lks_stream_verify(stream, 1, &text, &error));
    report = json_loads(text, 0, NULL);
    if (!json_is_true(json_object_get(report, "ok")))
        fail_msg("the stream has problems: %s", text);
    json_decref(report);
    lks_text_free(text);
}

/* All that invariant 6 allows once everybody is done: the data of the live
 * steps, and the blocks that they are in. */
static inline void life_assert_no_leak(void)
{
    struct lks_error error;
    struct lks_log log;
    uint64_t first, next, blocks;

    lks_log_init(&log, life.stream, LKS_LOG_WHOLE, NULL);
    assert_status(LKS_OK, lks_log_look(&log, &error));
    first = lks_manifest_first_live_step(log.head);
    next = lks_manifest_next_step(log.head);
    assert_int_equal(life_count("data/"), next - first);
    blocks = next / LKS_BLOCK_STEPS - first / LKS_BLOCK_STEPS;
    assert_in_range(life_count("index/"), blocks == 0 ? 0 : blocks - 1, blocks);
    lks_log_done(&log);
}

#endif
