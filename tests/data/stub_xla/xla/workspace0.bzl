# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares @local_config_rocm, as far as flags of ours refer to it."""

load("//:stub_repository.bzl", "declare_flags", "stub_repository")

def xla_workspace0():
    """Declares it."""
    settings = declare_flags(strings = ["rocm_path_type"])
    stub_repository(name = "local_config_rocm", files = {"BUILD.bazel": "", "rocm/BUILD.bazel": settings})
