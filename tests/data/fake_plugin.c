// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// A PJRT plugin without XLA: the few functions the extension calls, and a way to run the handlers it registers on
// frames made by hand. It starts in no time, so the extension can be run under a memory checker, and it can do what
// the real library never does: extensions of unknown kinds, frames of a newer XLA, refusals.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt_c_api.h"
#include "pjrt_ffi_extension.h"
#include "xla/ffi/api/c_api.h"

#define EXPORT __attribute__((visibility("default")))
#define USER_DATA_TYPE 4711
#define MAX_TARGETS 16

struct PJRT_Error {
  char message[200];
};
struct XLA_FFI_Error {
  char message[4000];
};

static PJRT_Error *pjrt_error(const char *message) {
  PJRT_Error *error = calloc(1, sizeof(*error));
  snprintf(error->message, sizeof(error->message), "%s", message);
  return error;
}

static void error_message(PJRT_Error_Message_Args *args) {
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
}

static void error_destroy(PJRT_Error_Destroy_Args *args) {
  free(args->error);
}

static bool refuses_attributes;

EXPORT void fake_refuse_attributes(void) {
  refuses_attributes = true;
}

static PJRT_Error *plugin_attributes(PJRT_Plugin_Attributes_Args *args) {
  if (refuses_attributes) {
    return pjrt_error("not today");
  }
  static const int64_t version[] = {1, 20, 0};
  static _Thread_local PJRT_NamedValue values[6];
  const char *names[] = {"text", "number", "list", "ratio", "flag", "newer"};
  for (int i = 0; i < 6; ++i) {
    values[i] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                  .name = names[i],
                                  .name_size = strlen(names[i]),
                                  .type = i < 5 ? (PJRT_NamedValue_Type)i : (PJRT_NamedValue_Type)99,
                                  .value_size = 1};
  }
  values[0].string_value = "fake";
  values[0].value_size = 4;
  values[1].int64_value = 2;
  values[2].int64_array_value = version;
  values[2].value_size = 3;
  values[3].float_value = 0.5f;
  values[4].bool_value = true;
  args->attributes = values;
  args->num_attributes = 6;
  return NULL;
}

// XLA's side of the FFI.

struct XLA_FFI_InvokeContext {
  void *user_data;
};

static XLA_FFI_Error *ffi_error_create(XLA_FFI_Error_Create_Args *args) {
  XLA_FFI_Error *error = calloc(1, sizeof(*error));
  snprintf(error->message, sizeof(error->message), "%s", args->message);
  return error;
}

static void ffi_error_details(XLA_FFI_Error_GetDetails_Args *args) {
  args->message = args->error->message[0] == '\0' ? NULL : args->error->message;
  args->errc = XLA_FFI_Error_Code_INTERNAL;
}

static void ffi_error_destroy(XLA_FFI_Error_Destroy_Args *args) {
  free(args->error);
}

static XLA_FFI_Error *ffi_error(const char *message) {
  XLA_FFI_Error_Create_Args args = {.message = message};
  return ffi_error_create(&args);
}

static XLA_FFI_Error *context_get(XLA_FFI_InvokeContext_Get_Args *args) {
  if (args->type_id->type_id != USER_DATA_TYPE || args->ctx->user_data == NULL) {
    return ffi_error("no user data of this type");
  }
  args->data = args->ctx->user_data;
  return NULL;
}

typedef struct {
  char name[100];
  XLA_FFI_Handler_Bundle bundle;
  unsigned traits;
} Target;

// As XLA's own registry: any thread may register, while others run what is there.
static pthread_mutex_t targets_lock = PTHREAD_MUTEX_INITIALIZER;
static Target targets[MAX_TARGETS];

static XLA_FFI_Error *handler_register(XLA_FFI_Handler_Register_Args *args);

static XLA_FFI_Error *type_register(XLA_FFI_Type_Register_Args *args) {
  if (args->name.len == 7 && memcmp(args->name.ptr, "refused", 7) == 0) {
    return ffi_error("this type is refused");
  }
  if (args->name.len == 4 && memcmp(args->name.ptr, "mute", 4) == 0) {
    return ffi_error("");
  }
  args->type_id->type_id = args->type_info == NULL ? 100 : 101;
  return NULL;
}

static XLA_FFI_Api ffi_api = {
    .struct_size = XLA_FFI_Api_STRUCT_SIZE,
    .api_version = {.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE, .major_version = 0, .minor_version = 4},
    .XLA_FFI_Error_Create = ffi_error_create,
    .XLA_FFI_Error_GetDetails = ffi_error_details,
    .XLA_FFI_Error_Destroy = ffi_error_destroy,
    .XLA_FFI_Handler_Register = handler_register,
    .XLA_FFI_Type_Register = type_register,
    .XLA_FFI_InvokeContext_Get = context_get,
};

