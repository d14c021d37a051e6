/*
 * Consumers. The library waits for a step in short turns (CORE_TURN_MS is what
 * it has for starve_timeout_ms), and between two turns signals are looked for,
 * until the caller's own time is over.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MS_PER_S 1000u
#define NS_PER_MS 1000000u

struct core_consumer {
    PyObject head;
    struct lks_consumer *consumer;
    struct core_stream *stream;
    struct core_guard guard;
    const PyObject *lender; /* held by the library; NULL without */
    uint64_t last_step;     /* where it was when it was closed */
};

/* ---------------------------------------------------------------- open -- */

struct consumer_call {
    struct lks_stream *stream;
    uint32_t rank, dp, cp;
    uint64_t step;
    struct lks_options *options;
    struct lks_consumer *consumer;
};

static enum lks_status run_open(void *arg, struct lks_error *error)
{
    struct consumer_call *open = arg;

    return lks_consumer_open(open->stream, open->rank, open->dp, open->cp,
                             open->step, open->options, &open->consumer, error);
}

static void discard_open(void *arg)
{
    struct consumer_call *open = arg;

    lks_consumer_close(open->consumer);
    lks_options_free(open->options);
    free(open);
}

static PyObject *wrap(struct core_stream *stream,
                      struct lks_consumer *consumer,
                      const PyObject *lender)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(&stream->head));
    struct core_consumer *self =
        (void *)PyType_GenericAlloc(state->consumer_type, 0);

    if (self == NULL) {
        lks_consumer_close(consumer);
        return NULL;
    }
    core_guard_init(&self->guard, "Consumer");
    self->consumer = consumer;
    self->lender = lender;
    Py_INCREF(&stream->head);
    self->stream = stream;
    return (PyObject *)self;
}

/* None is the first live step. */
static bool parse_step(PyObject *object, uint64_t *out_step)
{
    *out_step = LKS_STEP_FIRST;
    return object == Py_None || core_to_u64(object, out_step) != 0;
}

PyObject *core_consumer_open(struct core_stream *stream, PyObject *args)
{
    static const struct core_call call = {.run = run_open,
                                          .discard = discard_open};
    struct consumer_call wish = {.stream = stream->stream}, *open;
    struct lks_error error;
    PyObject *step, *options, *lender, *result = NULL;

    if (!PyArg_ParseTuple(args, "O&O&O&OOO", core_to_u32, &wish.rank,
                          core_to_u32, &wish.dp, core_to_u32, &wish.cp, &step,
                          &options, &lender) ||
        !parse_step(step, &wish.step) || !core_guard_check(&stream->guard))
        return NULL;
    wish.options = core_options_new(options);
    if (wish.options == NULL)
        return NULL;
    open = malloc(sizeof(*open));
    if (open == NULL) {
        lks_options_free(wish.options);
        return PyErr_NoMemory();
    }
    *open = wish;
    Py_INCREF(&stream->head); /* Left to a call that is abandoned. */
    if (!core_call_run(&call, open, &error))
        return NULL;
    if (error.status == LKS_OK && lender != Py_None)
        error.status = core_memory_set(open->consumer, lender, &error);
    if (error.status == LKS_OK) {
        result =
            wrap(stream, open->consumer, lender != Py_None ? lender : NULL);
        open->consumer = NULL;
    } else {
        core_raise(&error);
    }
    discard_open(open);
    Py_DECREF(&stream->head);
    return result;
}

/* --------------------------------------------------------------- close -- */

/* False with an exception: its own allocator calls, which the library waits for
 * in all that follows. */
static bool check_outside(const struct core_consumer *self)
{
    if (!core_memory_inside(self->lender))
        return true;
    core_raise_text(LKS_INVALID,
                    "a Consumer's allocator can neither use nor close it");
    return false;
}

static bool enter(struct core_consumer *self)
{
    return check_outside(self) && core_guard_enter(&self->guard);
}

static void shut(struct core_consumer *self)
{
    struct lks_consumer *consumer = self->consumer;

    self->guard.closed = true;
    if (consumer == NULL)
        return;
    self->last_step = lks_consumer_step(consumer);
    self->consumer = NULL;
    if (self->guard.pid != getpid())
        return;
    Py_BEGIN_ALLOW_THREADS lks_consumer_close(consumer);
    Py_END_ALLOW_THREADS
}

