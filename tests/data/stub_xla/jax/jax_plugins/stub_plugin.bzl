# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What JAX's plugins have in common: a plugin of our own, for packages of JAX alone."""

load("@pjrtwheel//build/rules:extension.bzl", "shared_library")

def stub_plugin(srcs = []):
    """Declares the plugin of a package.

    Args:
        srcs: What it has beyond the PJRT C API.
    """
    shared_library(
        name = "pjrt_c_api_gpu_plugin.so",
        srcs = ["@xla//xla/pjrt/c:stub_plugin.c"] + srcs,
        out = "pjrt_c_api_gpu_plugin.so",
        headers = ["@header_pjrt_c_api//:headers"],
        visibility = ["//:__subpackages__"],
    )
