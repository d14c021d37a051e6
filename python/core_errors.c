/*
 * Statuses as exceptions, and the guards of the handles. Which class belongs to
 * which status is said in lakestream/errors.py.
 */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REST_NS 1000000 /* between two looks whether a call has returned */

PyObject *core_raise(const struct lks_error *error)
{
    return core_raise_by("from_status", error);
}

PyObject *core_raise_by(const char *function, const struct lks_error *error)
{
    PyObject *module, *exception = NULL;

    if (error->status == LKS_NO_MEMORY)
        return PyErr_NoMemory();
    module = PyImport_ImportModule("lakestream.errors");
    if (module == NULL)
        return NULL;
    exception = PyObject_CallMethod(
        module, function, "iN", (int)error->status,
        PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message),
                             "replace"));
    Py_DECREF(module);
    if (exception == NULL)
        return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

PyObject *core_raise_text(enum lks_status status, const char *format, ...)
{
    struct lks_error error = {.status = status};
    va_list list;

    va_start(list, format);
    vsnprintf(error.message, sizeof(error.message), format, list);
    va_end(list);
    return core_raise(&error);
}

void core_guard_init(struct core_guard *guard, const char *kind)
{
    guard->kind = kind;
    guard->pid = getpid();
    guard->busy = false;
    guard->closed = false;
}

bool core_guard_check(const struct core_guard *guard)
{
    if (guard->pid != getpid())
        core_raise_text(LKS_OK,
                        "this %s belongs to process %d and cannot be used in "
                        "process %d, after a fork: open one here, or send it "
                        "by pickle",
                        guard->kind, (int)guard->pid, (int)getpid());
    else if (guard->closed)
        core_raise_text(LKS_INVALID, "the %s is closed", guard->kind);
    else
        return true;
    return false;
}

bool core_guard_enter(struct core_guard *guard)
{
    if (!core_guard_check(guard))
        return false;
    if (guard->busy) {
        core_raise_text(LKS_OK,
                        "another thread is using this %s, which belongs to "
                        "one thread at a time",
                        guard->kind);
        return false;
    }
    guard->busy = true;
    return true;
}

void core_guard_leave(struct core_guard *guard)
{
    guard->busy = false;
}

void core_guard_await(struct core_guard *guard)
{
    struct timespec rest = {.tv_nsec = REST_NS};

    while (guard->busy) {
        Py_BEGIN_ALLOW_THREADS nanosleep(&rest, NULL);
        Py_END_ALLOW_THREADS
    }
}
