// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// The XLA FFI handlers behind `jax.pure_callback`, `io_callback` and `debug.print` on a CPU plugin.
//
// jaxlib has such handlers, but in its own copy of XLA, where a plugin does not see them, and it hands out only their
// execute stage, which cannot run without the others. Ours do the same work statelessly: jaxlib attaches the Python
// callables of an executable to each of its runs as user data, and each custom call carries an index into them.
#include <stdatomic.h>
#include <stdlib.h>

#include "arrays.h"
#include "module.h"

// What jaxlib attaches: struct FfiLoadedHostCallbacks of jaxlib/ffi.h. The callables are borrowed from the executable.
typedef struct {
  void **callbacks;
  uint32_t num_callbacks;
} LoadedHostCallbacks;

// What the handlers need. All references are owned.
typedef struct {
  XLA_FFI_TypeId type_id;  // of LoadedHostCallbacks
  NumPy numpy;
  PyObject *describe;  // exception -> text
  XLA_FFI_Handler *probed;
} Binding;

// XLA calls a handler with nothing of ours, so it is kept once per process: published complete, before the first
// handler is registered, and never changed after.
static _Atomic(Binding *) published;

static XLA_FFI_Error *error_with(const XLA_FFI_Api *api, const char *message) {
  XLA_FFI_Error_Create_Args args = {
      .struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE,
      .message = message,
      .errc = XLA_FFI_Error_Code_INTERNAL,
  };
  return api->XLA_FFI_Error_Create(&args);
}

// Turns the current exception into an error with the text that `describe` gives it, and clears it.
static XLA_FFI_Error *error_from_exception(const Binding *binding, const XLA_FFI_Api *api) {
  PyObject *exception = PyErr_GetRaisedException();
  PyObject *text = PyObject_CallFunctionObjArgs(binding->describe, exception, NULL);
  const char *message = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
  XLA_FFI_Error *error = error_with(api, message != NULL ? message : "CpuCallback error calling callback");
  PyErr_Clear();
  Py_DecRef(text);
  Py_DecRef(exception);
  return error;
}

// Answers XLA's question for metadata. Returns whether the frame asked.
static int answered_metadata(XLA_FFI_CallFrame *frame) {
  for (XLA_FFI_InternalExtension *it = frame->extension_start; it != NULL; it = it->next) {
    if (it->type == XLA_FFI_Extension_Metadata) {
      // 0.1 is the oldest version XLA takes, and all that is used here was in it.
      XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)it)->metadata;
      metadata->api_version.major_version = 0;
      metadata->api_version.minor_version = 1;
      metadata->traits = 0;
      return 1;
    }
  }
  return 0;
}

static int is_index(const XLA_FFI_ByteSpan *name) {
  return name->len == 5 && __builtin_memcmp(name->ptr, "index", 5) == 0;
}

// Finds the callable of this call. Returns a borrowed reference, or NULL with `*error` set.
static PyObject *find_callable(const Binding *binding, XLA_FFI_CallFrame *frame, XLA_FFI_Error **error) {
  XLA_FFI_TypeId type_id = binding->type_id;
  XLA_FFI_InvokeContext_Get_Args get = {
      .struct_size = XLA_FFI_InvokeContext_Get_Args_STRUCT_SIZE,
      .ctx = frame->ctx,
      .type_id = &type_id,
  };
  *error = frame->api->XLA_FFI_InvokeContext_Get(&get);
  if (*error != NULL) {
    return NULL;
  }
  const LoadedHostCallbacks *loaded = get.data;
  const XLA_FFI_Attrs *attrs = &frame->attrs;
  for (int64_t i = 0; i < attrs->size; ++i) {
    const XLA_FFI_Scalar *scalar = attrs->attrs[i];
    if (attrs->types[i] == XLA_FFI_AttrType_SCALAR && is_index(attrs->names[i]) &&
        scalar->dtype == XLA_FFI_DataType_U64) {
      uint64_t index = *(const uint64_t *)scalar->value;
      if (index < loaded->num_callbacks) {
        return loaded->callbacks[index];
      }
    }
  }
  *error = error_with(frame->api, "CPU callback without a valid attribute `index`");
  return NULL;
}

static PyObject *arguments(const NumPy *numpy, const XLA_FFI_Args *args) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)args->size);
  for (int64_t i = 0; tuple != NULL && i < args->size; ++i) {
    const XLA_FFI_Buffer *buffer = args->args[i];
    PyObject *argument = NULL;
    if (args->types[i] != XLA_FFI_ArgType_BUFFER) {
      PyErr_Format(PyExc_NotImplementedError,
                   "Only array and token arguments to Python callbacks are supported, got %d", (int)args->types[i]);
    } else if (buffer->dtype == XLA_FFI_DataType_TOKEN) {
      Py_IncRef(Py_None);
      argument = Py_None;
    } else {
      argument = array_from_buffer(numpy, buffer);
    }
    if (argument == NULL) {
      Py_DecRef(tuple);
      return NULL;
    }
    PyTuple_SetItem(tuple, (Py_ssize_t)i, argument);
  }
  return tuple;
}

