/*
 * What tests of consumers share: a stream that was built by hand, in a store
 * that can hang, and ways to take batches and look whether they are right.
 */
#ifndef LKS_TESTS_SUPPORT_CONSUME_H
#define LKS_TESTS_SUPPORT_CONSUME_H

#include <inttypes.h>
#include <stdio.h>

#include "consumer/consumer.h"
#include "support/check.h"
#include "support/store_hang.h"
#include "support/stream_builder.h"

struct consume {
    struct hang_store *store;
    struct stream_builder builder;
    struct lks_stream *stream;
    struct lks_options *options;
};

static inline void consume_begin_with(struct consume *consume,
                                      const struct lks_descriptor *descriptor)
{
    static unsigned int number;
    struct lks_store *mem;
    struct lks_error error;
    char name[64];

    memset(consume, 0, sizeof(*consume));
    snprintf(name, sizeof(name), "consume-%u", number++);
    assert_status(LKS_OK,
                  lks_store_mem_open(name, lks_env_real(), &mem, &error));
    consume->store = hang_store_new(mem);
    assert_non_null(consume->store);
    assert_status(LKS_OK,
                  stream_builder_init(&consume->builder, &consume->store->base,
                                      descriptor, &error));
    assert_status(LKS_OK, lks_stream_load(&consume->store->base,
                                          &consume->stream, &error));
    assert_status(LKS_OK, lks_options_new(&consume->options, &error));
}

static inline void consume_begin(struct consume *consume,
                                 uint32_t dp,
                                 uint32_t cp)
{
    const struct lks_descriptor descriptor = {
        .dp = dp,
        .cp = cp,
        .producers_to_end = 1,
    };

    consume_begin_with(consume, &descriptor);
}

static inline void consume_end(struct consume *consume)
{
    lks_options_free(consume->options);
    stream_builder_done(&consume->builder);
    lks_stream_close(consume->stream);
}

static inline void consume_set(struct consume *consume,
                               const char *name,
                               const char *value)
{
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_options_set(consume->options, name, value, &error));
}

static inline void consume_add(struct consume *consume,
                               uint64_t count,
                               uint64_t per_version)
{
    struct lks_error error;

    assert_status(LKS_OK, stream_builder_add(&consume->builder, count,
                                             per_version, &error));
}

static inline void consume_finish(struct consume *consume)
{
    struct lks_error error;

    assert_status(LKS_OK, stream_builder_end(&consume->builder, &error));
}

static inline struct lks_consumer *consume_open(struct consume *consume,
                                                uint32_t rank,
                                                uint32_t dp,
                                                uint64_t step)
{
    struct lks_consumer *consumer = NULL;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_consumer_new(consume->stream, rank, dp, 0, step,
                                   consume->options, &consumer, &error));
    return consumer;
}

/* A batch's slices are this rank's of this step, whole and right. */
static inline void consume_check(const struct consume *consume,
                                 const struct lks_share *share,
                                 const struct lks_batch *batch,
                                 uint64_t step)
{
    assert_int_equal(batch->step, step);
    assert_int_equal(batch->next_step, step + share->group);
    assert_int_equal(batch->slice_count, share->slice_count);
    for (uint32_t i = 0; i < share->slice_count; i++) {
        struct lks_slice slice = batch->slices[i];

        assert_int_equal((uintptr_t)slice.data % 64, 0);
        if (!stream_shape_is_slice(&consume->builder.shape,
                                   step + share->place -
                                       consume->builder.descriptor.first_step,
                                   share->slice_first + i * share->slice_stride,
                                   slice.data, slice.size))
            fail_msg("step %" PRIu64 ", slice %" PRIu32 " of the rank is wrong",
                     step, i);
    }
}

/* Takes the next batch, which must be that of `step`, and checks it. */
static inline void consume_take(const struct consume *consume,
                                struct lks_consumer *consumer,
                                uint64_t step)
{
    struct lks_batch *batch = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_consumer_take(consumer, &batch, &error));
    consume_check(consume, &consumer->share, batch, step);
    lks_batch_free(batch);
}

static inline struct lks_counts consume_counts(struct lks_consumer *consumer,
                                               struct lks_sighting *sighting)
{
    struct lks_counts counts;

    lks_prefetch_report(&consumer->prefetch, &counts, sighting);
    return counts;
}

#endif
