/*
 * Streams: opening them, and the reports about them as JSON.
 *
 * These calls cannot be cancelled. One that a signal ends is left to itself,
 * with all it needs, and closes what it opened.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct open_call {
    char *url;
    uint32_t dp; /* 0: it is there already */
    uint32_t cp;
    struct lks_options *options;
    struct lks_stream *stream; /* the result */
};

static enum lks_status run_open(void *arg, struct lks_error *error)
{
    struct open_call *open = arg;

    if (open->dp == 0)
        return lks_stream_open(open->url, open->options, &open->stream, error);
    return lks_stream_create(open->url, open->dp, open->cp, open->options,
                             &open->stream, error);
}

static void discard_open(void *arg)
{
    struct open_call *open = arg;

    lks_stream_close(open->stream);
    lks_options_free(open->options);
    free(open->url);
    free(open);
}

static PyObject *wrap(PyObject *module, struct lks_stream *stream)
{
    struct core_state *state = PyModule_GetState(module);
    struct core_stream *self =
        (void *)PyType_GenericAlloc(state->stream_type, 0);

    if (self == NULL) {
        lks_stream_close(stream);
        return NULL;
    }
    core_guard_init(&self->guard, "Stream");
    self->stream = stream;
    return (PyObject *)self;
}

static PyObject *open_it(PyObject *module,
                         const char *url,
                         uint32_t dp,
                         uint32_t cp,
                         PyObject *options)
{
    static const struct core_call call = {.run = run_open,
                                          .discard = discard_open};
    struct open_call *open = calloc(1, sizeof(*open));
    struct lks_error error;
    PyObject *result = NULL;

    if (open == NULL)
        return PyErr_NoMemory();
    open->dp = dp;
    open->cp = cp;
    open->url = strdup(url);
    open->options = core_options_new(options);
    if (open->url == NULL || open->options == NULL) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
    } else if (!core_call_run(&call, open, &error)) {
        return NULL;
    } else if (error.status != LKS_OK) {
        core_raise(&error);
    } else {
        result = wrap(module, open->stream);
        open->stream = NULL;
    }
    discard_open(open);
    return result;
}

PyObject *core_stream_open(PyObject *module, PyObject *args)
{
    const char *url;
    PyObject *options;

    if (!PyArg_ParseTuple(args, "sO", &url, &options))
        return NULL;
    return open_it(module, url, 0, 0, options);
}

PyObject *core_stream_create(PyObject *module, PyObject *args)
{
    const char *url;
    uint32_t dp, cp;
    PyObject *options;

    if (!PyArg_ParseTuple(args, "sO&O&O", &url, core_to_u32, &dp, core_to_u32,
                          &cp, &options))
        return NULL;
    if (dp == 0)
        return core_raise_text(LKS_INVALID, "dp is 0; it is at least 1");
    return open_it(module, url, dp, cp, options);
}

