/*
 * Producers: appending buffers without copying them.
 *
 * The library reads the buffers until it calls `release`, on a thread of its
 * own and at any time. Python's buffers can only be let go with the GIL, and
 * such a thread must not wait for that. So it puts them on a list, and the next
 * call of the producer lets them go.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* The buffers of one append. */
struct held {
    struct held *next;
    struct returns *returns;
    Py_ssize_t count;
    Py_buffer *views;
    struct lks_slice *slices;
};

/* Where the library gives them back. Outlives the producer's handle. */
struct returns {
    struct {
        pthread_mutex_t mutex;
        struct held *first;
    } locked;
};

struct core_producer {
    PyObject head;
    struct lks_producer *producer;
    struct core_stream *stream;
    struct returns *returns;
    struct core_guard guard;
};

static void held_free(struct held *held)
{
    for (Py_ssize_t i = 0; i < held->count; i++)
        PyBuffer_Release(&held->views[i]);
    free(held->views);
    free(held->slices);
    free(held);
}

/* An lks_release_fn. No GIL. */
static void give_back(void *arg)
{
    struct held *held = arg;
    struct returns *returns = held->returns;

    pthread_mutex_lock(&returns->locked.mutex);
    held->next = returns->locked.first;
    returns->locked.first = held;
    pthread_mutex_unlock(&returns->locked.mutex);
}

static void free_returned(struct returns *returns)
{
    struct held *held;

    pthread_mutex_lock(&returns->locked.mutex);
    held = returns->locked.first;
    returns->locked.first = NULL;
    pthread_mutex_unlock(&returns->locked.mutex);
    while (held != NULL) {
        struct held *next = held->next;

        held_free(held);
        held = next;
    }
}

/* NULL with an exception. */
static struct held *held_new(PyObject *buffers, struct returns *returns)
{
    Py_ssize_t size = PySequence_Size(buffers);
    struct held *held;

    if (size < 0)
        return NULL;
    held = calloc(1, sizeof(*held));
    if (held != NULL) {
        held->returns = returns;
        held->views = calloc((size_t)size + 1, sizeof(*held->views));
        held->slices = calloc((size_t)size + 1, sizeof(*held->slices));
    }
    if (held == NULL || held->views == NULL || held->slices == NULL) {
        PyErr_NoMemory();
        goto failed;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *buffer = PySequence_GetItem(buffers, i);
        int result;

        if (buffer == NULL)
            goto failed;
        result = PyObject_GetBuffer(buffer, &held->views[i], PyBUF_SIMPLE);
        Py_DECREF(buffer);
        if (result != 0)
            goto failed;
        held->count = i + 1;
        held->slices[i].data = held->views[i].buf;
        held->slices[i].size = (size_t)held->views[i].len;
    }
    return held;

failed:
    if (held != NULL)
        held_free(held);
    return NULL;
}

/* --------------------------------------------------------------- open -- */

struct producer_call {
    struct lks_stream *stream;
    const char *id; /* of the caller's str, which it refers to */
    struct lks_options *options;
    struct lks_producer *producer;
};

static enum lks_status run_open(void *arg, struct lks_error *error)
{
    struct producer_call *open = arg;

    return lks_producer_open(open->stream, open->id, open->options,
                             &open->producer, error);
}

static void discard_open(void *arg)
{
    struct producer_call *open = arg;

    lks_producer_close(open->producer);
    lks_options_free(open->options);
    free(open);
}

static PyObject *wrap(struct core_stream *stream, struct lks_producer *producer)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(&stream->head));
    struct returns *returns = calloc(1, sizeof(*returns));
    struct core_producer *self = NULL;

    if (returns != NULL)
        self = (void *)PyType_GenericAlloc(state->producer_type, 0);
    else
        PyErr_NoMemory();
    if (self == NULL) {
        lks_producer_close(producer);
        free(returns);
        return NULL;
    }
    pthread_mutex_init(&returns->locked.mutex, NULL);
    core_guard_init(&self->guard, "Producer");
    self->producer = producer;
    self->returns = returns;
    Py_INCREF(&stream->head);
    self->stream = stream;
    return (PyObject *)self;
}

PyObject *core_producer_open(struct core_stream *stream, PyObject *args)
{
    static const struct core_call call = {.run = run_open,
                                          .discard = discard_open};
    struct producer_call *open;
    struct lks_error error;
    PyObject *id, *options, *result = NULL;

    if (!PyArg_ParseTuple(args, "UO", &id, &options) ||
        !core_guard_check(&stream->guard))
        return NULL;
    open = calloc(1, sizeof(*open));
    if (open == NULL)
        return PyErr_NoMemory();
    open->stream = stream->stream;
    open->id = PyUnicode_AsUTF8AndSize(id, NULL);
    open->options = open->id != NULL ? core_options_new(options) : NULL;
    if (open->options == NULL) {
        discard_open(open);
        return NULL;
    }
    Py_INCREF(id); /* Both are left to a call that is abandoned. */
    Py_INCREF(&stream->head);
    if (!core_call_run(&call, open, &error))
        return NULL;
    if (error.status == LKS_OK) {
        result = wrap(stream, open->producer);
        open->producer = NULL;
    } else {
        core_raise(&error);
    }
    discard_open(open);
    Py_DECREF(&stream->head);
    Py_DECREF(id);
    return result;
}

/* --------------------------------------------------------------- close -- */

/* Takes the producer from the handle, so that it happens once. */
static void shut(struct core_producer *self)
{
    struct lks_producer *producer = self->producer;

    self->guard.closed = true;
    self->producer = NULL;
    if (producer == NULL || self->guard.pid != getpid())
        return;
    Py_BEGIN_ALLOW_THREADS lks_producer_close(producer);
    Py_END_ALLOW_THREADS free_returned(self->returns);
}

