/*
 * Batches and their slices, as buffers: memory of the library that is not
 * copied, and lives as long as anybody has a view of it.
 *
 * A view is read-only unless it is asked to be writable. It may be: the bytes
 * were fetched for this batch alone.
 */
#include "core.h"

#include <stdlib.h>
#include <unistd.h>

struct core_slice {
    PyObject head;
    struct core_batch *batch;
    Py_ssize_t index;
};

static int fill_view(PyObject *owner,
                     const struct core_batch *batch,
                     size_t index,
                     Py_buffer *view,
                     int flags)
{
    static char nothing[1];
    struct lks_slice slice = lks_batch_slice(batch->batch, index);
    void *data = slice.data != NULL ? (void *)slice.data : nothing;

    return PyBuffer_FillInfo(view, owner, data, (Py_ssize_t)slice.size,
                             (flags & PyBUF_WRITABLE) == 0, flags);
}

/* ------------------------------------------------------------- batches -- */

PyObject *core_batch_wrap(PyTypeObject *type,
                          struct core_stream *stream,
                          struct lks_batch *batch)
{
    struct core_batch *self = (void *)PyType_GenericAlloc(type, 0);

    if (self == NULL) {
        lks_batch_release(batch);
        return NULL;
    }
    self->batch = batch;
    self->pid = getpid();
    Py_INCREF((PyObject *)stream);
    self->stream = stream;
    return (PyObject *)self;
}

bool core_batch_type_check(const struct core_state *state, PyObject *type)
{
    if (PyType_Check(type) &&
        PyType_IsSubtype((PyTypeObject *)type, state->batch_type))
        return true;
    PyErr_SetString(PyExc_TypeError, "a class that derives from Batch");
    return false;
}

static void batch_dealloc(PyObject *object)
{
    struct core_batch *self = (void *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = PyType_GetSlot(type, Py_tp_free);

    /* In a child after a fork its memory is the parent's to manage. */
    if (self->pid == getpid())
        lks_batch_release(self->batch);
    Py_CLEAR(self->stream);
    release(object);
    Py_DECREF(type);
}

static int batch_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    const struct core_batch *self = (void *)object;
    size_t count = lks_batch_slice_count(self->batch);

    if (count == 1)
        return fill_view(object, self, 0, view, flags);
    view->obj = NULL;
    PyErr_Format(PyExc_BufferError, "the batch has %zu slices: use its .slices",
                 count);
    return -1;
}

static PyObject *batch_step(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(
        lks_batch_step(((struct core_batch *)object)->batch));
}

static PyObject *batch_next_step(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(
        lks_batch_next_step(((struct core_batch *)object)->batch));
}

static PyObject *batch_slice_count(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(
        lks_batch_slice_count(((struct core_batch *)object)->batch));
}

struct meta_call {
    struct lks_batch *batch;
    const void *data;
    size_t size;
};

static enum lks_status run_meta(void *arg, struct lks_error *error)
{
    struct meta_call *meta = arg;

    return lks_batch_meta(meta->batch, &meta->data, &meta->size, error);
}

static PyObject *batch_meta(PyObject *object, PyObject *unused)
{
    static const struct core_call call = {.run = run_meta, .discard = free};
    struct core_batch *self = (void *)object;
    struct meta_call *meta;
    struct lks_error error;
    PyObject *result = NULL;

    (void)unused;
    if (!core_guard_check(&self->stream->guard))
        return NULL;
    meta = calloc(1, sizeof(*meta));
    if (meta == NULL)
        return PyErr_NoMemory();
    meta->batch = self->batch;
    Py_INCREF(object); /* Left to a call that is abandoned. */
    if (!core_call_run(&call, meta, &error))
        return NULL;
    if (error.status == LKS_OK)
        result = PyBytes_FromStringAndSize(meta->data, (Py_ssize_t)meta->size);
    else
        core_raise(&error);
    free(meta);
    Py_DECREF(object);
    return result;
}

static PyMethodDef batch_methods[] = {
    {"_read_meta", batch_meta, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef batch_properties[] = {
    {"step", batch_step, NULL,
     "The stream step that the batch begins at, from 0.", NULL},
    {"next_step", batch_next_step, NULL,
     "The step that comes after it: what to save to continue behind it.", NULL},
    {"slice_count", batch_slice_count, NULL,
     "How many slices this rank has of the step.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot batch_slots[] = {
    {Py_tp_doc, (void *)"One rank's slices of one training step."},
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, batch_methods},
    {Py_tp_getset, batch_properties},
    {Py_bf_getbuffer, batch_getbuffer},
    {0, NULL},
};

PyType_Spec core_batch_spec = {
    .name = "lakestream._core.Batch",
    .basicsize = sizeof(struct core_batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = batch_slots,
};

/* -------------------------------------------------------------- slices -- */

static PyObject *slice_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    struct core_state *state = PyType_GetModuleState(type);
    struct core_slice *self;
    struct core_batch *batch;
    Py_ssize_t index;

    (void)named;
    if (state == NULL ||
        !PyArg_ParseTuple(args, "O!n", state->batch_type, &batch, &index))
        return NULL;
    if (index < 0 || (size_t)index >= lks_batch_slice_count(batch->batch)) {
        PyErr_Format(PyExc_IndexError,
                     "the batch has %zu slices, no number %zd",
                     lks_batch_slice_count(batch->batch), index);
        return NULL;
    }
    self = (void *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    Py_INCREF((PyObject *)batch);
    self->batch = batch;
    self->index = index;
    return (PyObject *)self;
}

static void slice_dealloc(PyObject *object)
{
    struct core_slice *self = (void *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = PyType_GetSlot(type, Py_tp_free);

    Py_CLEAR(self->batch);
    release(object);
    Py_DECREF(type);
}

static int slice_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    const struct core_slice *self = (void *)object;

    return fill_view(object, self->batch, (size_t)self->index, view, flags);
}

static Py_ssize_t slice_length(PyObject *object)
{
    const struct core_slice *self = (void *)object;

    return (Py_ssize_t)lks_batch_slice(self->batch->batch, (size_t)self->index)
        .size;
}

static PyType_Slot slice_slots[] = {
    {Py_tp_doc, (void *)"One slice's bytes, as appended: a buffer."},
    {Py_tp_new, slice_new},
    {Py_tp_dealloc, slice_dealloc},
    {Py_sq_length, slice_length},
    {Py_bf_getbuffer, slice_getbuffer},
    {0, NULL},
};

PyType_Spec core_slice_spec = {
    .name = "lakestream._core.Slice",
    .basicsize = sizeof(struct core_slice),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slice_slots,
};
