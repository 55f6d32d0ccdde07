// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles only if plugins/pjrt/stable_abi.h agrees with CPython's own headers: the compiler compares the functions,
// because they are declared twice, and the assertions below compare what stable_abi.h defines when it is alone. The
// numbers are those of stable_abi.h, written out because both cannot define the same struct in one file.
#include <Python.h>

#include "stable_abi.h"

#ifdef Py_TARGET_ABI3T
_Static_assert(sizeof(PySlot) == 16 && offsetof(PySlot, sl_id) == 0 && offsetof(PySlot, sl_flags) == 2, "PySlot");
_Static_assert(offsetof(PySlot, sl_reserved) == 4 && offsetof(PySlot, sl_ptr) == 8, "PySlot");
_Static_assert(offsetof(PySlot, sl_func) == 8 && offsetof(PySlot, sl_size) == 8, "PySlot");
_Static_assert(PySlot_STATIC == 0x0002 && PySlot_INTPTR == 0x0004 && Py_slot_end == 0, "PySlot.sl_flags");
_Static_assert(sizeof(PyABIInfo) == 12 && offsetof(PyABIInfo, abiinfo_minor_version) == 1, "PyABIInfo");
_Static_assert(offsetof(PyABIInfo, flags) == 2 && offsetof(PyABIInfo, build_version) == 4, "PyABIInfo");
_Static_assert(offsetof(PyABIInfo, abi_version) == 8, "PyABIInfo");
_Static_assert(PyABIInfo_DEFAULT_FLAGS == (0x0001 | 0x0002 | 0x0004), "PyABIInfo.flags");
_Static_assert(PyABIInfo_DEFAULT_ABI_VERSION == Py_TARGET_ABI3T, "PyABIInfo.abi_version");
_Static_assert(Py_mod_exec == 85 && Py_mod_multiple_interpreters == 86 && Py_mod_gil == 87, "PySlot.sl_id");
_Static_assert(Py_mod_name == 100 && Py_mod_doc == 101 && Py_mod_state_size == 102, "PySlot.sl_id");
_Static_assert(Py_mod_methods == 103 && Py_mod_state_traverse == 104 && Py_mod_state_clear == 105, "PySlot.sl_id");
_Static_assert(Py_mod_abi == 109, "PySlot.sl_id");
#else
#ifdef Py_GIL_DISABLED
#define BASE 56
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_tid) == 0, "PyModuleDef_Base");
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_mutex) == 10, "PyModuleDef_Base");
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_gc_bits) == 11, "PyModuleDef_Base");
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_ref_local) == 12, "PyModuleDef_Base");
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_ref_shared) == 16, "PyModuleDef_Base");
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_type) == 24, "PyModuleDef_Base");
#ifdef _Py_STATICALLY_ALLOCATED_FLAG
_Static_assert(offsetof(PyModuleDef_Base, ob_base.ob_flags) == 8, "PyModuleDef_Base");
_Static_assert(_Py_STATICALLY_ALLOCATED_FLAG == 4, "PyModuleDef_HEAD_INIT");
#endif
_Static_assert(_Py_IMMORTAL_REFCNT_LOCAL == UINT32_MAX, "PyModuleDef_HEAD_INIT");
#else
#define BASE 40
#endif
_Static_assert(sizeof(PyModuleDef) == BASE + 64 && offsetof(PyModuleDef, m_base) == 0, "PyModuleDef");
_Static_assert(offsetof(PyModuleDef_Base, m_init) == BASE - 24, "PyModuleDef_Base");
_Static_assert(offsetof(PyModuleDef, m_name) == BASE && offsetof(PyModuleDef, m_doc) == BASE + 8, "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_size) == BASE + 16 && offsetof(PyModuleDef, m_methods) == BASE + 24,
               "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_slots) == BASE + 32 && offsetof(PyModuleDef, m_traverse) == BASE + 40,
               "PyModuleDef");
_Static_assert(offsetof(PyModuleDef, m_clear) == BASE + 48 && offsetof(PyModuleDef, m_free) == BASE + 56,
               "PyModuleDef");
_Static_assert(sizeof(PyModuleDef_Slot) == 16 && offsetof(PyModuleDef_Slot, value) == 8, "PyModuleDef_Slot");
_Static_assert(Py_mod_exec == 2 && Py_mod_multiple_interpreters == 3, "PyModuleDef_Slot.slot");
#ifdef Py_GIL_DISABLED
_Static_assert(Py_mod_gil == 4, "PyModuleDef_Slot.slot");
#endif
#endif
_Static_assert(sizeof(PyMethodDef) == 32 && offsetof(PyMethodDef, ml_flags) == 16, "PyMethodDef");
_Static_assert(METH_VARARGS == 0x0001 && METH_O == 0x0008, "PyMethodDef.ml_flags");
_Static_assert(PyBUF_WRITE == 0x200, "PyMemoryView_FromMemory");
_Static_assert(Py_EQ == 2, "PyObject_RichCompareBool");
_Static_assert(PyGILState_LOCKED == 0 && PyGILState_UNLOCKED == 1, "PyGILState_STATE");
