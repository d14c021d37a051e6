/*
 * A stream's life when memory is out: LKS_NO_MEMORY, nothing held, and nothing
 * that a later try would not put right.
 */
#include "support/life.h"
#include "support/torture.h"

/* As torture(), for what changes the store, which is memory too: what is still
 * held then is for the sanitizers to find. */
static void torture_change(torture_fn *run, void *arg)
{
    for (uint64_t n = 1; n < TORTURE_ROUND_MAX; n++) {
        enum lks_status status;
        uint64_t count;

        lks_alloc_fail_at(n);
        status = run(arg);
        count = lks_alloc_count();
        lks_alloc_fail_at(0);
        if (status != (count < n ? LKS_OK : LKS_NO_MEMORY))
            fail_msg("allocation %d of %d failed: got %s", (int)n, (int)count,
                     lks_status_name(status));
        if (count < n)
            return;
    }
    fail_msg("there is no end of allocations");
}

/* Each try is another step or name, so that there is something to do. */
static uint64_t turn;

static enum lks_status torture_reclaim(void *arg)
{
    const bool *dry_run = arg;
    struct lks_error error;
    char *text = NULL;
    enum lks_status status =
        lks_stream_reclaim(life.stream, *dry_run, life.options, &text, &error);

    if (status == LKS_OK)
        lks_text_free(text);
    return status;
}

/* Of a run of one rank: several watermarks are read by as many threads as there
 * is memory for, and none of them fails anything. */
static enum lks_status torture_watermark(void *arg)
{
    struct lks_error error;

    (void)arg;
    return lks_stream_watermark(life.stream, "train", 1, 0, 5, life.options,
                                &error);
}

static enum lks_status torture_pin(void *arg)
{
    struct lks_error error;

    (void)arg;
    return lks_stream_pin(life.stream, "keep", 5 + turn++ % 2, life.options,
                          &error);
}

static enum lks_status torture_info(void *arg)
{
    struct lks_error error;
    char *text = NULL;
    enum lks_status status = lks_stream_info(life.stream, &text, &error);

    (void)arg;
    if (status == LKS_OK)
        lks_text_free(text);
    return status;
}

static enum lks_status torture_drop(void *arg)
{
    struct lks_error error;
    char *text = NULL;
    enum lks_status status =
        lks_stream_drop(life.stream, 1, life.options, &text, &error);

    (void)arg;
    if (status == LKS_OK)
        lks_text_free(text);
    return status;
}

static void nothing_is_held_when_memory_is_out(void **state)
{
    bool dry_run = true;

    (void)state;
    life_add(life.stream, "a", 270);
    torture_change(torture_watermark, NULL);
    torture(torture_info, NULL);
    torture(torture_reclaim, &dry_run);
    assert_int_equal(life_count("data/"), 270);
    dry_run = false;
    torture_change(torture_reclaim, &dry_run);
    assert_int_equal(life_count("data/"), 265);
    life_assert_sound(life.stream);
    torture_change(torture_pin, NULL);
    torture_change(torture_drop, NULL);
    assert_int_equal(life_count("data/"), 0);
    life_assert_sound(life.stream);
}

/* The new stream may be there after a try that failed late: then it says so. */
static enum lks_status torture_fork(void *arg)
{
    struct lks_stream *fork = NULL;
    struct lks_error error;
    char url[64];
    enum lks_status status;

    (void)arg;
    snprintf(url, sizeof(url), "mem://torture-%d", (int)turn++);
    status =
        lks_stream_fork(life.stream, 100, url, life.options, &fork, &error);
    if (status == LKS_OK)
        lks_stream_close(fork);
    return status;
}

static void a_fork_that_fails_holds_nothing(void **state)
{
    (void)state;
    life_add(life.stream, "a", 90);
    life_add(life.stream, "b", 200);
    torture_change(torture_fork, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(nothing_is_held_when_memory_is_out),
        LIFE_TEST(a_fork_that_fails_holds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
