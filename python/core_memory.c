/*
 * Batches in memory that Python gives: the library's allocator calls what is in
 * lakestream/memory.py. It does so from its own threads, and where the GIL may
 * be held or not.
 */
#include "core.h"

/* The lender that this thread is inside. */
static _Thread_local const PyObject *inside;

bool core_memory_inside(const PyObject *lender)
{
    return lender != NULL && inside == lender;
}

static void *lend(size_t size, size_t alignment, void *arg)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    const PyObject *outer = inside;
    PyObject *address;
    void *memory;

    inside = arg;
    address = PyObject_CallMethod(arg, "lend", "nn", (Py_ssize_t)size,
                                  (Py_ssize_t)alignment);
    memory = address != NULL ? PyLong_AsVoidPtr(address) : NULL;
    /* What can fail is the caller's to hear of, and lend() keeps it. */
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(arg);
    Py_XDECREF(address);
    PyGILState_Release(gil);
    inside = outer;
    return memory;
}

static void take_back(void *memory, size_t size, void *arg)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    const PyObject *outer = inside;
    PyObject *type, *value, *trace, *result;

    (void)size;
    inside = arg;
    /* A batch may be let go while an exception is on its way. */
    PyErr_Fetch(&type, &value, &trace);
    result =
        PyObject_CallMethod(arg, "take_back", "N", PyLong_FromVoidPtr(memory));
    if (result == NULL)
        PyErr_WriteUnraisable(arg);
    Py_XDECREF(result);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
    inside = outer;
}

static void let_go(void *arg)
{
    PyGILState_STATE gil = PyGILState_Ensure();

    Py_DECREF((PyObject *)arg);
    PyGILState_Release(gil);
}

enum lks_status core_memory_set(struct lks_consumer *consumer,
                                PyObject *lender,
                                struct lks_error *error)
{
    enum lks_status status;

    Py_INCREF(lender);
    status = lks_consumer_set_allocator(consumer, lend, take_back, let_go,
                                        lender, error);
    if (status != LKS_OK)
        Py_DECREF(lender);
    return status;
}
