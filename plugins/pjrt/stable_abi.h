// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of CPython's stable ABI that this extension uses, declared here.
//
// Why not <Python.h>: the extension is cross-compiled by a pinned compiler on machines that may have another Python
// (whose limited API is older) or none of its headers, and Debian's pyconfig.h fails for a foreign target. The stable
// ABI is fixed for good (PEP 384, PEP 652), so its declarations can stand in one place. When <Python.h> came first,
// the compiler checks every declaration below against it: tests/data/stable_abi_check.c makes it do that.
#ifndef PJRTWHEEL_STABLE_ABI_H_
#define PJRTWHEEL_STABLE_ABI_H_

#ifndef Py_LIMITED_API
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

typedef struct PyModuleDef_Slot {
  int slot;
  void *value;
} PyModuleDef_Slot;

// The head of every object, as PyModuleDef_HEAD_INIT fills it. Free-threaded builds differ, and load no abi3 module.
typedef struct PyModuleDef_Base {
  Py_ssize_t ob_refcnt;
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

#define PyModuleDef_HEAD_INIT {1, NULL, NULL, 0, NULL}
#define METH_VARARGS 0x0001
#define METH_O 0x0008
#define PyBUF_WRITE 0x200
#define Py_mod_exec 2
#define Py_mod_multiple_interpreters 3
#define Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED ((void *)0)
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *

extern PyObject _Py_NoneStruct;
#define Py_None (&_Py_NoneStruct)
#endif  // Py_PYTHON_H

extern PyObject *PyExc_NotImplementedError, *PyExc_OSError, *PyExc_RuntimeError, *PyExc_TypeError, *PyExc_ValueError;

extern PyTypeObject PyDict_Type, PyTuple_Type;

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *Py_BuildValue(const char *, ...);

PyObject *PyModuleDef_Init(PyModuleDef *);
void *PyModule_GetState(PyObject *);
int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
PyObject *PyImport_ImportModule(const char *);

void *PyCapsule_GetPointer(PyObject *, const char *);
const char *PyCapsule_GetName(PyObject *);
PyObject *PyCapsule_New(void *, const char *, PyCapsule_Destructor);

PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_GetRaisedException(void);
PyObject *PyErr_NewExceptionWithDoc(const char *, const char *, PyObject *, PyObject *);
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