static PyObject *consumer_close(PyObject *object, PyObject *unused)
{
    struct core_consumer *self = (void *)object;

    (void)unused;
    if (!check_outside(self))
        return NULL;
    if (self->guard.pid == getpid() && self->guard.busy &&
        self->consumer != NULL) {
        lks_consumer_cancel(self->consumer);
        core_guard_await(&self->guard);
    }
    shut(self);
    Py_RETURN_NONE;
}

struct closing {
    struct lks_consumer *consumer;
    struct core_stream *stream;
};

static void *close_it(void *arg)
{
    struct closing *closing = arg;
    PyGILState_STATE gil;

    lks_consumer_close(closing->consumer);
    gil = PyGILState_Ensure();
    Py_DECREF(&closing->stream->head);
    PyGILState_Release(gil);
    free(closing);
    return NULL;
}

/* For a thread that closing would wait for. Without memory or threads the
 * consumer stays open until the process ends, as there is no other way. */
static void close_elsewhere(struct core_consumer *self)
{
    struct closing *closing = malloc(sizeof(*closing));
    pthread_t thread;

    if (closing != NULL) {
        closing->consumer = self->consumer;
        closing->stream = self->stream;
        if (pthread_create(&thread, NULL, close_it, closing) == 0)
            pthread_detach(thread);
        else
            free(closing);
    }
    self->consumer = NULL;
    self->stream = NULL;
}

static void consumer_dealloc(PyObject *object)
{
    struct core_consumer *self = (void *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = PyType_GetSlot(type, Py_tp_free);

    if (core_memory_inside(self->lender) && self->consumer != NULL)
        close_elsewhere(self);
    else
        shut(self);
    Py_CLEAR(self->stream);
    release(object);
    Py_DECREF(type);
}

/* ---------------------------------------------------------------- next -- */

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * MS_PER_S + (uint64_t)now.tv_nsec / NS_PER_MS;
}

/* LKS_UNAVAILABLE after a whole turn is a store that may come back. */
static bool may_come(enum lks_status status, uint64_t turn_ms)
{
    return status == LKS_TIMEOUT ||
           (status == LKS_UNAVAILABLE && turn_ms >= CORE_TURN_MS / 2);
}

/* Whether the process that this one works for is gone. 0: it has none. */
static bool is_orphan(pid_t parent)
{
    if (parent == 0 || getppid() == parent)
        return false;
    core_raise_text(LKS_CANCELLED,
                    "process %d, which waits for the batch, has "
                    "ended",
                    (int)parent);
    return true;
}

/* False: a signal handler raised, or nobody waits any more. */
static bool take(struct core_consumer *self,
                 uint64_t timeout_ms,
                 pid_t parent,
                 struct lks_batch **out_batch,
                 struct lks_error *error)
{
    uint64_t begin_ms = now_ms(), turn_ms = begin_ms, end_ms = begin_ms;

    for (;;) {
        Py_BEGIN_ALLOW_THREADS error->status =
            lks_consumer_next(self->consumer, out_batch, error);
        Py_END_ALLOW_THREADS if (error->status == LKS_OK) return true;
        end_ms = now_ms();
        if (!may_come(error->status, end_ms - turn_ms) ||
            end_ms - begin_ms >= timeout_ms)
            return true;
        if (PyErr_CheckSignals() != 0 || is_orphan(parent))
            return false;
        turn_ms = end_ms;
    }
}

static PyObject *consumer_next(PyObject *object, PyObject *args)
{
    const struct core_state *state = PyType_GetModuleState(Py_TYPE(object));
    struct core_consumer *self = (void *)object;
    struct lks_batch *batch = NULL;
    unsigned long long timeout_ms;
    struct lks_error error;
    PyObject *type;
    bool taken;
    int parent;

    if (!PyArg_ParseTuple(args, "OKi", &type, &timeout_ms, &parent) ||
        !core_batch_type_check(state, type) || !enter(self))
        return NULL;
    taken = take(self, timeout_ms, parent, &batch, &error);
    core_guard_leave(&self->guard);
    if (!taken)
        return NULL;
    if (error.status != LKS_OK)
        return core_raise_by("from_wait", &error);
    return core_batch_wrap((PyTypeObject *)type, self->stream, batch);
}

