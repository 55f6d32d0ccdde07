# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:GPU for ROCm 7 as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

from .backend import KERNELS, PLUGIN
from .pjrt import start
from .rocm.amd import describe

ACCELERATOR = describe(PLUGIN, KERNELS, "7.14")


def initialize() -> None:
    """Make ROCm known to JAX, or the reason why it cannot serve.

    With JAXLIB_ROCM_7_DISABLE=1 in the environment JAX does not use it.
    """
    start.initialize(ACCELERATOR)
