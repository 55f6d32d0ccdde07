# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares a repository that has flags only."""

load("@xla//:stub_repository.bzl", "declare_flags", "stub_repository")

def cuda_configure(name):
    """Declares it.

    Args:
        name: Name of the repository.
    """
    files = {
        "BUILD.bazel": declare_flags(bools = ["enable_cuda"], strings = ["cuda_compiler"]),
        "cuda/BUILD.bazel": declare_flags(bools = ["include_cuda_libs"]),
    }
    stub_repository(name = name, files = files)
