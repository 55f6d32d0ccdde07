// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// An XLA FFI target in two stages, as a user of jax.ffi may write one: `instantiate` makes a counter, which lives as
// long as the executable, and each `execute` adds one and writes the count into an int32 result.
#include <stdlib.h>

#include "xla/ffi/api/c_api.h"

static void delete_counter(void *counter) {
  free(counter);
}

XLA_FFI_TypeId counter_type_id = {0};
XLA_FFI_TypeInfo counter_type_info = {.struct_size = XLA_FFI_TypeInfo_STRUCT_SIZE, .deleter = delete_counter};

static int asked_for_metadata(XLA_FFI_CallFrame *frame, XLA_FFI_TypeId state_type) {
  for (XLA_FFI_InternalExtension *it = frame->extension_start; it != NULL; it = it->next) {
    if (it->type == XLA_FFI_Extension_Metadata) {
      XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)it)->metadata;
      metadata->api_version.major_version = XLA_FFI_API_MAJOR;
      metadata->api_version.minor_version = XLA_FFI_API_MINOR;
      metadata->state_type_id = state_type;
      return 1;
    }
  }
  return 0;
}

XLA_FFI_Error *counter_instantiate(XLA_FFI_CallFrame *frame) {
  if (asked_for_metadata(frame, counter_type_id)) {
    return NULL;
  }
  XLA_FFI_State_Set_Args set = {
      .struct_size = XLA_FFI_State_Set_Args_STRUCT_SIZE,
      .ctx = frame->ctx,
      .stage = XLA_FFI_ExecutionStage_INSTANTIATE,
      .type_id = &counter_type_id,
      .state = calloc(1, sizeof(int)),
  };
  return frame->api->XLA_FFI_State_Set(&set);
}

XLA_FFI_Error *counter_execute(XLA_FFI_CallFrame *frame) {
  if (asked_for_metadata(frame, (XLA_FFI_TypeId){0})) {
    return NULL;
  }
  XLA_FFI_State_Get_Args get = {
      .struct_size = XLA_FFI_State_Get_Args_STRUCT_SIZE,
      .ctx = frame->ctx,
      .stage = XLA_FFI_ExecutionStage_INSTANTIATE,
      .type_id = &counter_type_id,
  };
  XLA_FFI_Error *error = frame->api->XLA_FFI_State_Get(&get);
  if (error == NULL) {
    const XLA_FFI_Buffer *result = frame->rets.rets[0];
    *(int *)result->data = ++*(int *)get.state;
  }
  return error;
}
