// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Hand custom-call targets to a plugin for GPUs: typed and untyped ones, with all their stages in one call.
#include <string.h>

#include "module.h"
#include "pjrt_gpu_extension.h"

// Reads the stages of a target into the arguments. Returns 0, or -1 with an exception set.
static int read_stages(PyObject *stages, GpuCustomCallArgs *args) {
  const struct {
    const char *name;
    void **handler;
  } known[] = {
      {"instantiate", &args->handler_instantiate},
      {"prepare", &args->handler_prepare},
      {"initialize", &args->handler_initialize},
      {"execute", &args->handler_execute},
  };
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    XLA_FFI_Handler *handler = NULL;
    if (read_stage(stages, known[i].name, &handler) < 0) {
      return -1;
    }
    *known[i].handler = (void *)handler;
  }
  return 0;
}

// A plugin that knows no traits must not receive any: it would refuse the longer struct, or overlook them.
static int set_traits(const GpuExtension *gpu, GpuCustomCallArgs *args, unsigned traits) {
  const int known = gpu->base.struct_size >= PJRT_STRUCT_SIZE(GpuExtension, handles_traits) && gpu->handles_traits;
  if (known) {
    args->struct_size = PJRT_STRUCT_SIZE(GpuCustomCallArgs, traits);
    args->traits = traits;
  } else if (traits != 0) {
    PyErr_Format(PyExc_NotImplementedError, "this PJRT plugin takes no traits of custom calls, and %s has %u",
                 args->function_name, traits);
    return -1;
  }
  return 0;
}

PyObject *pjrt_register_gpu_target(PyObject *module, PyObject *args) {
  PyObject *capsule = NULL, *stages = NULL;
  const char *name = NULL;
  int api_version = 0;
  unsigned traits = 0;
  if (!PyArg_ParseTuple(args, "OsO!iI", &capsule, &name, &PyDict_Type, &stages, &api_version, &traits)) {
    return NULL;
  }
  const PJRT_Api *api = api_from_capsule(module, capsule);
  if (api == NULL) {
    return NULL;
  }
  const size_t size = PJRT_STRUCT_SIZE(GpuExtension, custom_call);
  const GpuExtension *gpu = (const GpuExtension *)find_extension(api, PJRT_Extension_Type_Gpu_Custom_Call, size);
  if (gpu == NULL || gpu->custom_call == NULL) {
    PyErr_SetString(PyExc_NotImplementedError, "this PJRT plugin takes no custom calls for GPUs");
    return NULL;
  }
  GpuCustomCallArgs request = {
      .struct_size = PJRT_STRUCT_SIZE(GpuCustomCallArgs, handler_execute),
      .function_name = name,
      .function_name_size = strlen(name),
      .api_version = api_version,
  };
  if (read_stages(stages, &request) < 0 || set_traits(gpu, &request, traits) < 0 ||
      raise_pjrt_error(module, api, gpu->custom_call(&request), "cannot register a custom call") < 0) {
    return NULL;
  }
  Py_IncRef(Py_None);
  return Py_None;
}