/* ------------------------------------------------------------- the rest -- */

static PyObject *consumer_state(PyObject *object, PyObject *unused)
{
    struct core_consumer *self = (void *)object;
    char text[LKS_STATE_SIZE_MAX];
    struct lks_error error;

    (void)unused;
    if (!core_guard_check(&self->guard))
        return NULL;
    error.status =
        lks_consumer_state(self->consumer, text, sizeof(text), &error);
    if (error.status != LKS_OK)
        return core_raise(&error);
    return PyUnicode_FromString(text);
}

static PyObject *consumer_restore(PyObject *object, PyObject *args)
{
    struct core_consumer *self = (void *)object;
    struct lks_error error;
    const char *state;

    if (!PyArg_ParseTuple(args, "s", &state) || !enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS error.status =
        lks_consumer_restore(self->consumer, state, &error);
    Py_END_ALLOW_THREADS core_guard_leave(&self->guard);
    if (error.status != LKS_OK)
        return core_raise(&error);
    Py_RETURN_NONE;
}

struct checkpoint_call {
    struct lks_consumer *consumer;
    uint64_t step;
    int has_oldest;
    uint64_t oldest;
};

static enum lks_status run_checkpoint(void *arg, struct lks_error *error)
{
    struct checkpoint_call *checkpoint = arg;

    return lks_consumer_checkpointed(checkpoint->consumer, checkpoint->step,
                                     checkpoint->has_oldest, checkpoint->oldest,
                                     error);
}

static void cancel_checkpoint(void *arg)
{
    lks_consumer_cancel(((struct checkpoint_call *)arg)->consumer);
}

static PyObject *consumer_checkpointed(PyObject *object, PyObject *args)
{
    static const struct core_call call = {.run = run_checkpoint,
                                          .cancel = cancel_checkpoint};
    struct core_consumer *self = (void *)object;
    struct checkpoint_call checkpoint = {0};
    uint64_t step;
    struct lks_error error;
    PyObject *oldest;
    bool done;

    if (!PyArg_ParseTuple(args, "O&O", core_to_u64, &step, &oldest))
        return NULL;
    checkpoint.step = step;
    checkpoint.has_oldest = oldest != Py_None;
    if (checkpoint.has_oldest && core_to_u64(oldest, &checkpoint.oldest) == 0)
        return NULL;
    if (!enter(self))
        return NULL;
    checkpoint.consumer = self->consumer;
    done = core_call_run(&call, &checkpoint, &error);
    core_guard_leave(&self->guard);
    if (!done)
        return NULL;
    if (error.status != LKS_OK)
        return core_raise(&error);
    Py_RETURN_NONE;
}

static PyObject *consumer_stats(PyObject *object, PyObject *unused)
{
    struct core_consumer *self = (void *)object;
    struct lks_error error;
    char *json = NULL;

    (void)unused;
    if (!core_guard_check(&self->guard))
        return NULL;
    error.status = lks_consumer_stats(self->consumer, &json, &error);
    if (error.status != LKS_OK)
        return core_raise(&error);
    return core_text_take(json);
}

static PyObject *consumer_step(PyObject *object, void *unused)
{
    struct core_consumer *self = (void *)object;

    (void)unused;
    if (self->consumer == NULL)
        return PyLong_FromUnsignedLongLong(self->last_step);
    if (!core_guard_check(&self->guard))
        return NULL;
    return PyLong_FromUnsignedLongLong(lks_consumer_step(self->consumer));
}

static PyMethodDef methods[] = {
    {"next", consumer_next, METH_VARARGS, NULL},
    {"state", consumer_state, METH_NOARGS, NULL},
    {"restore", consumer_restore, METH_VARARGS, NULL},
    {"checkpointed", consumer_checkpointed, METH_VARARGS, NULL},
    {"stats", consumer_stats, METH_NOARGS, NULL},
    {"close", consumer_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"step", consumer_step, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)"An open consumer."},
    {Py_tp_dealloc, consumer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec core_consumer_spec = {
    .name = "lakestream._core.Consumer",
    .basicsize = sizeof(struct core_consumer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
