# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares rules_python and compute_library, as far as flags of ours refer to them."""

load("//:stub_repository.bzl", "FLAG", "declare_flags", "stub_repository")

def python_init_rules():
    """Declares both."""
    settings = declare_flags(strings = ["precompile", "bootstrap_impl"])
    stub_repository(
        name = "rules_python",
        files = {"BUILD.bazel": "", "flag.bzl": FLAG, "python/config_settings/BUILD.bazel": settings},
    )
    stub_repository(name = "compute_library", files = {"BUILD.bazel": declare_flags(bools = ["openmp"])})
