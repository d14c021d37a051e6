/*
 * What the files of the extension module share. It is a thin skin over
 * lakestream.h: handles, buffers, the GIL. Everything that can be written in
 * Python is written there (python/lakestream/).
 *
 * Who owns what: a Producer, Consumer and Batch hold their Stream, a Slice and
 * every view of it hold their Batch. So nothing is closed under its users.
 */
#ifndef LAKESTREAM_PYTHON_CORE_H
#define LAKESTREAM_PYTHON_CORE_H

/* The buffer protocol joined the stable ABI with Python 3.11. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <sys/types.h>

#include "lakestream.h"

struct core_state {
    PyTypeObject *stream_type;
    PyTypeObject *producer_type;
    PyTypeObject *consumer_type;
    PyTypeObject *batch_type;
    PyTypeObject *slice_type;
};

/* What makes a handle refuse: it is closed, of another process, or in use. */
struct core_guard {
    const char *kind; /* "Producer" */
    pid_t pid;
    bool busy;   /* a thread is inside */
    bool closed; /* for good */
};

struct core_stream {
    PyObject head;
    struct lks_stream *stream;
    struct core_guard guard;
};

struct core_batch {
    PyObject head;
    struct lks_batch *batch;
    struct core_stream *stream;
    pid_t pid;
};

/* ------------------------------------------------------------- errors -- */

/* Raises what lakestream.errors has for the status. Returns NULL. */
PyObject *core_raise(const struct lks_error *error);

/* The same by another function there. */
PyObject *core_raise_by(const char *function, const struct lks_error *error);
PyObject *core_raise_text(enum lks_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------- guards -- */

void core_guard_init(struct core_guard *guard, const char *kind);

/* False with an exception: it must not be used now. */
bool core_guard_check(const struct core_guard *guard);

/* The same, and then it is the caller's until core_guard_leave(). */
bool core_guard_enter(struct core_guard *guard);
void core_guard_leave(struct core_guard *guard);

/* Waits until nobody is inside, after a cancel. Without the GIL for the most
 * part. */
void core_guard_await(struct core_guard *guard);

/* -------------------------------------------------------------- calls -- */

/*
 * One blocking call, made on a thread of its own so that the caller can go on
 * looking for signals. It sees no Python.
 */
struct core_call {
    enum lks_status (*run)(void *arg, struct lks_error *error);
    /* Makes run() return soon. NULL: it is left alone, and `discard` called
     * when it has returned. */
    void (*cancel)(void *arg);
    void (*discard)(void *arg);
};

/*
 * Runs it without the GIL. False: a signal handler raised, and `arg` is no
 * longer the caller's unless the call has a `cancel`; then it has returned.
 */
bool core_call_run(const struct core_call *call,
                   void *arg,
                   struct lks_error *out_error);

/* How long one turn of waiting for a step lasts: starve_timeout_ms, to the
 * library. */
#define CORE_TURN_MS 100

/* ------------------------------------------------------------ helpers -- */

/* For "O&" in PyArg_ParseTuple(): numbers that are not cut to fit. A uint64_t
 * or uint32_t; 0 with an exception. */
int core_to_u64(PyObject *object, void *out_number);
int core_to_u32(PyObject *object, void *out_number);

/* From a dict of texts. NULL with an exception. */
struct lks_options *core_options_new(PyObject *dict);
PyObject *core_options_table(PyObject *self, PyObject *unused);

/* A library's text as a str; releases it. NULL stays NULL. */
PyObject *core_text_take(char *text);

/* ----------------------------------------------------------- the types -- */

extern PyType_Spec core_stream_spec;
extern PyType_Spec core_producer_spec;
extern PyType_Spec core_consumer_spec;
extern PyType_Spec core_batch_spec;
extern PyType_Spec core_slice_spec;

PyObject *core_stream_open(PyObject *module, PyObject *args);
PyObject *core_stream_create(PyObject *module, PyObject *args);
PyObject *core_producer_open(struct core_stream *stream, PyObject *args);
PyObject *core_consumer_open(struct core_stream *stream, PyObject *args);

/* Batches' memory is from `lender`, a memory.Lender, from now on. */
enum lks_status core_memory_set(struct lks_consumer *consumer,
                                PyObject *lender,
                                struct lks_error *error);

/* Whether this thread is one of the library's that the lender works for right
 * now: closing the consumer here would wait for itself. NULL: there is none. */
bool core_memory_inside(const PyObject *lender);

/* Methods of Stream that are in core_life.c. */
PyObject *core_stream_watermark(PyObject *self, PyObject *args);
PyObject *core_stream_pin(PyObject *self, PyObject *args);
PyObject *core_stream_unpin(PyObject *self, PyObject *args);
PyObject *core_stream_limit(PyObject *self, PyObject *args);
PyObject *core_stream_evict_group(PyObject *self, PyObject *args);
PyObject *core_stream_evict_producer(PyObject *self, PyObject *args);
PyObject *core_stream_reclaim(PyObject *self, PyObject *args);
PyObject *core_stream_drop(PyObject *self, PyObject *args);
PyObject *core_stream_fork(PyObject *self, PyObject *args);

/* Takes the batch over, also when it fails. */
PyObject *core_batch_wrap(PyTypeObject *type,
                          struct core_stream *stream,
                          struct lks_batch *batch);

/* False with an exception unless `type` derives from Batch. */
bool core_batch_type_check(const struct core_state *state, PyObject *type);

#endif
