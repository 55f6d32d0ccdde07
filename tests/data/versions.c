// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Version functions in all forms there are, and what goes wrong with them.
#include <stddef.h>
#define EXPORT __attribute__((visibility("default")))
EXPORT size_t as_size(void) {
  return 91002;
}
EXPORT int as_int(void) {
  return 12090;
}
EXPORT int by_pointer(int *version) {
  *version = 11401;
  return 0;
}
EXPORT int by_properties(int property, int *value) {
  *value = (int[]){12, 9, 1}[property];
  return 0;
}
EXPORT int fails(int *version) {
  *version = 1;
  return 35;
}
EXPORT int fails_late(int property, int *value) {
  *value = 1;
  return property == 2 ? 7 : 0;
}
