# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:GPU for CUDA 13 as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

from pathlib import Path

from .cuda.nvidia import Cuda
from .pjrt import start
from .pjrt.kernels import Kernels
from .pjrt.plugin import Plugin
from .toolkit import TOOLKIT

ACCELERATOR = Cuda(
    Plugin(
        name="cuda",
        distribution="jaxlib-cuda-13",
        package=Path(__file__).parent,
        library="xla_cuda_plugin.so",
    ),
    Kernels("jax_cuda13_plugin", "cuda_plugin_extension"),
    TOOLKIT,
).accelerator()


def initialize() -> None:
    """Make CUDA known to JAX, or the reason why it cannot serve.

    With JAXLIB_CUDA_13_DISABLE=1 in the environment JAX stays as it was.
    """
    start.initialize(ACCELERATOR)
