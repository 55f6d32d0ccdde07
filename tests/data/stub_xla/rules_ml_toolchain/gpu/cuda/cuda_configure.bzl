# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares an empty repository."""

load("@xla//:stub_repository.bzl", "stub_repository")

def cuda_configure(name):
    """Declares it.

    Args:
        name: Name of the repository.
    """
    stub_repository(name = name, files = {"BUILD.bazel": ""})