static PyObject *producer_close(PyObject *object, PyObject *unused)
{
    struct core_producer *self = (void *)object;

    (void)unused;
    if (self->guard.pid == getpid() && self->guard.busy &&
        self->producer != NULL) {
        lks_producer_cancel(self->producer);
        core_guard_await(&self->guard);
    }
    shut(self);
    Py_RETURN_NONE;
}

static void producer_dealloc(PyObject *object)
{
    struct core_producer *self = (void *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = PyType_GetSlot(type, Py_tp_free);

    shut(self);
    if (self->guard.pid == getpid()) {
        pthread_mutex_destroy(&self->returns->locked.mutex);
        free(self->returns);
    }
    Py_CLEAR(self->stream);
    release(object);
    Py_DECREF(type);
}

/* --------------------------------------------------- append and flush -- */

struct work_call {
    enum { WORK_APPEND, WORK_FLUSH, WORK_FINISH } kind;
    struct lks_producer *producer;
    struct held *held;
    Py_buffer offset;
    Py_buffer meta;
};

static enum lks_status run_work(void *arg, struct lks_error *error)
{
    struct work_call *work = arg;

    switch (work->kind) {
    case WORK_FLUSH:
        return lks_producer_flush(work->producer, error);
    case WORK_FINISH:
        return lks_producer_finish(work->producer, error);
    case WORK_APPEND:
        break;
    }
    return lks_producer_append(work->producer, work->held->slices,
                               (size_t)work->held->count, work->offset.buf,
                               (size_t)work->offset.len, work->meta.buf,
                               (size_t)work->meta.len, give_back, work->held,
                               error);
}

static void cancel_work(void *arg)
{
    lks_producer_cancel(((struct work_call *)arg)->producer);
}

/* What a call returned that a signal ended is known to nobody: the buffers of
 * its append stay until the process ends rather than too short. */
static bool do_work(struct core_producer *self,
                    struct work_call *work,
                    struct lks_error *error)
{
    static const struct core_call call = {.run = run_work,
                                          .cancel = cancel_work};
    bool done;

    if (!core_guard_enter(&self->guard))
        return false;
    work->producer = self->producer;
    done = core_call_run(&call, work, error);
    free_returned(self->returns);
    core_guard_leave(&self->guard);
    return done;
}

static PyObject *producer_append(PyObject *object, PyObject *args)
{
    struct core_producer *self = (void *)object;
    struct work_call work = {.kind = WORK_APPEND};
    struct lks_error error = {.status = LKS_CANCELLED};
    PyObject *buffers, *result = NULL;
    bool entered = false;

    if (!PyArg_ParseTuple(args, "Oy*y*", &buffers, &work.offset, &work.meta))
        return NULL;
    if (core_guard_check(&self->guard))
        work.held = held_new(buffers, self->returns);
    if (work.held != NULL) {
        entered = do_work(self, &work, &error);
        if (entered && error.status == LKS_OK)
            result = Py_NewRef(Py_None);
        else if (entered)
            core_raise(&error);
        if (entered && error.status != LKS_OK)
            held_free(work.held);
    }
    PyBuffer_Release(&work.offset);
    PyBuffer_Release(&work.meta);
    return result;
}

static PyObject *wait_for(PyObject *object, struct work_call *work)
{
    struct lks_error error;

    if (!do_work((struct core_producer *)object, work, &error))
        return NULL;
    if (error.status != LKS_OK)
        return core_raise(&error);
    Py_RETURN_NONE;
}

static PyObject *producer_flush(PyObject *object, PyObject *unused)
{
    struct work_call work = {.kind = WORK_FLUSH};

    (void)unused;
    return wait_for(object, &work);
}

static PyObject *producer_finish(PyObject *object, PyObject *unused)
{
    struct work_call work = {.kind = WORK_FINISH};

    (void)unused;
    return wait_for(object, &work);
}

/* ---------------------------------------------------------------- type -- */

static PyObject *producer_stats(PyObject *object, PyObject *unused)
{
    struct core_producer *self = (void *)object;
    struct lks_error error;
    char *json = NULL;

    (void)unused;
    if (!core_guard_check(&self->guard))
        return NULL;
    error.status = lks_producer_stats(self->producer, &json, &error);
    if (error.status != LKS_OK)
        return core_raise(&error);
    return core_text_take(json);
}

static PyObject *producer_next_seq(PyObject *object, void *unused)
{
    struct core_producer *self = (void *)object;

    (void)unused;
    if (!core_guard_check(&self->guard))
        return NULL;
    return PyLong_FromUnsignedLongLong(lks_producer_next_seq(self->producer));
}

static PyObject *producer_offset(PyObject *object, void *unused)
{
    struct core_producer *self = (void *)object;
    const void *data = NULL;
    size_t size = 0;

    (void)unused;
    if (!core_guard_check(&self->guard))
        return NULL;
    lks_producer_offset(self->producer, &data, &size);
    if (data == NULL)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

static PyMethodDef methods[] = {
    {"append", producer_append, METH_VARARGS, NULL},
    {"flush", producer_flush, METH_NOARGS, NULL},
    {"finish", producer_finish, METH_NOARGS, NULL},
    {"stats", producer_stats, METH_NOARGS, NULL},
    {"close", producer_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"next_seq", producer_next_seq, NULL, NULL, NULL},
    {"offset", producer_offset, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)"An open producer."},
    {Py_tp_dealloc, producer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec core_producer_spec = {
    .name = "lakestream._core.Producer",
    .basicsize = sizeof(struct core_producer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
