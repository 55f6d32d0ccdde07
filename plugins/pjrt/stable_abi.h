// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of CPython's stable ABI that this extension uses, declared here.
//
// Why not <Python.h>: the extension is cross-compiled by a pinned compiler on machines that may have another Python
// (whose limited API is older) or none of its headers, and Debian's pyconfig.h fails for a foreign target. The stable
// ABI is fixed for good (PEP 384, PEP 652), so its declarations can stand in one place. When <Python.h> came first,
// the compiler checks every declaration below against it: tests/data/stable_abi_check.c makes it do that.
//
// The build says for which of three ABIs. The functions are the same; how a module describes itself is not.
// - Py_LIMITED_API: the stable ABI of Pythons with the GIL (abi3).
// - Py_GIL_DISABLED: one free-threaded Python. Before 3.15 these have no stable ABI, but every function of it.
// - Py_TARGET_ABI3T: the stable ABI of free-threaded Pythons from 3.15 on (abi3t, PEP 803), which those with the GIL
//   load as well. Objects have no layout there, so a module is an array of slots (PEP 793, PEP 820).
#ifndef PJRTWHEEL_STABLE_ABI_H_
#define PJRTWHEEL_STABLE_ABI_H_

#if defined(Py_TARGET_ABI3T)
#if Py_TARGET_ABI3T + 0 < 0x030f0000
#error "the free-threaded stable ABI begins with CPython 3.15"
#endif
#elif defined(Py_GIL_DISABLED)
// No version to check: the layout below is the one of CPython 3.13 and 3.14.
#elif !defined(Py_LIMITED_API)
#error "Py_LIMITED_API is set by the build, from python_tag of plugins/pjrt/BUILD.bazel"
#elif Py_LIMITED_API + 0 < 0x030c0000
#error "this extension needs the stable ABI of CPython 3.12 or newer"
#endif

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef Py_PYTHON_H
typedef ssize_t Py_ssize_t;
typedef struct _object PyObject;
typedef struct _typeobject PyTypeObject;
typedef struct _ts PyThreadState;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef int (*inquiry)(PyObject *);
typedef void (*freefunc)(void *);
typedef void (*PyCapsule_Destructor)(PyObject *);
typedef enum { PyGILState_LOCKED, PyGILState_UNLOCKED } PyGILState_STATE;

typedef struct PyMethodDef {
  const char *ml_name;
  PyCFunction ml_meth;
  int ml_flags;
  const char *ml_doc;
} PyMethodDef;

#ifdef Py_TARGET_ABI3T
typedef struct PySlot {
  uint16_t sl_id;
  uint16_t sl_flags;
  uint32_t sl_reserved;
  union {
    void *sl_ptr;
    void (*sl_func)(void);
    Py_ssize_t sl_size;
    int64_t sl_int64;
    uint64_t sl_uint64;
  };
} PySlot;

typedef struct PyABIInfo {
  uint8_t abiinfo_major_version;
  uint8_t abiinfo_minor_version;
  uint16_t flags;
  uint32_t build_version;
  uint32_t abi_version;
} PyABIInfo;

// A slot of the module's own data; `PySlot_STATIC` says that it outlives the module.
#define PySlot_STATIC_DATA(NAME, VALUE) {.sl_id = (NAME), .sl_flags = 0x0002, .sl_ptr = (VALUE)}
#define PySlot_DATA(NAME, VALUE) {.sl_id = (NAME), .sl_flags = 0x0004, .sl_ptr = (void *)(VALUE)}
#define PySlot_FUNC(NAME, VALUE) {.sl_id = (NAME), .sl_func = (void (*)(void))(VALUE)}
#define PySlot_SIZE(NAME, VALUE) {.sl_id = (NAME), .sl_size = (Py_ssize_t)(VALUE)}
#define PySlot_END {.sl_id = 0}
// Version 1.0 of the struct; stable, with the GIL and without.
#define PyABIInfo_VAR(NAME) static PyABIInfo NAME = {1, 0, 0x0001 | 0x0002 | 0x0004, Py_TARGET_ABI3T, Py_TARGET_ABI3T}
#define Py_mod_exec 85
#define Py_mod_multiple_interpreters 86
#define Py_mod_gil 87
#define Py_mod_name 100
#define Py_mod_doc 101
#define Py_mod_state_size 102
#define Py_mod_methods 103
#define Py_mod_state_traverse 104
#define Py_mod_state_clear 105
#define Py_mod_abi 109
#define PyMODEXPORT_FUNC __attribute__((visibility("default"))) PySlot *
#else
typedef struct PyModuleDef_Slot {
  int slot;
  void *value;
} PyModuleDef_Slot;

