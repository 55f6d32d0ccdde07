// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <string.h>

int numpy_init(NumPy *numpy, PyObject *dtypes) {
  memset(numpy, 0, sizeof(*numpy));
  PyObject *module = PyImport_ImportModule("numpy");
  if (module == NULL) {
    return -1;
  }
  const int failed = (numpy->ndarray = PyObject_GetAttrString(module, "ndarray")) == NULL ||
                     (numpy->asarray = PyObject_GetAttrString(module, "asarray")) == NULL ||
                     (numpy->copyto = PyObject_GetAttrString(module, "copyto")) == NULL ||
                     (numpy->exactly = Py_BuildValue("{ss}", "casting", "equiv")) == NULL;
  Py_DecRef(module);
  if (failed) {
    numpy_clear(numpy);
    return -1;
  }
  Py_IncRef(dtypes);
  numpy->dtypes = dtypes;
  return 0;
}

void numpy_clear(NumPy *numpy) {
  NumPy old = *numpy;
  memset(numpy, 0, sizeof(*numpy));
  Py_DecRef(old.ndarray);
  Py_DecRef(old.asarray);
  Py_DecRef(old.copyto);
  Py_DecRef(old.dtypes);
  Py_DecRef(old.exactly);
}

// Bits of one element as XLA:CPU stores it: types of less than a byte are packed.
static unsigned bit_width(XLA_FFI_DataType type) {
  switch (type) {
    case XLA_FFI_DataType_S1:
    case XLA_FFI_DataType_U1:
      return 1;
    case XLA_FFI_DataType_S2:
    case XLA_FFI_DataType_U2:
      return 2;
    case XLA_FFI_DataType_S4:
    case XLA_FFI_DataType_U4:
    case XLA_FFI_DataType_F4E2M1FN:
      return 4;
    case XLA_FFI_DataType_PRED:
    case XLA_FFI_DataType_S8:
    case XLA_FFI_DataType_U8:
    case XLA_FFI_DataType_F8E5M2:
    case XLA_FFI_DataType_F8E3M4:
    case XLA_FFI_DataType_F8E4M3:
    case XLA_FFI_DataType_F8E4M3FN:
    case XLA_FFI_DataType_F8E4M3B11FNUZ:
    case XLA_FFI_DataType_F8E5M2FNUZ:
    case XLA_FFI_DataType_F8E4M3FNUZ:
    case XLA_FFI_DataType_F8E8M0FNU:
      return 8;
    case XLA_FFI_DataType_S16:
    case XLA_FFI_DataType_U16:
    case XLA_FFI_DataType_F16:
    case XLA_FFI_DataType_BF16:
      return 16;
    case XLA_FFI_DataType_S32:
    case XLA_FFI_DataType_U32:
    case XLA_FFI_DataType_F32:
      return 32;
    case XLA_FFI_DataType_S64:
    case XLA_FFI_DataType_U64:
    case XLA_FFI_DataType_F64:
    case XLA_FFI_DataType_C64:
      return 64;
    case XLA_FFI_DataType_C128:
      return 128;
    case XLA_FFI_DataType_INVALID:
    case XLA_FFI_DataType_TOKEN:
      break;
  }
  return 0;
}

static int is_signed(XLA_FFI_DataType type) {
  return type == XLA_FFI_DataType_S1 || type == XLA_FFI_DataType_S2 || type == XLA_FFI_DataType_S4;
}

// Returns how many elements a buffer has, or -1 with an exception set. That many of the widest type fit in memory.
static Py_ssize_t element_count(const XLA_FFI_Buffer *buffer) {
  const Py_ssize_t widest = 16;
  Py_ssize_t count = 1, bytes = 0;
  int valid = buffer->rank >= 0;
  for (int64_t i = 0; valid && i < buffer->rank; ++i) {
    valid = buffer->dims[i] >= 0 && !__builtin_mul_overflow(count, buffer->dims[i], &count);
  }
  if (!valid || __builtin_mul_overflow(count, widest, &bytes)) {
    PyErr_SetString(PyExc_ValueError, "a buffer of a CPU callback has a negative dimension, or too many elements");
    return -1;
  }
  return count;
}

// ml_dtypes keeps one element per byte, in the low bits and sign-extended; XLA packs from the low bits up.
static void unpack(const uint8_t *packed, uint8_t *bytes, Py_ssize_t count, unsigned bits, int sign) {
  const unsigned per_byte = 8 / bits, mask = (1u << bits) - 1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    unsigned value = (packed[i / per_byte] >> (bits * (unsigned)(i % per_byte))) & mask;
    bytes[i] = (uint8_t)(sign && (value >> (bits - 1)) ? value | ~mask : value);
  }
}

static void pack(const uint8_t *bytes, uint8_t *packed, Py_ssize_t count, unsigned bits) {
  const unsigned per_byte = 8 / bits, mask = (1u << bits) - 1;
  memset(packed, 0, (size_t)((count + per_byte - 1) / per_byte));
  for (Py_ssize_t i = 0; i < count; ++i) {
    packed[i / per_byte] |= (uint8_t)((bytes[i] & mask) << (bits * (unsigned)(i % per_byte)));
  }
}

