// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy arrays from XLA buffers and back, without NumPy's C API (which is not stable across its versions).
#ifndef PJRTWHEEL_ARRAYS_H_
#define PJRTWHEEL_ARRAYS_H_

#include "ffi_api.h"
#include "stable_abi.h"

// What of NumPy is needed, looked up once. All references are owned.
typedef struct {
  PyObject *ndarray;  // numpy.ndarray
  PyObject *asarray;  // numpy.asarray
  PyObject *copyto;   // numpy.copyto
  PyObject *dtypes;   // dict: XLA_FFI_DataType -> numpy.dtype
  PyObject *exactly;  // {"casting": "equiv"}
} NumPy;

// Fills `numpy`. Returns 0, or -1 with an exception set and nothing kept.
int numpy_init(NumPy *numpy, PyObject *dtypes);
void numpy_clear(NumPy *numpy);

// Returns a new read-only array with a copy of the buffer: the callback may keep it, XLA reuses the buffer.
PyObject *array_from_buffer(const NumPy *numpy, const XLA_FFI_Buffer *buffer);

// Copies `output` (anything NumPy makes an array of, with any strides) into a result buffer, whose shape and type it
// must have. Returns 0, or -1 with an exception set.
int array_to_buffer(const NumPy *numpy, PyObject *output, Py_ssize_t position, const XLA_FFI_Buffer *buffer);

#endif  // PJRTWHEEL_ARRAYS_H_
