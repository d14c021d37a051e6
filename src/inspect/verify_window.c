/*
 * Looking at several TGBs at the same time: a ring of looks under one monitor.
 *
 * A stream in a far store is read at the pace of its answers, so a single
 * reader would mostly wait.
 */
#include "inspect/verify_window.h"

#include <assert.h>

#include "base/alloc.h"

void lks_window_init(struct lks_window *window,
                     struct lks_stream *stream,
                     bool data)
{
    *window = (struct lks_window){.stream = stream, .data = data};
}

static enum lks_status start(struct lks_window *window, struct lks_error *error)
{
    const struct lks_env *env = window->stream->env;
    enum lks_status status;

    window->looks = lks_alloc_zero(LKS_WINDOW_LOOKS, sizeof(*window->looks));
    if (window->looks == NULL)
        return lks_error_no_memory(error);
    for (size_t i = 0; i < LKS_WINDOW_LOOKS; i++) {
        struct lks_look *look = &window->looks[i];

        look->window = window;
        lks_buf_init(&look->footer_bytes, LKS_FOOTER_SIZE_MAX);
        lks_buf_init(&look->frames, LKS_LOOK_FRAME_MAX);
        lks_buf_init(&look->slice, LKS_SLICE_SIZE_MAX);
    }
    status = lks_monitor_new(env, &window->monitor, error);
    if (status != LKS_OK)
        return status;
    return lks_pool_new(env, "verify", LKS_WINDOW_LOOKS, &window->pool, error);
}

void lks_window_done(struct lks_window *window)
{
    lks_window_drop(window);
    lks_pool_free(window->pool);
    if (window->monitor != NULL)
        lks_monitor_free(window->stream->env, window->monitor);
    for (size_t i = 0; window->looks != NULL && i < LKS_WINDOW_LOOKS; i++) {
        lks_buf_done(&window->looks[i].slice);
        lks_buf_done(&window->looks[i].frames);
        lks_buf_done(&window->looks[i].footer_bytes);
    }
    lks_free(window->looks);
    lks_window_init(window, window->stream, window->data);
}

bool lks_window_is_full(const struct lks_window *window)
{
    return window->begun - window->taken == LKS_WINDOW_LOOKS;
}

bool lks_window_is_empty(const struct lks_window *window)
{
    return window->begun == window->taken;
}

static void run_job(struct lks_job *job)
{
    struct lks_look *look = LKS_JOB_OWNER(job, struct lks_look, job);
    struct lks_window *window = look->window;
    const struct lks_env *env = window->stream->env;

    lks_look_run(look);
    lks_monitor_enter(env, window->monitor);
    look->is_done = true;
    lks_monitor_wake(env, window->monitor);
    lks_monitor_leave(env, window->monitor);
}

enum lks_status lks_window_begin(struct lks_window *window,
                                 const char *where,
                                 const struct lks_entry *entry,
                                 struct lks_error *error)
{
    struct lks_look *look;

    assert(!lks_window_is_full(window));

    if (window->pool == NULL) {
        enum lks_status status = start(window, error);

        if (status != LKS_OK)
            return status;
    }
    look = &window->looks[window->begun % LKS_WINDOW_LOOKS];
    look->job.run = run_job;
    look->entry = *entry;
    look->where = where;
    look->has_footer = false;
    look->is_done = false;
    lks_data_name(entry->producer, entry->epoch, entry->owner_tag, entry->seq,
                  look->name);
    window->begun++;
    lks_pool_submit(window->pool, &look->job);
    return LKS_OK;
}

struct lks_look *lks_window_take(struct lks_window *window)
{
    const struct lks_env *env = window->stream->env;
    struct lks_look *look = &window->looks[window->taken % LKS_WINDOW_LOOKS];

    assert(!lks_window_is_empty(window));

    lks_monitor_enter(env, window->monitor);
    while (!look->is_done)
        lks_monitor_wait(env, window->monitor, LKS_FOREVER);
    lks_monitor_leave(env, window->monitor);
    return look;
}

void lks_window_release(struct lks_window *window)
{
    struct lks_look *look = &window->looks[window->taken % LKS_WINDOW_LOOKS];

    assert(!lks_window_is_empty(window));

    if (look->has_footer)
        lks_footer_done(&look->footer);
    window->taken++;
}

void lks_window_drop(struct lks_window *window)
{
    while (!lks_window_is_empty(window)) {
        lks_window_take(window);
        lks_window_release(window);
    }
}

void lks_window_enter_large(struct lks_window *window)
{
    const struct lks_env *env = window->stream->env;

    lks_monitor_enter(env, window->monitor);
    while (window->locked.large)
        lks_monitor_wait(env, window->monitor, LKS_FOREVER);
    window->locked.large = true;
    lks_monitor_leave(env, window->monitor);
}

void lks_window_leave_large(struct lks_window *window)
{
    const struct lks_env *env = window->stream->env;

    lks_monitor_enter(env, window->monitor);
    window->locked.large = false;
    lks_monitor_wake(env, window->monitor);
    lks_monitor_leave(env, window->monitor);
}
