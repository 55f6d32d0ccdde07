# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:GPU for Intel oneAPI as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

from .backend import KERNELS, PLUGIN
from .intel import describe
from .pjrt import start

ACCELERATOR = describe(PLUGIN, KERNELS)


def initialize() -> None:
    """Make oneAPI known to JAX, or the reason why it cannot serve.

    With JAXLIB_ONEAPI_DISABLE=1 in the environment JAX does not use it.
    """
    start.initialize(ACCELERATOR)
