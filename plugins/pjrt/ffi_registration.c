// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Put XLA FFI handlers and types into the registry of a plugin.
//
// The PJRT extension takes one handler per target and runs it as the execute stage. Targets with more stages, and
// types of their state, go through the plugin's own XLA_FFI_Api, which XLA hands to each handler it calls: a handler of
// ours is registered once, XLA asks it for its metadata at once, and it notes the table it was called with.
#include <string.h>

#include "module.h"
#include "pjrt_ffi_extension.h"

// XLA passes a handler nothing of ours, so the table it was called with can only leave it through a variable. XLA asks
// for metadata on the thread that registers, so each thread has its own: one never reads what another is to have.
static _Thread_local const XLA_FFI_Api *noted_api;

static XLA_FFI_Error *note_api(XLA_FFI_CallFrame *frame) {
  noted_api = frame->api;
  for (XLA_FFI_InternalExtension *it = frame->extension_start; it != NULL; it = it->next) {
    if (it->type == XLA_FFI_Extension_Metadata) {
      XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)it)->metadata;
      metadata->api_version.major_version = 0;
      metadata->api_version.minor_version = 1;
    }
  }
  return NULL;
}

static XLA_FFI_ByteSpan span(const char *text) {
  return (XLA_FFI_ByteSpan){text, strlen(text)};
}

int register_execute_handler(PyObject *module, const PJRT_Api *api, const char *name, const char *platform,
                             XLA_FFI_Handler *handler, int traits) {
  const FfiExtension *ffi = (const FfiExtension *)find_extension(api, PJRT_Extension_Type_FFI, sizeof(FfiExtension));
  if (ffi == NULL || ffi->register_handler == NULL) {
    PyErr_SetString(PyExc_NotImplementedError, "this PJRT plugin takes no XLA FFI handlers (no FFI extension)");
    return -1;
  }
  FfiRegisterHandlerArgs args = {
      .struct_size = PJRT_STRUCT_SIZE(FfiRegisterHandlerArgs, traits),
      .target_name = name,
      .target_name_size = strlen(name),
      .handler = (void *)handler,
      .platform_name = platform,
      .platform_name_size = strlen(platform),
      .traits = traits,
  };
  return raise_pjrt_error(module, api, ffi->register_handler(&args), "cannot register an XLA FFI handler");
}

// Returns the plugin's XLA FFI table, or NULL with an exception set.
static const XLA_FFI_Api *ffi_api_of(PyObject *module, const PJRT_Api *api, const char *platform) {
  noted_api = NULL;
  if (register_execute_handler(module, api, "jaxlib_pjrt_note_api", platform, note_api, 0) < 0) {
    return NULL;
  }
  if (noted_api == NULL) {
    PyErr_SetString(PyExc_NotImplementedError, "this PJRT plugin does not show its XLA FFI table to handlers");
  }
  return noted_api;
}

// Version 0.4 is the first with the fifth stage, `record`; a plugin on the other side of it would misread a bundle.
#define FIRST_MINOR_WITH_BUNDLE (FFI_HAS_RECORD ? 4 : 3)

static int check_ffi_version(const XLA_FFI_Api *ffi, const char *what) {
  const XLA_FFI_Api_Version *found = &ffi->api_version;
  if (found->major_version == XLA_FFI_API_MAJOR && found->minor_version >= FIRST_MINOR_WITH_BUNDLE &&
      (FFI_HAS_RECORD || found->minor_version < 4)) {
    return 0;
  }
  PyErr_Format(PyExc_NotImplementedError, "%s need XLA FFI %d.%d or newer; this PJRT plugin has %d.%d", what,
               XLA_FFI_API_MAJOR, FIRST_MINOR_WITH_BUNDLE, found->major_version, found->minor_version);
  return -1;
}

static int raise_ffi_error(PyObject *module, const XLA_FFI_Api *ffi, XLA_FFI_Error *error, const char *doing) {
  if (error == NULL) {
    return 0;
  }
  XLA_FFI_Error_GetDetails_Args details = {.struct_size = XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE, .error = error};
  ffi->XLA_FFI_Error_GetDetails(&details);
  ModuleState *state = PyModule_GetState(module);
  PyErr_Format(state->error, "%s: %s", doing, details.message != NULL ? details.message : "no reason given");
  XLA_FFI_Error_Destroy_Args destroy = {.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, .error = error};
  ffi->XLA_FFI_Error_Destroy(&destroy);
  return -1;
}

// Capsules of typed handlers have no name, those of jaxlib's own have one: read with the name they carry.
void *pointer_of(PyObject *capsule) {
  const char *name = PyCapsule_GetName(capsule);
  return name == NULL && PyErr_Occurred() != NULL ? NULL : PyCapsule_GetPointer(capsule, name);
}

PyObject *pjrt_ffi_api_version(PyObject *module, PyObject *args) {
  PyObject *capsule = NULL;
  const char *platform = NULL;
  if (!PyArg_ParseTuple(args, "Os", &capsule, &platform)) {
    return NULL;
  }
  const PJRT_Api *api = api_from_capsule(module, capsule);
  const XLA_FFI_Api *ffi = api == NULL ? NULL : ffi_api_of(module, api, platform);
  if (ffi == NULL) {
    return NULL;
  }
  return Py_BuildValue("(ii)", ffi->api_version.major_version, ffi->api_version.minor_version);
}

