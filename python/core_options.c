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
