// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's driver and libraries, as far as a loader asks them: for their versions and for GPUs.
//
// One library that stands for any of them. The driver answers from the environment: FAKE_CUINIT is the result of
// cuInit, FAKE_CUDA its version, FAKE_GPUS the compute capabilities, such as "90 100". The versions of the others are
// compiled in with -DVERSION=...; by default they are those that the plugin for CUDA 13 was built with.
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static int number(const char *variable, int otherwise) {
  const char *value = getenv(variable);
  return value == NULL ? otherwise : atoi(value);
}

EXPORT int cuInit(unsigned flags) {
  (void)flags;
  return number("FAKE_CUINIT", 0);
}

EXPORT int cuDriverGetVersion(int *version) {
  *version = number("FAKE_CUDA", 13000);
  return 0;
}

// Returns where the compute capability of a device stands, and counts them; NULL behind the last one.
static const char *capability(int device, int *count) {
  const char *at = getenv("FAKE_GPUS"), *found = NULL;
  for (*count = 0; at != NULL && *at != '\0'; ++*count) {
    char *end = NULL;
    strtol(at, &end, 10);
    if (end == at) {
      break;
    }
    found = *count == device ? at : found;
    at = end;
  }
  return found;
}

EXPORT int cuDeviceGetCount(int *count) {
  capability(-1, count);
  return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int count = 0;
  const char *text = capability(device, &count);
  if (text == NULL || (attribute != 75 && attribute != 76)) {
    return 1;
  }
  *value = attribute == 75 ? atoi(text) / 10 : atoi(text) % 10;
  return 0;
}

#ifndef VERSION
#define VERSION 0
#endif

EXPORT int cudaRuntimeGetVersion(int *version) {
  *version = VERSION ? VERSION : 13000;
  return 0;
}

EXPORT int cuptiGetVersion(int *version) {
  *version = VERSION ? VERSION : 130000;
  return 0;
}

EXPORT int cufftGetVersion(int *version) {
  *version = VERSION ? VERSION : 12000;
  return 0;
}

EXPORT size_t cudnnGetVersion(void) {
  return VERSION ? VERSION : 91200;
}

EXPORT int cublasGetProperty(int property, int *value) {
  const int version = VERSION ? VERSION : 130000;
  *value = (int[]){version / 10000, version / 100 % 100, version % 100}[property];
  return 0;
}

EXPORT int cusparseGetProperty(int property, int *value) {
  const int version = VERSION ? VERSION : 12602;
  *value = (int[]){version / 1000, version / 100 % 10, version % 100}[property];
  return 0;
}
