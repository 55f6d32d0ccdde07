// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Open a plugin and ask what it is. A struct of the C API may be older and shorter than the header this was compiled
// with, or newer and longer: a member is read only when the plugin's `struct_size` covers it.
#include <dlfcn.h>
#include <stdbool.h>

#include "module.h"

// Returns 0 if `api` has what every use of it needs, the functions that read and destroy errors, else -1 with an
// exception set. What comes behind them is checked where it is used.
static int check_api(PyObject *module, const PJRT_Api *api, const char *origin) {
  if (api != NULL && api->struct_size >= PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Error_Message) &&
      api->PJRT_Error_Destroy != NULL && api->PJRT_Error_Message != NULL) {
    return 0;
  }
  ModuleState *state = PyModule_GetState(module);
  PyErr_Format(state->error, "not a PJRT plugin: %s has no usable API", origin);
  return -1;
}

const PJRT_Api *api_from_capsule(PyObject *module, PyObject *capsule) {
  const PJRT_Api *api = PyCapsule_GetPointer(capsule, PJRT_API_CAPSULE);
  return api == NULL || check_api(module, api, "this capsule") < 0 ? NULL : api;
}

// A plugin's text may be cut in the middle of a character, or be no UTF-8 at all: better garbled than another error.
static PyObject *text_from(const char *data, size_t size) {
  return PyUnicode_DecodeUTF8(data, (Py_ssize_t)size, "replace");
}

int raise_pjrt_error(PyObject *module, const PJRT_Api *api, PJRT_Error *error, const char *doing) {
  if (error == NULL) {
    return 0;
  }
  PJRT_Error_Message_Args message = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
  api->PJRT_Error_Message(&message);
  ModuleState *state = PyModule_GetState(module);
  PyObject *text = text_from(message.message, message.message_size);
  if (text != NULL) {
    PyErr_Format(state->error, "%s: %U", doing, text);
    Py_DecRef(text);
  }
  PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error};
  api->PJRT_Error_Destroy(&destroy);
  return -1;
}

const PJRT_Extension_Base *find_extension(const PJRT_Api *api, int type, size_t size) {
  for (const PJRT_Extension_Base *it = api->extension_start; it != NULL; it = it->next) {
    if ((int)it->type == type && it->struct_size >= size) {
      return it;
    }
  }
  return NULL;
}

PyObject *pjrt_load(PyObject *module, PyObject *args) {
  PyObject *path = NULL;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) {
    return NULL;
  }
  PyObject *capsule = NULL;
  const char *name = PyBytes_AsString(path);
  ModuleState *state = PyModule_GetState(module);
  // Local, so that two plugins never see each other's symbols. It is never closed: XLA's threads run on.
  // Reading it and running its initializers takes a while, in which other Python threads go on.
  PyThreadState *thread = PyEval_SaveThread();
  release_pages();  // before as well: what jaxlib's start needed is not to add to the peak
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const char *reason = library == NULL ? dlerror() : NULL;
  release_pages();
  PyEval_RestoreThread(thread);
  if (library == NULL) {
    PyErr_Format(PyExc_OSError, "cannot open %s: %s", name, reason);
    goto done;
  }
  // ISO C has no cast from an object to a function pointer; POSIX requires dlsym's result to survive this one.
  const PJRT_Api *(*get_api)(void) = NULL;
  *(void **)&get_api = dlsym(library, "GetPjrtApi");
  if (get_api == NULL) {
    PyErr_Format(state->error, "not a PJRT plugin: %s has no function GetPjrtApi", name);
    goto done;
  }
  const PJRT_Api *api = get_api();
  if (check_api(module, api, name) == 0) {
    capsule = PyCapsule_New((void *)api, PJRT_API_CAPSULE, NULL);
  }
done:
  Py_DecRef(path);
  return capsule;
}

PyObject *pjrt_api_version(PyObject *module, PyObject *capsule) {
  const PJRT_Api *api = api_from_capsule(module, capsule);
  if (api == NULL) {
    return NULL;
  }
  return Py_BuildValue("(ii)", api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version);
}

static PyObject *integers(const int64_t *values, size_t count) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < count; ++i) {
    PyObject *number = PyLong_FromLongLong(values[i]);
    int failed = number == NULL || PyList_Append(list, number) < 0;
    Py_DecRef(number);
    if (failed) {
      Py_DecRef(list);
      return NULL;
    }
  }
  return list;
}

static PyObject *named_value(const PJRT_NamedValue *value) {
  switch (value->type) {
    case PJRT_NamedValue_kString:
      return text_from(value->string_value, value->value_size);
    case PJRT_NamedValue_kInt64:
      return PyLong_FromLongLong(value->int64_value);
    case PJRT_NamedValue_kInt64List:
      return integers(value->int64_array_value, value->value_size);
    case PJRT_NamedValue_kFloat:
      return PyFloat_FromDouble(value->float_value);
    case PJRT_NamedValue_kBool:
      return PyBool_FromLong(value->bool_value);
  }
  Py_IncRef(Py_None);  // a kind of value newer than the header
  return Py_None;
}

PyObject *pjrt_attributes(PyObject *module, PyObject *capsule) {
  const PJRT_Api *api = api_from_capsule(module, capsule);
  if (api == NULL) {
    return NULL;
  }
  PyObject *result = PyDict_New();
  if (result == NULL || api->struct_size < PJRT_STRUCT_SIZE(PJRT_Api, PJRT_Plugin_Attributes)) {
    return result;
  }
  PJRT_Plugin_Attributes_Args args = {.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
  if (raise_pjrt_error(module, api, api->PJRT_Plugin_Attributes(&args), "cannot read the plugin's attributes") < 0) {
    goto fail;
  }
  for (size_t i = 0; i < args.num_attributes; ++i) {
    const PJRT_NamedValue *attribute = &args.attributes[i];
    PyObject *name = text_from(attribute->name, attribute->name_size);
    PyObject *value = name == NULL ? NULL : named_value(attribute);
    int failed = value == NULL || PyDict_SetItem(result, name, value) < 0;
    Py_DecRef(name);
    Py_DecRef(value);
    if (failed) {
      goto fail;
    }
  }
  return result;
fail:
  Py_DecRef(result);
  return NULL;
}

PyObject *pjrt_extensions(PyObject *module, PyObject *capsule) {
  const PJRT_Api *api = api_from_capsule(module, capsule);
  PyObject *result = api == NULL ? NULL : PyList_New(0);
  if (result == NULL) {
    return NULL;
  }
  for (const PJRT_Extension_Base *it = api->extension_start; it != NULL; it = it->next) {
    PyObject *entry = Py_BuildValue("(in)", (int)it->type, (Py_ssize_t)it->struct_size);
    int failed = entry == NULL || PyList_Append(result, entry) < 0;
    Py_DecRef(entry);
    if (failed) {
      Py_DecRef(result);
      return NULL;
    }
  }
  return result;
}