// The head of every object, as PyModuleDef_HEAD_INIT fills it: the one of a free-threaded Python is longer.
typedef struct PyModuleDef_Base {
#ifdef Py_GIL_DISABLED
  uintptr_t ob_tid;
  uint16_t ob_flags;
  uint8_t ob_mutex;
  uint8_t ob_gc_bits;
  uint32_t ob_ref_local;
  Py_ssize_t ob_ref_shared;
#else
  Py_ssize_t ob_refcnt;
#endif
  PyTypeObject *ob_type;
  PyObject *(*m_init)(void);
  Py_ssize_t m_index;
  PyObject *m_copy;
} PyModuleDef_Base;

typedef struct PyModuleDef {
  PyModuleDef_Base m_base;
  const char *m_name;
  const char *m_doc;
  Py_ssize_t m_size;
  PyMethodDef *m_methods;
  PyModuleDef_Slot *m_slots;
  traverseproc m_traverse;
  inquiry m_clear;
  freefunc m_free;
} PyModuleDef;

#ifdef Py_GIL_DISABLED
// Immortal, and allocated statically (a flag that 3.13 does not have yet).
#define PyModuleDef_HEAD_INIT {0, 4, 0, 0, UINT32_MAX, 0, NULL, NULL, 0, NULL}
#else
#define PyModuleDef_HEAD_INIT {1, NULL, NULL, 0, NULL}
#endif
#define Py_mod_exec 2
#define Py_mod_multiple_interpreters 3
#define Py_mod_gil 4
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#endif  // Py_TARGET_ABI3T

#define METH_VARARGS 0x0001
#define METH_O 0x0008
#define PyBUF_WRITE 0x200
#define Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED ((void *)0)
#define Py_MOD_GIL_NOT_USED ((void *)1)

extern PyObject _Py_NoneStruct;
#define Py_None (&_Py_NoneStruct)
#endif  // Py_PYTHON_H

extern PyObject *PyExc_NotImplementedError, *PyExc_OSError, *PyExc_RuntimeError, *PyExc_TypeError, *PyExc_ValueError;

extern PyTypeObject PyDict_Type, PyTuple_Type;

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *Py_BuildValue(const char *, ...);

#ifndef Py_TARGET_ABI3T
PyObject *PyModuleDef_Init(PyModuleDef *);
#endif
void *PyModule_GetState(PyObject *);
int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
PyObject *PyImport_ImportModule(const char *);

void *PyCapsule_GetPointer(PyObject *, const char *);
const char *PyCapsule_GetName(PyObject *);
PyObject *PyCapsule_New(void *, const char *, PyCapsule_Destructor);

PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_GetRaisedException(void);
PyObject *PyErr_NewExceptionWithDoc(const char *, const char *, PyObject *, PyObject *);
PyObject *PyErr_NoMemory(void);
PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
void PyErr_SetString(PyObject *, const char *);

PyObject *PyBool_FromLong(long);
PyObject *PyFloat_FromDouble(double);
PyObject *PyLong_FromLongLong(long long);
PyObject *PyLong_FromLong(long);
char *PyBytes_AsString(PyObject *);
PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
PyObject *PyUnicode_DecodeUTF8(const char *, Py_ssize_t, const char *);
int PyUnicode_FSConverter(PyObject *, void *);
PyObject *PyUnicode_FromStringAndSize(const char *, Py_ssize_t);
PyObject *PyMemoryView_FromMemory(char *, Py_ssize_t, int);

int PyDict_Contains(PyObject *, PyObject *);
PyObject *PyDict_GetItemWithError(PyObject *, PyObject *);
PyObject *PyDict_New(void);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
PyObject *PyList_New(Py_ssize_t);
int PyList_Append(PyObject *, PyObject *);
PyObject *PyTuple_New(Py_ssize_t);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
Py_ssize_t PyTuple_Size(PyObject *);

PyObject *PyObject_Call(PyObject *, PyObject *, PyObject *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
PyObject *PyObject_GetItem(PyObject *, PyObject *);
int PyObject_RichCompareBool(PyObject *, PyObject *, int);

PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
PyGILState_STATE PyGILState_Ensure(void);
void PyGILState_Release(PyGILState_STATE);
int Py_IsInitialized(void);

#ifndef Py_EQ
#define Py_EQ 2
#endif

#endif  // PJRTWHEEL_STABLE_ABI_H_
