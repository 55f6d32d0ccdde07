// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Let a plugin take XLA FFI handlers of a newer minor version than its own.
//
// The minor versions of XLA's FFI only add to its table, and a handler looks at the table's size before it uses an
// addition. XLA still passes over a handler that states a newer minor version than its own, without an error. For such
// a handler a function of this file is registered in its place: it passes every call on, and where XLA asks for the
// version, states the plugin's. XLA gives a handler nothing by which one function could tell its calls apart, so there
// is a function for each of a fixed number of handlers.
#include <stdatomic.h>

#include "module.h"

#define FORWARDERS 1024

// An element is set once, before its function is handed out; a handler that is registered again has its function
// already.
static _Atomic(XLA_FFI_Handler *) forwarded[FORWARDERS];

static XLA_FFI_Metadata *find_metadata(XLA_FFI_CallFrame *frame) {
  for (XLA_FFI_InternalExtension *it = frame->extension_start; it != NULL; it = it->next) {
    if (it->type == XLA_FFI_Extension_Metadata) {
      return ((XLA_FFI_Metadata_Extension *)it)->metadata;
    }
  }
  return NULL;
}

static XLA_FFI_Error *forward(XLA_FFI_Handler *handler, XLA_FFI_CallFrame *frame) {
  XLA_FFI_Error *error = handler(frame);
  XLA_FFI_Metadata *metadata = error == NULL ? find_metadata(frame) : NULL;
  if (metadata != NULL && metadata->api_version.minor_version > frame->api->api_version.minor_version) {
    metadata->api_version.minor_version = frame->api->api_version.minor_version;
  }
  return error;
}

// The functions are numbered in octal, 0000 to 1777, because a digit can be put behind a token.
#define EACH_8(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define EACH_64(M, n) \
  EACH_8(M, n##0)     \
  EACH_8(M, n##1) EACH_8(M, n##2) EACH_8(M, n##3) EACH_8(M, n##4) EACH_8(M, n##5) EACH_8(M, n##6) EACH_8(M, n##7)
#define EACH_512(M, n) \
  EACH_64(M, n##0)     \
  EACH_64(M, n##1) EACH_64(M, n##2) EACH_64(M, n##3) EACH_64(M, n##4) EACH_64(M, n##5) EACH_64(M, n##6) EACH_64(M, n##7)

#define DEFINE(n)                                               \
  static XLA_FFI_Error *forward_##n(XLA_FFI_CallFrame *frame) { \
    return forward(forwarded[0##n], frame);                     \
  }
EACH_512(DEFINE, 0)
EACH_512(DEFINE, 1)

#define NAME(n) forward_##n,
static XLA_FFI_Handler *const forwarders[FORWARDERS] = {EACH_512(NAME, 0) EACH_512(NAME, 1)};

// Returns the minor version that a handler states, as XLA asks for it; -1 if it states none.
static int minor_version_of(const XLA_FFI_Api *ffi, XLA_FFI_Handler *handler) {
  XLA_FFI_Metadata metadata = {.struct_size = XLA_FFI_Metadata_STRUCT_SIZE,
                               .api_version = {.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE, .minor_version = -1}};
  XLA_FFI_Metadata_Extension extension = {
      .extension_base = {.struct_size = XLA_FFI_Metadata_Extension_STRUCT_SIZE, .type = XLA_FFI_Extension_Metadata},
      .metadata = &metadata};
  XLA_FFI_CallFrame frame = {.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
                             .extension_start = &extension.extension_base,
                             .api = ffi,
                             .stage = XLA_FFI_ExecutionStage_EXECUTE};
  XLA_FFI_Error *error = handler(&frame);
  if (error != NULL) {
    XLA_FFI_Error_Destroy_Args destroy = {.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, .error = error};
    ffi->XLA_FFI_Error_Destroy(&destroy);
    return -1;
  }
  return metadata.api_version.minor_version;
}

XLA_FFI_Handler *accepted_handler(const XLA_FFI_Api *ffi, XLA_FFI_Handler *handler) {
  if (minor_version_of(ffi, handler) <= ffi->api_version.minor_version) {
    return handler;
  }
  for (int i = 0; i < FORWARDERS; i++) {
    XLA_FFI_Handler *found = NULL;
    if (atomic_compare_exchange_strong(&forwarded[i], &found, handler) || found == handler) {
      return forwarders[i];
    }
  }
  PyErr_Format(PyExc_NotImplementedError, "no more than %d XLA FFI handlers can be newer than the PJRT plugin",
               FORWARDERS);
  return NULL;
}
