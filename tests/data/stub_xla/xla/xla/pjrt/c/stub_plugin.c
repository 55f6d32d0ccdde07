// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// A PJRT plugin that can be loaded and initialised, tells its attributes, and refuses to make a client. Its API table
// has the size that XLA of this release has, which is larger than the one of the header it is compiled with.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pjrt_c_api.h"

#define MINOR_VERSION 115
#define STRUCT_SIZE 1144

struct PJRT_Error {
  PJRT_Error_Code code;
  const char *message;
};

static PJRT_Error no_client = {PJRT_Error_Code_UNIMPLEMENTED, "this is a stub of XLA: it makes no client"};

// Errors are static: there is nothing to free.
static void error_destroy(PJRT_Error_Destroy_Args *args) {
  (void)args;
}

static void error_message(PJRT_Error_Message_Args *args) {
  args->message = args->error->message;
  args->message_size = strlen(args->error->message);
}

static PJRT_Error *error_code(PJRT_Error_GetCode_Args *args) {
  args->code = args->error->code;
  return NULL;
}

static PJRT_Error *plugin_initialize(PJRT_Plugin_Initialize_Args *args) {
  (void)args;
  return NULL;
}

static PJRT_Error *plugin_attributes(PJRT_Plugin_Attributes_Args *args) {
  static const int64_t current[] = {1, 20, 0};
  static const PJRT_NamedValue attributes[] = {
      {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
       .name = "xla_version",
       .name_size = 11,
       .type = PJRT_NamedValue_kInt64,
       .int64_value = 2,
       .value_size = 1},
      {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
       .name = "stablehlo_current_version",
       .name_size = 25,
       .type = PJRT_NamedValue_kInt64List,
       .int64_array_value = current,
       .value_size = 3},
  };
  args->attributes = attributes;
  args->num_attributes = sizeof(attributes) / sizeof(attributes[0]);
  return NULL;
}

static PJRT_Error *client_create(PJRT_Client_Create_Args *args) {
  (void)args;
  return &no_client;
}

#define SLOT_COUNT (STRUCT_SIZE / sizeof(void *))

// What the slots do that are newer than the header, such as the one that lists an error's payloads: nothing.
static PJRT_Error *newer(void *args) {
  (void)args;
  return NULL;
}

static union {
  PJRT_Api api;
  PJRT_Error *(*slots[SLOT_COUNT])(void *);
} table = {
    .api =
        {
            .struct_size = STRUCT_SIZE,
            .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                                 .major_version = PJRT_API_MAJOR,
                                 .minor_version = MINOR_VERSION},
            .PJRT_Error_Destroy = error_destroy,
            .PJRT_Error_Message = error_message,
            .PJRT_Error_GetCode = error_code,
            .PJRT_Plugin_Initialize = plugin_initialize,
            .PJRT_Plugin_Attributes = plugin_attributes,
            .PJRT_Client_Create = client_create,
        },
};

_Static_assert(sizeof(PJRT_Api) <= STRUCT_SIZE, "the header is newer than the release");

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void) {
  for (size_t slot = sizeof(PJRT_Api) / sizeof(void *); slot < SLOT_COUNT; ++slot) {
    table.slots[slot] = newer;
  }
  return &table.api;
}
