// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// The extension of the PJRT C API that takes custom calls for GPUs.
//
// Layout of xla/pjrt/c/pjrt_c_api_gpu_extension.h, extension type 0. That header is published in no wheel, so its ABI
// is declared here. Version 2 has 32 bytes; version 3 (JAX 0.11.2) adds traits to the arguments, and a flag to the
// extension by which a plugin says that it looks at them.
#ifndef PJRTWHEEL_PJRT_GPU_EXTENSION_H_
#define PJRTWHEEL_PJRT_GPU_EXTENSION_H_

#include <stdbool.h>

#include "pjrt_c_api.h"

// 64 bytes up to and including `handler_execute`, 68 with `traits`. It has no `extension_start`.
typedef struct {
  size_t struct_size;
  const char *function_name;
  size_t function_name_size;
  int api_version;  // 0: untyped, 1: XLA FFI
  void *handler_instantiate;
  void *handler_prepare;
  void *handler_initialize;
  void *handler_execute;
  uint32_t traits;
} GpuCustomCallArgs;

typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error *(*custom_call)(GpuCustomCallArgs *args);
  bool handles_traits;
} GpuExtension;

#endif  // PJRTWHEEL_PJRT_GPU_EXTENSION_H_