EXPORT void fake_set_ffi_version(int minor) {
  ffi_api.api_version.minor_version = minor;
}

// Asks a handler for its metadata, behind an extension of a kind it cannot know.
static int metadata_version(XLA_FFI_Handler *handler) {
  XLA_FFI_Metadata metadata = {.struct_size = XLA_FFI_Metadata_STRUCT_SIZE,
                               .api_version = {.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE}};
  XLA_FFI_Metadata_Extension asking = {
      .extension_base = {.struct_size = XLA_FFI_Metadata_Extension_STRUCT_SIZE, .type = XLA_FFI_Extension_Metadata},
      .metadata = &metadata};
  XLA_FFI_InternalExtension unknown = {.struct_size = XLA_FFI_InternalExtension_STRUCT_SIZE,
                                       .type = (XLA_FFI_InternalExtension_Type)77,
                                       .next = &asking.extension_base};
  XLA_FFI_CallFrame frame = {
      .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE, .extension_start = &unknown, .api = &ffi_api};
  return handler(&frame) == NULL ? metadata.api_version.minor_version : -1;
}

// To be called with the lock held.
static Target *place_of(const char *name, size_t size) {
  for (int i = 0; i < MAX_TARGETS; ++i) {
    if (strlen(targets[i].name) == size && memcmp(targets[i].name, name, size) == 0) {
      return &targets[i];
    }
  }
  return NULL;
}

static void put_target(const char *name, size_t size, XLA_FFI_Handler_Bundle bundle, unsigned traits) {
  pthread_mutex_lock(&targets_lock);
  Target *target = place_of(name, size);
  target = target != NULL ? target : place_of("", 0);
  snprintf(target->name, sizeof(target->name), "%.*s", (int)size, name);
  target->bundle = bundle;
  target->traits = traits;
  pthread_mutex_unlock(&targets_lock);
}

// Copies a target. Returns whether there is one of this name.
static bool find_target(const char *name, Target *copy) {
  pthread_mutex_lock(&targets_lock);
  const Target *target = place_of(name, strlen(name));
  if (target != NULL) {
    *copy = *target;
  }
  pthread_mutex_unlock(&targets_lock);
  return target != NULL;
}

static XLA_FFI_Error *handler_register(XLA_FFI_Handler_Register_Args *args) {
  if (args->bundle.execute == NULL) {
    return ffi_error("execute stage is required");
  }
  put_target(args->name.ptr, args->name.len, args->bundle, args->traits);
  return NULL;
}

static PJRT_Error *register_handler(FfiRegisterHandlerArgs *args) {
  XLA_FFI_Handler *handler = (XLA_FFI_Handler *)args->handler;
  if (args->target_name_size == 7 && memcmp(args->target_name, "refused", 7) == 0) {
    return pjrt_error("this target is refused");
  }
  if (args->target_name_size == 7 && memcmp(args->target_name, "garbled", 7) == 0) {
    return pjrt_error("no \xff text");
  }
  int version = metadata_version(handler);
  if (version < 1) {
    return pjrt_error("handler of an unsupported version");
  }
  if (version > ffi_api.api_version.minor_version) {
    return NULL;  // as XLA does: the target is not there, and there is no error
  }
  put_target(args->target_name, args->target_name_size, (XLA_FFI_Handler_Bundle){.execute = handler},
             (unsigned)args->traits);
  return NULL;
}

// What the tests call through ctypes.

// Returns which stages a target has, as bits in their order, and its traits above them; -1 if there is none.
EXPORT int fake_target(const char *name) {
  Target target;
  if (!find_target(name, &target)) {
    return -1;
  }
  const XLA_FFI_Handler_Bundle *it = &target.bundle;
  return (it->instantiate != NULL) | (it->prepare != NULL) << 1 | (it->initialize != NULL) << 2 |
         (it->execute != NULL) << 3 | (it->record != NULL) << 4 | (int)target.traits << 8;
}