static PyObject *shape_of(const XLA_FFI_Buffer *buffer) {
  PyObject *shape = PyTuple_New((Py_ssize_t)buffer->rank);
  for (int64_t i = 0; shape != NULL && i < buffer->rank; ++i) {
    PyObject *size = PyLong_FromLongLong(buffer->dims[i]);
    if (size == NULL) {
      Py_DecRef(shape);
      return NULL;
    }
    PyTuple_SetItem(shape, (Py_ssize_t)i, size);
  }
  return shape;
}

// Returns a reference borrowed from `numpy->dtypes`, which nobody changes, or NULL with an exception set.
static PyObject *dtype_of(const NumPy *numpy, const XLA_FFI_Buffer *buffer) {
  PyObject *key = PyLong_FromLong(buffer->dtype);
  if (key == NULL) {
    return NULL;
  }
  PyObject *dtype = PyDict_GetItemWithError(numpy->dtypes, key);
  Py_DecRef(key);
  if ((dtype == NULL || bit_width(buffer->dtype) == 0) && PyErr_Occurred() == NULL) {
    PyErr_Format(PyExc_NotImplementedError, "no NumPy type for XLA element type %d", (int)buffer->dtype);
    return NULL;
  }
  return dtype;
}

PyObject *array_from_buffer(const NumPy *numpy, const XLA_FFI_Buffer *buffer) {
  PyObject *dtype = dtype_of(numpy, buffer);
  if (dtype == NULL) {
    return NULL;
  }
  const unsigned bits = bit_width(buffer->dtype);
  const Py_ssize_t count = element_count(buffer);
  if (count < 0) {
    return NULL;
  }
  // An array over a bytes object is read-only by itself. A buffer of no elements may have no address.
  const char *data = bits < 8 || count == 0 ? NULL : buffer->data;
  PyObject *bytes = PyBytes_FromStringAndSize(data, count * (bits < 8 ? 1 : (Py_ssize_t)(bits / 8)));
  PyObject *shape = bytes == NULL ? NULL : shape_of(buffer), *array = NULL;
  if (shape != NULL) {
    if (bits < 8) {
      unpack(buffer->data, (uint8_t *)PyBytes_AsString(bytes), count, bits, is_signed(buffer->dtype));
    }
    array = PyObject_CallFunctionObjArgs(numpy->ndarray, shape, dtype, bytes, NULL);
  }
  Py_DecRef(shape);
  Py_DecRef(bytes);
  return array;
}

// Raises unless the shape of `array` is `shape`.
static int check_shape(PyObject *array, PyObject *shape, Py_ssize_t position) {
  PyObject *actual = PyObject_GetAttrString(array, "shape");
  int equal = actual == NULL ? -1 : PyObject_RichCompareBool(actual, shape, Py_EQ);
  if (equal == 0) {
    PyErr_Format(PyExc_ValueError,
                 "Mismatched result shape for %zd-th return value from CPU callback; "
                 "expected array with dimensions %S, got %S",
                 position, shape, actual);
  }
  Py_DecRef(actual);
  return equal == 1 ? 0 : -1;
}

// Copies `source` into an array of the right type over `memory`: NumPy sees to strides, and refuses a wrong type.
static int copy_into(const NumPy *numpy, PyObject *source, PyObject *shape, PyObject *dtype, char *memory,
                     Py_ssize_t size) {
  PyObject *view = PyMemoryView_FromMemory(memory, size, PyBUF_WRITE);
  PyObject *target = view == NULL ? NULL : PyObject_CallFunctionObjArgs(numpy->ndarray, shape, dtype, view, NULL);
  PyObject *pair = target == NULL ? NULL : PyTuple_New(2);
  PyObject *done = NULL;
  if (pair != NULL) {
    Py_IncRef(target);
    PyTuple_SetItem(pair, 0, target);
    Py_IncRef(source);
    PyTuple_SetItem(pair, 1, source);
    done = PyObject_Call(numpy->copyto, pair, numpy->exactly);
  }
  Py_DecRef(pair);
  Py_DecRef(target);
  Py_DecRef(view);
  Py_DecRef(done);
  return done == NULL ? -1 : 0;
}

int array_to_buffer(const NumPy *numpy, PyObject *output, Py_ssize_t position, const XLA_FFI_Buffer *buffer) {
  PyObject *dtype = dtype_of(numpy, buffer);
  if (dtype == NULL) {
    return -1;
  }
  const unsigned bits = bit_width(buffer->dtype);
  const Py_ssize_t count = element_count(buffer);
  if (count < 0) {
    return -1;
  }
  PyObject *array = PyObject_CallFunctionObjArgs(numpy->asarray, output, NULL);
  PyObject *shape = array == NULL ? NULL : shape_of(buffer);
  int result = shape == NULL ? -1 : check_shape(array, shape, position);
  if (result == 0 && count > 0) {
    if (bits >= 8) {
      result = copy_into(numpy, array, shape, dtype, buffer->data, count * (Py_ssize_t)(bits / 8));
    } else {
      PyObject *scratch = PyBytes_FromStringAndSize(NULL, count);
      char *bytes = scratch == NULL ? NULL : PyBytes_AsString(scratch);
      result = bytes == NULL ? -1 : copy_into(numpy, array, shape, dtype, bytes, count);
      if (result == 0) {
        pack((const uint8_t *)bytes, buffer->data, count, bits);
      }
      Py_DecRef(scratch);
    }
  }
  Py_DecRef(shape);
  Py_DecRef(array);
  return result;
}