PyObject *pjrt_register_ffi_handler(PyObject *module, PyObject *args) {
  PyObject *capsule = NULL, *handler = NULL;
  const char *name = NULL, *platform = NULL;
  int traits = 0;
  if (!PyArg_ParseTuple(args, "OsOsi", &capsule, &name, &handler, &platform, &traits)) {
    return NULL;
  }
  const PJRT_Api *api = api_from_capsule(module, capsule);
  void *function = api == NULL ? NULL : pointer_of(handler);
  const XLA_FFI_Api *ffi = function == NULL ? NULL : ffi_api_of(module, api, platform);
  XLA_FFI_Handler *accepted = ffi == NULL ? NULL : accepted_handler(ffi, (XLA_FFI_Handler *)function);
  if (accepted == NULL || register_execute_handler(module, api, name, platform, accepted, traits) < 0) {
    return NULL;
  }
  Py_IncRef(Py_None);
  return Py_None;
}

int read_stage(PyObject *stages, const char *stage, XLA_FFI_Handler **handler) {
  PyObject *key = PyUnicode_FromStringAndSize(stage, (Py_ssize_t)strlen(stage));
  if (key == NULL) {
    return -1;
  }
  // A reference of our own: the dictionary is the caller's, who may change it on another thread.
  const int present = PyDict_Contains(stages, key);
  PyObject *capsule = present == 1 ? PyObject_GetItem(stages, key) : NULL;
  Py_DecRef(key);
  if (capsule == NULL) {
    return present == 0 ? 0 : -1;
  }
  *handler = (XLA_FFI_Handler *)pointer_of(capsule);
  Py_DecRef(capsule);
  return *handler == NULL ? -1 : 0;
}

// Replaces the handlers of all stages by what the plugin takes. Returns 0, or -1 with an exception set.
static int accept_stages(const XLA_FFI_Api *ffi, XLA_FFI_Handler_Bundle *bundle) {
  XLA_FFI_Handler **stages[] = {
      &bundle->instantiate, &bundle->prepare, &bundle->initialize, &bundle->execute,
#if FFI_HAS_RECORD
      &bundle->record,
#endif
  };
  for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); ++i) {
    if (*stages[i] != NULL && (*stages[i] = accepted_handler(ffi, *stages[i])) == NULL) {
      return -1;
    }
  }
  return 0;
}

PyObject *pjrt_register_ffi_stages(PyObject *module, PyObject *args) {
  PyObject *capsule = NULL, *stages = NULL;
  const char *name = NULL, *platform = NULL;
  int traits = 0;
  if (!PyArg_ParseTuple(args, "OsO!si", &capsule, &name, &PyDict_Type, &stages, &platform, &traits)) {
    return NULL;
  }
  XLA_FFI_Handler_Register_Args request = {
      .struct_size = XLA_FFI_Handler_Register_Args_STRUCT_SIZE,
      .name = span(name),
      .platform = span(platform),
      .traits = (XLA_FFI_Handler_Traits)traits,
  };
  XLA_FFI_Handler_Bundle *bundle = &request.bundle;
  if (read_stage(stages, "instantiate", &bundle->instantiate) < 0 ||
      read_stage(stages, "prepare", &bundle->prepare) < 0 ||
      read_stage(stages, "initialize", &bundle->initialize) < 0 ||
      read_stage(stages, "execute", &bundle->execute) < 0) {
    return NULL;
  }
#if FFI_HAS_RECORD
  if (read_stage(stages, "record", &bundle->record) < 0) {
    return NULL;
  }
#endif
  const PJRT_Api *api = api_from_capsule(module, capsule);
  const XLA_FFI_Api *ffi = api == NULL ? NULL : ffi_api_of(module, api, platform);
  if (ffi == NULL || check_ffi_version(ffi, "FFI targets with several stages") < 0 || accept_stages(ffi, bundle) < 0 ||
      raise_ffi_error(module, ffi, ffi->XLA_FFI_Handler_Register(&request), "cannot register an XLA FFI target") < 0) {
    return NULL;
  }
  Py_IncRef(Py_None);
  return Py_None;
}

PyObject *pjrt_register_ffi_type(PyObject *module, PyObject *args) {
  PyObject *capsule = NULL, *type_id = NULL, *type_info = NULL;
  const char *name = NULL, *platform = NULL;
  if (!PyArg_ParseTuple(args, "OsOOs", &capsule, &name, &type_id, &type_info, &platform)) {
    return NULL;
  }
  XLA_FFI_TypeId *id = pointer_of(type_id);
  if (id == NULL) {
    return NULL;
  }
  XLA_FFI_TypeInfo *info = type_info == Py_None ? NULL : pointer_of(type_info);
  if (info == NULL && type_info != Py_None) {
    return NULL;
  }
  const PJRT_Api *api = api_from_capsule(module, capsule);
  const XLA_FFI_Api *ffi = api == NULL ? NULL : ffi_api_of(module, api, platform);
  if (ffi == NULL || check_ffi_version(ffi, "FFI types") < 0) {
    return NULL;
  }
  // The header's own STRUCT_SIZE stops before its last field `type_info`.
  XLA_FFI_Type_Register_Args request = {
      .struct_size = sizeof(request), .name = span(name), .type_id = id, .type_info = info};
  if (raise_ffi_error(module, ffi, ffi->XLA_FFI_Type_Register(&request), "cannot register an XLA FFI type") < 0) {
    return NULL;
  }
  return PyLong_FromLongLong(id->type_id);
}
