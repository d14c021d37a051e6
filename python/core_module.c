/*
 * The extension module lakestream._core: its functions, types and constants.
 */
#include "core.h"

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_FromString(lks_version());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, NULL},
    {"options_table", core_options_table, METH_NOARGS, NULL},
    {"stream_open", core_stream_open, METH_VARARGS, NULL},
    {"stream_create", core_stream_create, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module,
                    PyTypeObject **out_type,
                    PyType_Spec *spec)
{
    *out_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (*out_type == NULL)
        return -1;
    return PyModule_AddType(module, *out_type);
}

static int execute(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);

    if (add_type(module, &state->stream_type, &core_stream_spec) != 0 ||
        add_type(module, &state->producer_type, &core_producer_spec) != 0 ||
        add_type(module, &state->consumer_type, &core_consumer_spec) != 0 ||
        add_type(module, &state->batch_type, &core_batch_spec) != 0 ||
        add_type(module, &state->slice_type, &core_slice_spec) != 0)
        return -1;
    return PyModule_AddIntConstant(module, "TURN_MS", CORE_TURN_MS);
}

static int clear(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);

    Py_CLEAR(state->stream_type);
    Py_CLEAR(state->producer_type);
    Py_CLEAR(state->consumer_type);
    Py_CLEAR(state->batch_type);
    Py_CLEAR(state->slice_type);
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = PyModule_GetState(module);

    Py_VISIT(state->stream_type);
    Py_VISIT(state->producer_type);
    Py_VISIT(state->consumer_type);
    Py_VISIT(state->batch_type);
    Py_VISIT(state->slice_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lakestream._core",
    .m_doc = "The library's handles; see the package lakestream.",
    .m_size = sizeof(struct core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
