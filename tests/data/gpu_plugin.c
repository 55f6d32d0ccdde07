// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// A PJRT plugin that takes custom calls for GPUs and keeps the last one. Compiled with
//   -DEXTENSION_SIZE=32, 33 or 40: the versions of the extension that there are, or may be;
//   -DHANDLES_TRAITS=0 or 1: what it says in the member that came with 33.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt_gpu_extension.h"

#define EXPORT __attribute__((visibility("default")))

struct PJRT_Error {
  char message[200];
};

// The struct of the last call, as far as its own size covers it; and its name, which the caller owns.
EXPORT GpuCustomCallArgs last_call;
EXPORT char last_name[100];

static PJRT_Error *custom_call(GpuCustomCallArgs *args) {
  if (args->function_name_size >= sizeof(last_name)) {
    PJRT_Error *error = calloc(1, sizeof(*error));
    snprintf(error->message, sizeof(error->message), "a name of %zu characters", args->function_name_size);
    return error;
  }
  memset(&last_call, 0, sizeof(last_call));
  memcpy(&last_call, args, args->struct_size < sizeof(last_call) ? args->struct_size : sizeof(last_call));
  memset(last_name, 0, sizeof(last_name));
  memcpy(last_name, args->function_name, args->function_name_size);
  return NULL;
}

static void error_message(PJRT_Error_Message_Args *args) {
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
}

static void error_destroy(PJRT_Error_Destroy_Args *args) {
  free(args->error);
}

EXPORT const PJRT_Api *GetPjrtApi(void) {
  static GpuExtension gpu = {
      .base = {.struct_size = EXTENSION_SIZE, .type = PJRT_Extension_Type_Gpu_Custom_Call},
      .custom_call = custom_call,
      .handles_traits = HANDLES_TRAITS,
  };
  static PJRT_Api api = {
      .struct_size = PJRT_Api_STRUCT_SIZE,
      .extension_start = &gpu.base,
      .PJRT_Error_Message = error_message,
      .PJRT_Error_Destroy = error_destroy,
  };
  return &api;
}
