# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares @pypi, from which the next step loads."""

load("@xla//:stub_repository.bzl", "stub_repository")

def python_init_pip():
    """Declares it, without any package."""
    stub_repository(
        name = "pypi",
        files = {"BUILD.bazel": "", "requirements.bzl": "def install_deps():\n    pass\n"},
    )