static void stream_dealloc(PyObject *object)
{
    struct core_stream *self = (void *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = PyType_GetSlot(type, Py_tp_free);

    if (self->guard.pid == getpid()) {
        Py_BEGIN_ALLOW_THREADS lks_stream_close(self->stream);
        Py_END_ALLOW_THREADS
    }
    release(object);
    Py_DECREF(type);
}

/* ------------------------------------------------------------- reports -- */

struct report_call {
    enum { REPORT_INFO, REPORT_LOG, REPORT_VERIFY, REPORT_SEAL } kind;
    struct lks_stream *stream; /* referred to by the caller's reference */
    struct lks_options *options;
    uint64_t from;
    uint64_t to;
    int data;
    char *text; /* the result: JSON, or lines of it */
    size_t size;
    size_t room;
};

static enum lks_status add_line(const char *line, void *arg)
{
    struct report_call *report = arg;
    size_t size = strlen(line);

    if (report->size + size + 2 > report->room) {
        size_t room = 2 * (report->size + size + 2);
        char *text = realloc(report->text, room);

        if (text == NULL)
            return LKS_NO_MEMORY;
        report->text = text;
        report->room = room;
    }
    memcpy(report->text + report->size, line, size);
    memcpy(report->text + report->size + size, "\n", 2);
    report->size += size + 1;
    return LKS_OK;
}

static enum lks_status run_report(void *arg, struct lks_error *error)
{
    struct report_call *report = arg;
    enum lks_status status = LKS_OK;
    char *json = NULL;

    switch (report->kind) {
    case REPORT_INFO:
        status = lks_stream_info(report->stream, &json, error);
        break;
    case REPORT_VERIFY:
        status = lks_stream_verify(report->stream, report->data, &json, error);
        break;
    case REPORT_LOG:
        return lks_stream_log(report->stream, report->from, report->to,
                              add_line, report, error);
    case REPORT_SEAL:
        return lks_stream_seal(report->stream, report->options, error);
    }
    if (status == LKS_OK)
        status = add_line(json, report);
    lks_text_free(json);
    return status;
}

static void discard_report(void *arg)
{
    struct report_call *report = arg;

    lks_options_free(report->options);
    free(report->text);
    free(report);
}

static PyObject *make_report(PyObject *object, const struct report_call *wish)
{
    static const struct core_call call = {.run = run_report,
                                          .discard = discard_report};
    struct core_stream *self = (void *)object;
    struct report_call *report;
    struct lks_error error;
    PyObject *result = NULL;

    if (!core_guard_check(&self->guard))
        return NULL;
    report = malloc(sizeof(*report));
    if (report == NULL)
        return PyErr_NoMemory();
    *report = *wish;
    report->stream = self->stream;
    Py_INCREF(object); /* Left to a call that is abandoned. */
    if (!core_call_run(&call, report, &error))
        return NULL;
    if (error.status == LKS_OK)
        result = PyUnicode_DecodeUTF8(report->text != NULL ? report->text : "",
                                      (Py_ssize_t)report->size, "replace");
    else
        core_raise(&error);
    discard_report(report);
    Py_DECREF(object);
    return result;
}

static PyObject *stream_info(PyObject *object, PyObject *unused)
{
    struct report_call wish = {.kind = REPORT_INFO};

    (void)unused;
    return make_report(object, &wish);
}

static PyObject *stream_verify(PyObject *object, PyObject *args)
{
    struct report_call wish = {.kind = REPORT_VERIFY};

    if (!PyArg_ParseTuple(args, "p", &wish.data))
        return NULL;
    return make_report(object, &wish);
}

static PyObject *stream_log(PyObject *object, PyObject *args)
{
    struct report_call wish = {.kind = REPORT_LOG};

    if (!PyArg_ParseTuple(args, "O&O&", core_to_u64, &wish.from, core_to_u64,
                          &wish.to))
        return NULL;
    return make_report(object, &wish);
}

static PyObject *stream_seal(PyObject *object, PyObject *args)
{
    struct report_call wish = {.kind = REPORT_SEAL};
    PyObject *options;

    if (!PyArg_ParseTuple(args, "O", &options))
        return NULL;
    wish.options = core_options_new(options);
    if (wish.options == NULL)
        return NULL;
    return make_report(object, &wish);
}

struct get_call {
    struct lks_stream *stream;
    uint64_t step;
    uint32_t rank;
    struct lks_batch *batch;
};

static enum lks_status run_get(void *arg, struct lks_error *error)
{
    struct get_call *get = arg;

    return lks_stream_get(get->stream, get->step, get->rank, &get->batch,
                          error);
}

static void discard_get(void *arg)
{
    struct get_call *get = arg;

    lks_batch_release(get->batch);
    free(get);
}

static PyObject *stream_get(PyObject *object, PyObject *args)
{
    static const struct core_call call = {.run = run_get,
                                          .discard = discard_get};
    const struct core_state *state = PyType_GetModuleState(Py_TYPE(object));
    struct core_stream *self = (void *)object;
    uint64_t step;
    struct get_call *get;
    struct lks_error error;
    PyObject *type, *result = NULL;
    uint32_t rank;

    if (!PyArg_ParseTuple(args, "O&O&O", core_to_u64, &step, core_to_u32, &rank,
                          &type) ||
        !core_batch_type_check(state, type) || !core_guard_check(&self->guard))
        return NULL;
    get = calloc(1, sizeof(*get));
    if (get == NULL)
        return PyErr_NoMemory();
    get->stream = self->stream;
    get->step = step;
    get->rank = rank;
    Py_INCREF(object);
    if (!core_call_run(&call, get, &error))
        return NULL;
    if (error.status == LKS_OK) {
        result = core_batch_wrap((PyTypeObject *)type, self, get->batch);
        get->batch = NULL;
    } else {
        core_raise(&error);
    }
    discard_get(get);
    Py_DECREF(object);
    return result;
}

/* ---------------------------------------------------------------- type -- */

static PyObject *stream_dp(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(
        lks_stream_dp(((struct core_stream *)object)->stream));
}

static PyObject *stream_cp(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(
        lks_stream_cp(((struct core_stream *)object)->stream));
}

static PyObject *stream_id(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(
        lks_stream_id(((struct core_stream *)object)->stream));
}

static PyObject *stream_producer(PyObject *object, PyObject *args)
{
    return core_producer_open((struct core_stream *)object, args);
}

static PyObject *stream_consumer(PyObject *object, PyObject *args)
{
    return core_consumer_open((struct core_stream *)object, args);
}

static PyMethodDef methods[] = {
    {"info", stream_info, METH_NOARGS, NULL},
    {"verify", stream_verify, METH_VARARGS, NULL},
    {"log", stream_log, METH_VARARGS, NULL},
    {"seal", stream_seal, METH_VARARGS, NULL},
    {"get", stream_get, METH_VARARGS, NULL},
    {"producer", stream_producer, METH_VARARGS, NULL},
    {"consumer", stream_consumer, METH_VARARGS, NULL},
    {"watermark", core_stream_watermark, METH_VARARGS, NULL},
    {"pin", core_stream_pin, METH_VARARGS, NULL},
    {"unpin", core_stream_unpin, METH_VARARGS, NULL},
    {"limit", core_stream_limit, METH_VARARGS, NULL},
    {"evict_group", core_stream_evict_group, METH_VARARGS, NULL},
    {"evict_producer", core_stream_evict_producer, METH_VARARGS, NULL},
    {"reclaim", core_stream_reclaim, METH_VARARGS, NULL},
    {"drop", core_stream_drop, METH_VARARGS, NULL},
    {"fork", core_stream_fork, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"dp", stream_dp, NULL, NULL, NULL},
    {"cp", stream_cp, NULL, NULL, NULL},
    {"id", stream_id, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)"An open stream."},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec core_stream_spec = {
    .name = "lakestream._core.Stream",
    .basicsize = sizeof(struct core_stream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
