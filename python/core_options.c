/*
 * Options from a dict, and the table of options for keywords and help.
 */
#include "core.h"

static bool set_all(struct lks_options *options, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
        struct lks_error error = {0};

        if (name == NULL || text == NULL)
            return false;
        error.status = lks_options_set(options, name, text, &error);
        if (error.status != LKS_OK) {
            core_raise(&error);
            return false;
        }
    }
    return true;
}

static int to_number(PyObject *object, uint64_t max, uint64_t *out_number)
{
    PyObject *index = PyNumber_Index(object);
    uint64_t number;

    if (index == NULL)
        return 0;
    number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred() || number > max) {
        PyErr_Clear();
        core_raise_text(LKS_INVALID,
                        "a number is below 0, or above %llu which is the most",
                        (unsigned long long)max);
        return 0;
    }
    *out_number = number;
    return 1;
}

int core_to_u64(PyObject *object, void *out_number)
{
    /* The last one is LKS_STEP_FIRST. */
    return to_number(object, UINT64_MAX - 1, out_number);
}

int core_to_u32(PyObject *object, void *out_number)
{
    uint64_t number;

    if (to_number(object, UINT32_MAX, &number) == 0)
        return 0;
    *(uint32_t *)out_number = (uint32_t)number;
    return 1;
}

struct lks_options *core_options_new(PyObject *dict)
{
    struct lks_options *options = NULL;
    struct lks_error error = {0};

    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "options must be a dict of texts");
        return NULL;
    }
    error.status = lks_options_new(&options, &error);
    if (error.status != LKS_OK) {
        core_raise(&error);
        return NULL;
    }
    if (!set_all(options, dict)) {
        lks_options_free(options);
        return NULL;
    }
    return options;
}

PyObject *core_options_table(PyObject *self, PyObject *unused)
{
    PyObject *rows = PyList_New(0);
    char *json = NULL;

    (void)self;
    (void)unused;
    for (size_t i = 0;
         rows != NULL && lks_options_describe(i, &json, NULL) == LKS_OK; i++) {
        PyObject *row = core_text_take(json);

        if (row == NULL || PyList_Append(rows, row) != 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

PyObject *core_text_take(char *text)
{
    PyObject *result = text != NULL ? PyUnicode_FromString(text) : NULL;

    lks_text_free(text);
    return result;
}
