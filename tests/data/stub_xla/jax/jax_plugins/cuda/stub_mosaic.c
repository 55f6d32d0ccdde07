// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0

// The two entry points of Mosaic GPU; they do nothing.

__attribute__((visibility("default"))) void MosaicGpuCompile(void) {
}

__attribute__((visibility("default"))) void MosaicGpuUnload(void) {
}
