# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The `backend.toml` of an accelerator that exists only in tests, to which tables may be appended."""

from release_under_test import ROOT

BACKEND = (ROOT / "tests/data/abacus_backend.toml").read_text("utf-8")

INPUTS = """
[[input]]
key = "bindings.{python}.{platform}"
project = "jaxlib"
version = "{release}"
platforms = ["linux_x86_64", "linux_aarch64"]
"""

# Tables for kernels of its vendor's, and an extra that follows theirs.
FOLLOWING_UPSTREAM = """
[kernels]
project = "abacus-plugin"
package = "abacus_plugin"
[extras.with-beads]
upstream = "abacus-plugin[with-beads]"
"""


def add_aarch64(backend: str) -> str:
    """Return the backend with wheels for a second platform."""
    return backend.replace("[tags]\n", '[tags]\nlinux_aarch64 = "manylinux_2_27_aarch64"\n')
