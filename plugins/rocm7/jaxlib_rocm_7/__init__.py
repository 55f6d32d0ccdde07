# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:GPU for ROCm 7 as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

from pathlib import Path

from .amd import describe
from .pjrt import start
from .pjrt.plugin import Plugin

ACCELERATOR = describe(
    Plugin(
        name="rocm",
        distribution="jaxlib-rocm-7",
        package=Path(__file__).parent,
        library="xla_rocm_plugin.so",
    )
)


def initialize() -> None:
    """Make ROCm known to JAX, or the reason why it cannot serve.

    With JAXLIB_ROCM_7_DISABLE=1 in the environment JAX stays as it was.
    """
    start.initialize(ACCELERATOR)
