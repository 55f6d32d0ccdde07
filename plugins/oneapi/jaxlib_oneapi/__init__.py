# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:GPU for Intel oneAPI as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

from pathlib import Path

from .intel import describe
from .pjrt import start
from .pjrt.plugin import Plugin

ACCELERATOR = describe(
    Plugin(
        name="oneapi",
        distribution="jaxlib-oneapi",
        package=Path(__file__).parent,
        library="xla_oneapi_plugin.so",
    )
)


def initialize() -> None:
    """Make oneAPI known to JAX, or the reason why it cannot serve.

    With JAXLIB_ONEAPI_DISABLE=1 in the environment JAX stays as it was.
    """
    start.initialize(ACCELERATOR)
