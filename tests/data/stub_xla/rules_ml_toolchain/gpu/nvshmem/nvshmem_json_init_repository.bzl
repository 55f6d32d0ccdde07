# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares @nvshmem_redist_json, from which the next step loads."""

load("@xla//:stub_repository.bzl", "stub_repository")

def nvshmem_json_init_repository():
    """Declares it, without any distribution."""
    stub_repository(
        name = "nvshmem_redist_json",
        files = {"BUILD.bazel": "", "distributions.bzl": "NVSHMEM_REDISTRIBUTIONS = {}\n"},
    )