// Copies the callback's results out. Returns 0, or -1 with an exception set.
static int results(const NumPy *numpy, PyObject *outputs, const XLA_FFI_Rets *rets) {
  const Py_ssize_t count = PyTuple_Size(outputs);
  if (count < 0) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "CPU callback expected a tuple result, got %S", outputs);
    return -1;
  }
  if (count != (Py_ssize_t)rets->size) {
    PyErr_Format(PyExc_ValueError, "CPU callback expected a tuple with %zd results, got %zd", (Py_ssize_t)rets->size,
                 count);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    const XLA_FFI_Buffer *buffer = rets->rets[i];
    PyObject *output = PyTuple_GetItem(outputs, i);
    if (rets->types[i] != XLA_FFI_RetType_BUFFER) {
      PyErr_Format(PyExc_NotImplementedError,
                   "Only array and token return values from Python callbacks are supported, got %d",
                   (int)rets->types[i]);
      return -1;
    }
    if (buffer->dtype == XLA_FFI_DataType_TOKEN) {
      if (output != Py_None) {
        PyErr_Format(PyExc_TypeError, "Token output from Python callback should be None, got %S", output);
        return -1;
      }
    } else if (array_to_buffer(numpy, output, i, buffer) < 0) {
      return -1;
    }
  }
  return 0;
}

static XLA_FFI_Error *call_python(XLA_FFI_CallFrame *frame) {
  if (answered_metadata(frame) || frame->stage != XLA_FFI_ExecutionStage_EXECUTE) {
    return NULL;
  }
  XLA_FFI_Error *error = NULL;
  const Binding *binding = published;
  PyObject *callable = find_callable(binding, frame, &error);
  if (callable == NULL) {
    return error;
  }
  if (!Py_IsInitialized()) {
    return error_with(frame->api, "CPU callback after the end of the Python interpreter");
  }
  // The limit of that check: the interpreter may end between it and the GIL, or while the callback has let the GIL go.
  // CPython then ends this thread within PyGILState_Ensure (3.12, 3.13) or stops it for good (3.14). That takes a
  // program nobody waits for when the process exits, on a daemon thread or of an asynchronous client; JAX itself waits
  // for its effects in an atexit hook. A hook of ours that turned callbacks away could only be registered after that
  // one, so it would run before it, and fail the very callbacks that JAX waits for.
  const PyGILState_STATE gil = PyGILState_Ensure();
  Py_IncRef(callable);
  PyObject *args = arguments(&binding->numpy, &frame->args);
  PyObject *outputs = args == NULL ? NULL : PyObject_Call(callable, args, NULL);
  if (outputs == NULL || results(&binding->numpy, outputs, &frame->rets) < 0) {
    error = error_from_exception(binding, frame->api);
  }
  Py_DecRef(outputs);
  Py_DecRef(args);
  Py_DecRef(callable);
  PyGILState_Release(gil);
  return error;
}

// The id of LoadedHostCallbacks differs between builds of XLA. jaxlib's own handler knows it: it is run once with a
// table of functions that note the first id it asks its context for and fail everything.
typedef struct {
  int asked;
  XLA_FFI_TypeId type_id;
} Probe;

static const char refusal;  // its address stands for an error; nothing reads it

static XLA_FFI_Error *refuse(void) {
  return (XLA_FFI_Error *)&refusal;
}

static XLA_FFI_Error *probe_context(XLA_FFI_InvokeContext_Get_Args *args) {
  Probe *probe = (Probe *)args->ctx;
  if (!probe->asked) {
    probe->asked = 1;
    probe->type_id = *args->type_id;
  }
  return refuse();
}

static XLA_FFI_Error *probe_state(XLA_FFI_State_Get_Args *args) {
  (void)args;
  return refuse();
}

static XLA_FFI_Error *probe_run_id(XLA_FFI_RunId_Get_Args *args) {
  (void)args;
  return refuse();
}

static XLA_FFI_Error *probe_error(XLA_FFI_Error_Create_Args *args) {
  (void)args;
  return refuse();
}

static void probe_details(XLA_FFI_Error_GetDetails_Args *args) {
  args->message = "probe";
#if FFI_HAS_RECORD
  args->errc = XLA_FFI_Error_Code_INTERNAL;
#endif
}

static void probe_destroy(XLA_FFI_Error_Destroy_Args *args) {
  (void)args;
}

