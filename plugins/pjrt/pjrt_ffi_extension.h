// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// The FFI extension of the PJRT C API, as far as it is used here.
//
// Layout of xla/pjrt/c/pjrt_c_api_ffi_extension.h, extension type 5, 48 bytes in every plugin since PJRT 0.81. That
// header is published in no wheel, so its ABI is declared here. `type_register` changed its arguments at an unchanged
// size of this struct, so it must not be called without knowing the plugin; its slot only keeps the layout.
#ifndef PJRTWHEEL_PJRT_FFI_EXTENSION_H_
#define PJRTWHEEL_PJRT_FFI_EXTENSION_H_

#include "pjrt_c_api.h"

// 52 bytes up to and including `traits`. Unlike the other argument structs it has no `extension_start`.
typedef struct {
  size_t struct_size;
  const char *target_name;
  size_t target_name_size;
  void *handler;  // XLA_FFI_Handler *, run as the execute stage
  const char *platform_name;
  size_t platform_name_size;
  int traits;
} FfiRegisterHandlerArgs;

typedef struct {
  PJRT_Extension_Base base;
  void *type_register;
  void *user_data_add;
  PJRT_Error *(*register_handler)(FfiRegisterHandlerArgs *args);
} FfiExtension;

#endif  // PJRTWHEEL_PJRT_FFI_EXTENSION_H_
