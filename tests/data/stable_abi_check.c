// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles only if plugins/pjrt/stable_abi.h agrees with CPython's own headers: the compiler compares the functions,
// because they are declared twice, and the assertions below compare what stable_abi.h defines when it is alone. The
// numbers are those of stable_abi.h, written out because both cannot define the same struct in one file.
#include <Python.h>

#include "stable_abi.h"

_Static_assert(sizeof(PyModuleDef) == 104 && offsetof(PyModuleDef, m_base) == 0, "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_name) == 40 && offsetof(PyModuleDef, m_doc) == 48, "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_size) == 56 && offsetof(PyModuleDef, m_methods) == 64, "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_slots) == 72 && offsetof(PyModuleDef, m_traverse) == 80, "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_clear) == 88 && offsetof(PyModuleDef, m_free) == 96, "PyModuleDef");
_Static_assert(sizeof(PyMethodDef) == 32 && offsetof(PyMethodDef, ml_flags) == 16, "PyMethodDef");
_Static_assert(sizeof(PyModuleDef_Slot) == 16 && offsetof(PyModuleDef_Slot, value) == 8, "PyModuleDef_Slot");
_Static_assert(METH_VARARGS == 0x0001 && METH_O == 0x0008, "PyMethodDef.ml_flags");
_Static_assert(PyBUF_WRITE == 0x200, "PyMemoryView_FromMemory");
_Static_assert(Py_mod_exec == 2 && Py_mod_multiple_interpreters == 3, "PyModuleDef_Slot.slot");
_Static_assert(Py_EQ == 2, "PyObject_RichCompareBool");
_Static_assert(PyGILState_LOCKED == 0 && PyGILState_UNLOCKED == 1, "PyGILState_STATE");
