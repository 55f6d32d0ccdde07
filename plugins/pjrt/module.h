// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of the extension share: the PJRT API handle and the functions the module offers.
#ifndef PJRTWHEEL_MODULE_H_
#define PJRTWHEEL_MODULE_H_

#include "ffi_api.h"
#include "pjrt_c_api.h"
#include "stable_abi.h"

// Name of the capsules that carry a `const PJRT_Api *`; the same as jaxlib's, so that either can use the other's.
#define PJRT_API_CAPSULE "pjrt_c_api"

typedef struct {
  PyObject *error;  // _pjrt.PjrtError
} ModuleState;

// Returns the API behind a capsule, or NULL with an exception set.
const PJRT_Api *api_from_capsule(PyObject *module, PyObject *capsule);

// Returns what any capsule points to, or NULL with an exception set.
void *pointer_of(PyObject *capsule);

// Turns a PJRT error into an exception and destroys it. Returns 0 for no error, else -1.
int raise_pjrt_error(PyObject *module, const PJRT_Api *api, PJRT_Error *error, const char *doing);

// Returns the first extension of a type whose size is at least `size`, or NULL.
const PJRT_Extension_Base *find_extension(const PJRT_Api *api, int type, size_t size);

// Reads one stage of a target from a dictionary of capsules; an absent one is left NULL. Returns 0, or -1 with an
// exception set.
int read_stage(PyObject *stages, const char *stage, XLA_FFI_Handler **handler);

// Registers one handler as the execute stage of `name`. Returns 0, or -1 with an exception set.
int register_execute_handler(PyObject *module, const PJRT_Api *api, const char *name, const char *platform,
                             XLA_FFI_Handler *handler, int traits);

// Returns what to register for a handler with a plugin: the handler, or a function that calls it and states a minor
// version that the plugin takes. NULL with an exception set when there are too many of these.
XLA_FFI_Handler *accepted_handler(const XLA_FFI_Api *ffi, XLA_FFI_Handler *handler);

// Takes the pages of large libraries that were mapped so far out of this process, until they are used again.
void release_pages(void);

// plugin_api.c
PyObject *pjrt_load(PyObject *module, PyObject *args);
PyObject *pjrt_api_version(PyObject *module, PyObject *capsule);
PyObject *pjrt_attributes(PyObject *module, PyObject *capsule);
PyObject *pjrt_extensions(PyObject *module, PyObject *capsule);

// ffi_registration.c
PyObject *pjrt_ffi_api_version(PyObject *module, PyObject *args);
PyObject *pjrt_register_ffi_handler(PyObject *module, PyObject *args);
PyObject *pjrt_register_ffi_stages(PyObject *module, PyObject *args);
PyObject *pjrt_register_ffi_type(PyObject *module, PyObject *args);

// gpu_registration.c
PyObject *pjrt_register_gpu_target(PyObject *module, PyObject *args);

// native_library.c
PyObject *pjrt_preload(PyObject *module, PyObject *args);
PyObject *pjrt_library_version(PyObject *module, PyObject *args);

// host_callback.c
PyObject *pjrt_register_host_callbacks(PyObject *module, PyObject *args);

#endif  // PJRTWHEEL_MODULE_H_
