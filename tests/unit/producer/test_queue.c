/* The queue between uploads and commits: when a commit is waited for. */
#include "producer/queue.h"

#include "base/alloc.h"
#include "support/check.h"

static void wait_empty(void *arg)
{
    struct lks_error error;

    assert_status(LKS_OK, lks_queue_wait_empty(arg, LKS_FOREVER, &error));
}

static struct lks_tgb *push(struct lks_queue *queue)
{
    struct lks_tgb *tgb = lks_alloc_zero(1, sizeof(*tgb));
    struct lks_error error;

    assert_non_null(tgb);
    lks_buf_init(&tgb->tail, 0);
    assert_status(LKS_OK, lks_queue_push(queue, tgb, &error));
    return tgb;
}

static void a_commit_is_waited_for_once_nothing_is_being_uploaded(void **state)
{
    const struct lks_env *env = lks_env_real();
    struct lks_queue queue;
    struct lks_thread *thread;
    struct lks_cancel cancel;
    struct lks_tgb *first, *second;
    struct lks_error error;

    (void)state;
    lks_cancel_init(&cancel);
    assert_status(LKS_OK, lks_queue_init(&queue, env, &cancel, 1024, &error));
    lks_queue_begin(&queue, 0, NULL, 0);
    first = push(&queue);
    assert_status(LKS_OK, lks_thread_start(env, "waiter", wait_empty, &queue,
                                           &thread, &error));
    lks_queue_stored(first, LKS_OK, NULL, &queue);
    while (!lks_queue_is_awaited(&queue))
        lks_env_sleep_ns(env, LKS_NS_PER_MS);
    second = push(&queue);
    assert_false(lks_queue_is_awaited(&queue));
    assert_true(lks_queue_rest(&queue, LKS_NS_PER_MS));
    lks_queue_stored(second, LKS_OK, NULL, &queue);
    assert_true(lks_queue_is_awaited(&queue));
    lks_queue_confirm(&queue, 2);
    lks_thread_join(env, thread);
    assert_false(lks_queue_is_awaited(&queue));
    lks_queue_done(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_is_waited_for_once_nothing_is_being_uploaded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
