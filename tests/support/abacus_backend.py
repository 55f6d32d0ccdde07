# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The `backend.toml` of an accelerator that exists only in tests, to which tables may be appended."""

BACKEND = """
distribution = "jaxlib-abacus"
package = "jaxlib_abacus"
summary = "XLA for the abacus"
pjrt_name = "abacus"
library = "abacus.so"
python_tag = "cp312"
exports = ["GetPjrtApi"]
requires = []
disable = "JAXLIB_ABACUS_DISABLE"
[tags]
linux_x86_64 = "manylinux_2_27_x86_64"
[prebuilt]
project = "abacus-pjrt"
member = "abacus/abacus.so"
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
