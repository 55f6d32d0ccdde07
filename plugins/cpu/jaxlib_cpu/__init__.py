# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:CPU as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

import os
from pathlib import Path

from .options import is_disabled
from .pjrt.errors import PluginError
from .pjrt.plugin import Plugin, open_plugin, refuse

PLUGIN = Plugin(
    name="cpu",
    distribution="jaxlib-cpu",
    package=Path(__file__).parent,
    library="pjrt_c_api_cpu_plugin.so",
)

# That of JAX's built-in CPU client: every accelerator comes before it.
PRIORITY = 0


def initialize() -> None:
    """Take over JAX's platform `cpu`, or, if this wheel does not fit, let its first use fail with the reason.

    With JAXLIB_CPU_DISABLE=1 in the environment JAX stays as it was.
    """
    if is_disabled(os.environ):
        return
    try:
        api = open_plugin(PLUGIN)
    except PluginError as error:
        refuse(PLUGIN, error, PRIORITY)
        return
    from .client import take_over

    take_over(PLUGIN, api, PRIORITY)
