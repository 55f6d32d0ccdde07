// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// `_pjrt`: load a PJRT plugin and give it what its C API does not bring along. Built once per platform for each of the
// ABIs of stable_abi.h, and the same for every accelerator. `_pjrt.pyi` documents it for Python.
//
// Nothing here relies on the GIL. What is written after the start is a variable of one thread (ffi_registration.c), or
// complete before it is published (host_callback.c); there are no locks that a thread could wait for while it holds up
// the interpreter. Borrowed references are taken from tuples, and from dictionaries that nobody else changes.
#include "module.h"

#define MODULE_NAME "_pjrt"
#define MODULE_DOC "Load a PJRT plugin and complete what its C API leaves out."

// A reference from Python would not do: modules are emptied when the interpreter ends, and that is when it matters.
static PyObject *keep_forever(PyObject *module, PyObject *value) {
  (void)module;
  Py_IncRef(value);
  Py_IncRef(Py_None);
  return Py_None;
}

static PyMethodDef methods[] = {
    {"load", pjrt_load, METH_VARARGS, "load(path)\n--\n\nOpen a plugin library and return its API."},
    {"api_version", pjrt_api_version, METH_O, "api_version(api)\n--\n\nReturn the PJRT API version of a plugin."},
    {"attributes", pjrt_attributes, METH_O, "attributes(api)\n--\n\nReturn the attributes a plugin states."},
    {"extensions", pjrt_extensions, METH_O, "extensions(api)\n--\n\nReturn (type, size) of each extension."},
    {"ffi_api_version", pjrt_ffi_api_version, METH_VARARGS,
     "ffi_api_version(api, platform)\n--\n\nReturn the XLA FFI version of a plugin."},
    {"register_ffi_handler", pjrt_register_ffi_handler, METH_VARARGS,
     "register_ffi_handler(api, name, handler, platform, traits)\n--\n\nRegister the execute stage of a target."},
    {"register_ffi_stages", pjrt_register_ffi_stages, METH_VARARGS,
     "register_ffi_stages(api, name, stages, platform, traits)\n--\n\nRegister all stages of a target."},
    {"register_ffi_type", pjrt_register_ffi_type, METH_VARARGS,
     "register_ffi_type(api, name, type_id, type_info, platform)\n--\n\nRegister a type of FFI state."},
    {"register_gpu_target", pjrt_register_gpu_target, METH_VARARGS,
     "register_gpu_target(api, name, stages, api_version, traits)\n--\n\nRegister a custom call of a GPU."},
    {"preload", pjrt_preload, METH_VARARGS,
     "preload(path, everywhere)\n--\n\nOpen a library for the rest of the process."},
    {"library_version", pjrt_library_version, METH_VARARGS,
     "library_version(name, symbol, form)\n--\n\nReturn what a library says its version is."},
    {"register_host_callbacks", pjrt_register_host_callbacks, METH_VARARGS,
     "register_host_callbacks(api, names, platform, probe, dtypes, describe)\n--\n\n"
     "Register handlers that call back into Python."},
    {"keep_forever", keep_forever, METH_O, "keep_forever(value)\n--\n\nLet an object live as long as the process."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  state->error = PyErr_NewExceptionWithDoc("_pjrt.PjrtError", "A plugin refused a call, or is not a PJRT plugin.",
                                           PyExc_RuntimeError, NULL);
  if (state->error == NULL) {
    return -1;
  }
  return PyModule_AddObjectRef(module, "PjrtError", state->error);
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  ModuleState *state = PyModule_GetState(module);
  return state != NULL && state->error != NULL ? visit(state->error, arg) : 0;
}

static int clear(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  if (state != NULL && state->error != NULL) {
    PyObject *error = state->error;
    state->error = NULL;
    Py_DecRef(error);
  }
  return 0;
}

// An FFI handler gets no argument of ours, so what it needs is held once per process: no sub-interpreters.
#ifdef Py_TARGET_ABI3T
PyABIInfo_VAR(abi);

static PySlot slots[] = {
    PySlot_STATIC_DATA(Py_mod_abi, &abi),
    PySlot_STATIC_DATA(Py_mod_name, MODULE_NAME),
    PySlot_STATIC_DATA(Py_mod_doc, MODULE_DOC),
    PySlot_STATIC_DATA(Py_mod_methods, methods),
    PySlot_SIZE(Py_mod_state_size, sizeof(ModuleState)),
    PySlot_FUNC(Py_mod_state_traverse, traverse),
    PySlot_FUNC(Py_mod_state_clear, clear),
    PySlot_FUNC(Py_mod_exec, execute),
    PySlot_DATA(Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED),
    PySlot_DATA(Py_mod_gil, Py_MOD_GIL_NOT_USED),
    PySlot_END,
};

PyMODEXPORT_FUNC PyModExport__pjrt(void) {
  return slots;
}
#else
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#ifdef Py_GIL_DISABLED  // CPython 3.12, the oldest with the GIL, refuses a slot that it does not know
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = MODULE_NAME,
    .m_doc = MODULE_DOC,
    .m_size = sizeof(ModuleState),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__pjrt(void) {
  return PyModuleDef_Init(&definition);
}
#endif
