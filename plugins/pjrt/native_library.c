// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Open vendors' libraries before a plugin asks for them, and ask them for their versions.
#include <dlfcn.h>
#include <string.h>

#include "module.h"

// Opens a library for the rest of the process; NULL with an exception set if that fails.
static void *open_library(const char *name, int flags) {
  PyThreadState *thread = PyEval_SaveThread();
  void *library = dlopen(name, flags);
  const char *reason = library == NULL ? dlerror() : NULL;
  PyEval_RestoreThread(thread);
  if (library == NULL) {
    PyErr_Format(PyExc_OSError, "%s", reason);
  }
  return library;
}

// Lazily, because libraries of one vendor may need each other's functions without saying so in their headers. That is
// also why ctypes is not enough, which always binds at once.
PyObject *pjrt_preload(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *path = NULL;
  int everywhere = 0;
  if (!PyArg_ParseTuple(args, "O&p", PyUnicode_FSConverter, &path, &everywhere)) {
    return NULL;
  }
  void *library = open_library(PyBytes_AsString(path), RTLD_LAZY | (everywhere ? RTLD_GLOBAL : RTLD_LOCAL));
  Py_DecRef(path);
  if (library == NULL) {
    return NULL;
  }
  Py_IncRef(Py_None);
  return Py_None;
}

// Sets an exception unless `status` is 0, which is success for every vendor.
static int check_status(PyObject *module, const char *symbol, int status) {
  if (status != 0) {
    ModuleState *state = PyModule_GetState(module);
    PyErr_Format(state->error, "%s failed with status %d", symbol, status);
  }
  return status;
}

static PyObject *version_by_pointer(PyObject *module, void *address, const char *symbol) {
  int (*function)(int *) = NULL;
  *(void **)&function = address;
  int version = 0;
  return check_status(module, symbol, function(&version)) != 0 ? NULL : PyLong_FromLong(version);
}

// Properties 0, 1 and 2 are major version, minor version and patch level (library_types.h of CUDA).
static PyObject *version_by_properties(PyObject *module, void *address, const char *symbol) {
  int (*function)(int, int *) = NULL;
  *(void **)&function = address;
  int parts[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    if (check_status(module, symbol, function(i, &parts[i])) != 0) {
      return NULL;
    }
  }
  return Py_BuildValue("(iii)", parts[0], parts[1], parts[2]);
}

PyObject *pjrt_library_version(PyObject *module, PyObject *args) {
  const char *name = NULL, *symbol = NULL, *form = NULL;
  if (!PyArg_ParseTuple(args, "sss", &name, &symbol, &form)) {
    return NULL;
  }
  void *library = open_library(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    return NULL;
  }
  void *address = dlsym(library, symbol);
  if (address == NULL) {
    return PyErr_Format(PyExc_OSError, "%s has no function %s", name, symbol);
  }
  if (strcmp(form, "pointer") == 0) {
    return version_by_pointer(module, address, symbol);
  }
  if (strcmp(form, "properties") == 0) {
    return version_by_properties(module, address, symbol);
  }
  if (strcmp(form, "value") == 0) {
    // An `int` result would do as well: it comes back in the same register, and no version is negative.
    size_t (*function)(void) = NULL;
    *(void **)&function = address;
    return PyLong_FromLongLong((long long)(function() & 0xffffffff));
  }
  return PyErr_Format(PyExc_ValueError, "unknown form of a version function: %s", form);
}
