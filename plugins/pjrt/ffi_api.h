// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA FFI by its newer names, whatever version the release has.
//
// Up to version 0.3, that of JAX 0.11.0, some things had other names, an error had no code and a bundle no `record`.
// A table of functions has the same layout, so nothing else differs.
#pragma once

#include "xla/ffi/api/c_api.h"

#define FFI_HAS_RECORD (XLA_FFI_API_MINOR >= 4)

#if !FFI_HAS_RECORD
typedef XLA_FFI_Extension_Base XLA_FFI_InternalExtension;
typedef XLA_FFI_ExecutionContext XLA_FFI_InvokeContext;
typedef XLA_FFI_ExecutionContext_Get_Args XLA_FFI_InvokeContext_Get_Args;
typedef XLA_FFI_Error_GetMessage_Args XLA_FFI_Error_GetDetails_Args;
#define XLA_FFI_InvokeContext_Get XLA_FFI_ExecutionContext_Get
#define XLA_FFI_InvokeContext_Get_Args_STRUCT_SIZE XLA_FFI_ExecutionContext_Get_Args_STRUCT_SIZE
#define XLA_FFI_Error_GetDetails XLA_FFI_Error_GetMessage
#define XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE XLA_FFI_Error_GetMessage_Args_STRUCT_SIZE
#endif
