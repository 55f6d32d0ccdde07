/* SPDX-FileCopyrightText: The split JAX wheel authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A libcuda.so.1 that says what its environment tells it to, so that it can mock any machine:
 *
 *   FAKE_CUDA_VERSION  what cuDriverGetVersion stores, such as 13000; an error when it is not set
 *   FAKE_CUDA_INIT     what cuInit returns; 0 when it is not set
 *   FAKE_CUDA_COUNT    what cuDeviceGetCount stores; the number of FAKE_CUDA_GPUS when it is not set
 *   FAKE_CUDA_GPUS     devices as MAJOR.MINOR:NAME, separated by |
 *   FAKE_CUDA_MODE     hang or crash in cuInit, crash-late in cuDeviceGetCount, exit in cuInit
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101 };
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

#define EXPORT __attribute__((visibility("default")))

static int mode_is(const char *mode) {
  const char *set = getenv("FAKE_CUDA_MODE");
  return set != NULL && strcmp(set, mode) == 0;
}

static int number(const char *name, int otherwise) {
  const char *set = getenv(name);
  return set != NULL ? atoi(set) : otherwise;
}

/* The text that describes a device, or NULL when there is no such one. */
static const char *describe(int device) {
  const char *text = getenv("FAKE_CUDA_GPUS");
  if (text == NULL || *text == '\0' || device < 0) return NULL;
  for (; device > 0 && text != NULL; --device) {
    text = strchr(text, '|');
    if (text != NULL) ++text;
  }
  return text;
}

EXPORT int cuDriverGetVersion(int *version) {
  if (getenv("FAKE_CUDA_VERSION") == NULL) return INVALID_VALUE;
  *version = number("FAKE_CUDA_VERSION", 0);
  return SUCCESS;
}

EXPORT int cuInit(unsigned int flags) {
  (void)flags;
  if (mode_is("hang")) {
    for (;;) pause();
  }
  if (mode_is("crash")) abort();
  if (mode_is("exit")) _exit(7);
  return number("FAKE_CUDA_INIT", SUCCESS);
}

EXPORT int cuDeviceGetCount(int *count) {
  if (mode_is("crash-late")) abort();
  int found = 0;
  while (describe(found) != NULL) ++found;
  *count = number("FAKE_CUDA_COUNT", found);
  return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
  if (describe(ordinal) == NULL) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const char *text = describe(device);
  int major = 0;
  int minor = 0;
  if (text == NULL || sscanf(text, "%d.%d", &major, &minor) != 2) return INVALID_DEVICE;
  if (attribute != CAPABILITY_MAJOR && attribute != CAPABILITY_MINOR) return INVALID_VALUE;
  *value = attribute == CAPABILITY_MAJOR ? major : minor;
  return SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
  const char *text = describe(device);
  const char *start = text != NULL ? strchr(text, ':') : NULL;
  if (start == NULL || size <= 0) return INVALID_DEVICE;
  size_t length = strcspn(start + 1, "|");
  if (length >= (size_t)size) length = (size_t)size - 1;
  memcpy(name, start + 1, length);
  name[length] = '\0';
  return SUCCESS;
}
