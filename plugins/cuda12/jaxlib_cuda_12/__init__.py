# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:GPU for CUDA 12 as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

from typing import Any

from .backend import KERNELS, PLUGIN
from .cuda.nvidia import Cuda
from .pjrt import start

ACCELERATOR = Cuda(PLUGIN, KERNELS).accelerator()


def initialize() -> None:
    """Make CUDA known to JAX, or the reason why it cannot serve.

    With JAXLIB_CUDA_12_DISABLE=1 in the environment JAX does not use it.
    """
    start.initialize(ACCELERATOR)


def topology(name: str) -> Any:
    """Return GPUs that need not be here, so that JAX compiles for them: `h100`, eight of it as `h100:8`.

    Raises:
        PluginError: JAX does not use this plugin, or it knows no such GPU.
    """
    return start.topology(ACCELERATOR, name)