static Probe ask_type_id(XLA_FFI_Handler *handler) {
  const XLA_FFI_Api table = {
      .struct_size = XLA_FFI_Api_STRUCT_SIZE,
      .api_version = {.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE,
                      .major_version = XLA_FFI_API_MAJOR,
                      .minor_version = XLA_FFI_API_MINOR},
      .XLA_FFI_Error_Create = probe_error,
      .XLA_FFI_Error_GetDetails = probe_details,
      .XLA_FFI_Error_Destroy = probe_destroy,
      .XLA_FFI_InvokeContext_Get = probe_context,
      .XLA_FFI_State_Get = probe_state,
      .XLA_FFI_RunId_Get = probe_run_id,
  };
  Probe probe = {0};
  uint64_t index = 0;
  XLA_FFI_Scalar scalar = {.dtype = XLA_FFI_DataType_U64, .value = &index};
  XLA_FFI_ByteSpan name = {.ptr = "index", .len = 5};
  XLA_FFI_AttrType type = XLA_FFI_AttrType_SCALAR;
  XLA_FFI_ByteSpan *names[] = {&name};
  void *values[] = {&scalar};
  XLA_FFI_CallFrame frame = {
      .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
      .api = &table,
      .ctx = (XLA_FFI_InvokeContext *)&probe,
      .stage = XLA_FFI_ExecutionStage_EXECUTE,
      .args = {.struct_size = XLA_FFI_Args_STRUCT_SIZE},
      .rets = {.struct_size = XLA_FFI_Rets_STRUCT_SIZE},
      .attrs = {.struct_size = XLA_FFI_Attrs_STRUCT_SIZE, .size = 1, .types = &type, .names = names, .attrs = values},
  };
  handler(&frame);
  return probe;
}

static void unbind(Binding *binding) {
  numpy_clear(&binding->numpy);
  Py_DecRef(binding->describe);
  free(binding);
}

// Returns a new binding, or NULL with an exception set.
static Binding *bind(PyObject *module, XLA_FFI_Handler *jaxlib_handler, PyObject *dtypes, PyObject *describe) {
  const Probe probe = ask_type_id(jaxlib_handler);
  if (!probe.asked) {
    ModuleState *state = PyModule_GetState(module);
    PyErr_SetString(state->error, "jaxlib's callback handler asked for no user data: host callbacks cannot work");
    return NULL;
  }
  Binding *binding = calloc(1, sizeof(Binding));
  if (binding == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (numpy_init(&binding->numpy, dtypes) < 0) {
    free(binding);
    return NULL;
  }
  binding->type_id = probe.type_id;
  binding->probed = jaxlib_handler;
  Py_IncRef(describe);
  binding->describe = describe;
  return binding;
}

// Returns the binding of this process, made of these objects by the first call; NULL with an exception set if it was
// made of others.
static const Binding *bind_once(PyObject *module, XLA_FFI_Handler *jaxlib_handler, PyObject *dtypes,
                                PyObject *describe) {
  Binding *first = published;
  if (first == NULL) {
    Binding *made = bind(module, jaxlib_handler, dtypes, describe);
    if (made == NULL || atomic_compare_exchange_strong(&published, &first, made)) {
      return made;
    }
    unbind(made);  // another thread was faster, and `first` is its binding
  }
  const int same_types = PyObject_RichCompareBool(dtypes, first->numpy.dtypes, Py_EQ);
  if (same_types == 1 && jaxlib_handler == first->probed && describe == first->describe) {
    return first;
  }
  if (same_types >= 0) {
    PyErr_SetString(PyExc_ValueError, "host callbacks are in use already, with another probe, dtypes or describe");
  }
  return NULL;
}

PyObject *pjrt_register_host_callbacks(PyObject *module, PyObject *args) {
  PyObject *capsule = NULL, *names = NULL, *jaxlib_handler = NULL, *dtypes = NULL, *describe = NULL;
  const char *platform = NULL;
  if (!PyArg_ParseTuple(args, "OO!sOO!O", &capsule, &PyTuple_Type, &names, &platform, &jaxlib_handler, &PyDict_Type,
                        &dtypes, &describe)) {
    return NULL;
  }
  const PJRT_Api *api = api_from_capsule(module, capsule);
  void *handler = api == NULL ? NULL : pointer_of(jaxlib_handler);
  const Binding *binding = handler == NULL ? NULL : bind_once(module, (XLA_FFI_Handler *)handler, dtypes, describe);
  if (binding == NULL) {
    return NULL;
  }
  const Py_ssize_t count = PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
    if (name == NULL || register_execute_handler(module, api, name, platform, call_python, 0) < 0) {
      return NULL;
    }
  }
  return PyLong_FromLongLong(binding->type_id.type_id);
}