// Runs a target's execute stage. `message` (4000 bytes) gets the error, or nothing.
EXPORT void fake_call(const char *name, void *callable, uint64_t index, int64_t arg_count, XLA_FFI_Buffer *args,
                      int64_t ret_count, XLA_FFI_Buffer *rets, char *message) {
  struct {
    void **callbacks;
    uint32_t count;
  } loaded = {&callable, 1};
  XLA_FFI_InvokeContext context = {callable == NULL ? NULL : (void *)&loaded};
  XLA_FFI_ArgType arg_types[8];
  XLA_FFI_RetType ret_types[8];
  void *arg_values[8], *ret_values[8];
  for (int i = 0; i < 8; ++i) {
    arg_types[i] = XLA_FFI_ArgType_BUFFER;
    arg_values[i] = &args[i];
    ret_types[i] = XLA_FFI_RetType_BUFFER;
    ret_values[i] = &rets[i];
  }
  int32_t other = 5;
  XLA_FFI_Scalar scalars[] = {{XLA_FFI_DataType_S32, &other}, {XLA_FFI_DataType_U64, &index}};
  XLA_FFI_ByteSpan spans[] = {{"alpha", 5}, {"index", 5}};
  XLA_FFI_ByteSpan *names[] = {&spans[0], &spans[1]};
  void *values[] = {&scalars[0], &scalars[1]};
  XLA_FFI_AttrType attr_types[] = {XLA_FFI_AttrType_SCALAR, XLA_FFI_AttrType_SCALAR};
  XLA_FFI_InternalExtension unknown = {.struct_size = XLA_FFI_InternalExtension_STRUCT_SIZE,
                                       .type = (XLA_FFI_InternalExtension_Type)77};
  XLA_FFI_CallFrame frame = {
      .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
      .extension_start = &unknown,
      .api = &ffi_api,
      .ctx = &context,
      .stage = XLA_FFI_ExecutionStage_EXECUTE,
      .args = {XLA_FFI_Args_STRUCT_SIZE, &unknown, arg_count, arg_types, arg_values},
      .rets = {XLA_FFI_Rets_STRUCT_SIZE, NULL, ret_count, ret_types, ret_values},
      .attrs = {XLA_FFI_Attrs_STRUCT_SIZE, NULL, 2, attr_types, names, values},
  };
  Target target = {.bundle = {.execute = NULL}};
  find_target(name, &target);
  XLA_FFI_Error *error = target.bundle.execute(&frame);
  snprintf(message, 4000, "%s", error == NULL ? "" : error->message);
  free(error);
}

// jaxlib's side: a handler that wants user data, as those that jaxlib hands out.
EXPORT XLA_FFI_Error *fake_jaxlib_handler(XLA_FFI_CallFrame *frame) {
  XLA_FFI_TypeId type_id = {USER_DATA_TYPE};
  XLA_FFI_InvokeContext_Get_Args get = {
      .struct_size = XLA_FFI_InvokeContext_Get_Args_STRUCT_SIZE, .ctx = frame->ctx, .type_id = &type_id};
  return frame->api->XLA_FFI_InvokeContext_Get(&get);
}

EXPORT XLA_FFI_Error *fake_mute_handler(XLA_FFI_CallFrame *frame) {
  (void)frame;
  return NULL;
}

// A handler that was compiled with a later header than the plugin.
static int newer_calls;

EXPORT XLA_FFI_Error *fake_newer_handler(XLA_FFI_CallFrame *frame) {
  for (XLA_FFI_InternalExtension *it = frame->extension_start; it != NULL; it = it->next) {
    if (it->type == XLA_FFI_Extension_Metadata) {
      ((XLA_FFI_Metadata_Extension *)it)->metadata->api_version.minor_version = 9;
      return NULL;
    }
  }
  ++newer_calls;
  return newer_calls == 2 ? ffi_error("the second call fails") : NULL;
}

EXPORT int fake_newer_calls(void) {
  return newer_calls;
}

// Returns the minor version that a target's stage states, in the order of the stages.
EXPORT int fake_stated_version(const char *name, int stage) {
  Target target;
  if (!find_target(name, &target)) {
    return -1;
  }
  const XLA_FFI_Handler_Bundle *it = &target.bundle;
  XLA_FFI_Handler *const stages[] = {it->instantiate, it->prepare, it->initialize, it->execute, it->record};
  return metadata_version(stages[stage]);
}

static FfiExtension ffi_extension = {.base = {.struct_size = sizeof(FfiExtension), .type = PJRT_Extension_Type_FFI},
                                     .register_handler = register_handler};
static PJRT_Extension_Base unknown_extension = {
    .struct_size = PJRT_Extension_Base_STRUCT_SIZE, .type = (PJRT_Extension_Type)1000, .next = &ffi_extension.base};
static PJRT_Api pjrt_api = {
    .struct_size = PJRT_Api_STRUCT_SIZE,
    .extension_start = &unknown_extension,
    .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE, .major_version = 0, .minor_version = 115},
    .PJRT_Error_Destroy = error_destroy,
    .PJRT_Error_Message = error_message,
    .PJRT_Plugin_Attributes = plugin_attributes};

// As if the plugin were built with an older header.
EXPORT void fake_set_api_size(size_t size) {
  pjrt_api.struct_size = size;
}

EXPORT const PJRT_Api *GetPjrtApi(void) {
  return &pjrt_api;
}
