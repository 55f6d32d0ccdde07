# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares bazel_features, which has nothing to declare itself."""

load("//:stub_repository.bzl", "stub_repository")

def xla_workspace3():
    """Declares it."""
    stub_repository(
        name = "bazel_features",
        files = {"BUILD.bazel": "", "deps.bzl": "def bazel_features_deps():\n    pass\n"},
    )
