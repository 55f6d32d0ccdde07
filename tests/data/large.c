// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// A library of 24 MiB that looks at every page of itself when it starts.

#include <stddef.h>
__attribute__((visibility("default"))) const volatile char large[24 << 20] = {1};
__attribute__((constructor)) static void look_at_all(void) {
  for (size_t i = 0; i < sizeof(large); i += 4096) {
    (void)large[i];
  }
}
