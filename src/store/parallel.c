/*
 * In parallel: the calling thread and helpers that live as long as the
 * call. Starting them costs tens of microseconds, a piece at least some
 * milliseconds, so there is no pool to keep.
 */
#include "store/parallel.h"

#include <assert.h>

struct parallel {
    const struct lks_env *env;
    size_t count;
    lks_piece_fn *piece;
    void *arg;
    const struct lks_cancel *cancel;
    struct lks_monitor *monitor;
    struct {
        size_t next;
        enum lks_status status;
        struct lks_error error;
        struct lks_call call;
    } locked;
};

uint64_t lks_piece_size(uint64_t size, uint64_t part_size)
{
    uint64_t count = size / part_size;

    if (count == 0)
        return part_size;
    return (size + count - 1) / count;
}

void lks_call_add(struct lks_call *call, const struct lks_call *piece)
{
    call->request_count += piece->request_count;
    call->throttled |= piece->throttled;
    if (piece->date_ms > call->date_ms)
        call->date_ms = piece->date_ms;
}

/* The next piece's index; false when there is none to begin. */
static bool take(struct parallel *parallel, size_t *out_index)
{
    bool taken;

    lks_monitor_enter(parallel->env, parallel->monitor);
    taken = parallel->locked.status == LKS_OK &&
            parallel->locked.next < parallel->count;
    if (taken)
        *out_index = parallel->locked.next++;
    lks_monitor_leave(parallel->env, parallel->monitor);
    return taken;
}

static void work(void *arg)
{
    struct parallel *parallel = arg;
    size_t index;

    while (take(parallel, &index)) {
        struct lks_call call = LKS_CALL_INIT;
        struct lks_error error = {.status = LKS_OK};
        enum lks_status status;

        call.cancel = parallel->cancel;
        status = parallel->piece(index, parallel->arg, &call, &error);

        lks_monitor_enter(parallel->env, parallel->monitor);
        lks_call_add(&parallel->locked.call, &call);
        if (status != LKS_OK && parallel->locked.status == LKS_OK) {
            parallel->locked.status = status;
            parallel->locked.error = error;
        }
        lks_monitor_leave(parallel->env, parallel->monitor);
    }
}

enum lks_status lks_parallel(const struct lks_env *env,
                             size_t count,
                             uint32_t worker_count,
                             lks_piece_fn *piece,
                             void *arg,
                             struct lks_call *call,
                             struct lks_error *error)
{
    struct lks_thread *helpers[LKS_PARALLEL_WORKERS_MAX];
    uint32_t helper_count = 0;
    struct parallel parallel = {
        .env = env,
        .count = count,
        .piece = piece,
        .arg = arg,
        .cancel = call->cancel,
        .locked.call = LKS_CALL_INIT,
    };
    enum lks_status status;

    assert(worker_count > 0);
    assert(worker_count <= LKS_PARALLEL_WORKERS_MAX);

    status = lks_monitor_new(env, &parallel.monitor, error);
    if (status != LKS_OK)
        return status;
    /* Fewer helpers than wished for is slower and no more. */
    while (helper_count + 1 < worker_count && helper_count + 1 < count &&
           lks_thread_start(env, "lks-part", work, &parallel,
                            &helpers[helper_count], NULL) == LKS_OK)
        helper_count++;
    work(&parallel);
    for (uint32_t i = 0; i < helper_count; i++)
        lks_thread_join(env, helpers[i]);
    lks_monitor_free(env, parallel.monitor);

    lks_call_add(call, &parallel.locked.call);
    status = parallel.locked.status;
    if (status != LKS_OK)
        lks_error_set(error, status, "%s", parallel.locked.error.message);
    return status;
}
