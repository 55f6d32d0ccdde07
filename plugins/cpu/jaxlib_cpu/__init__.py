# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA:CPU as a PJRT plugin: JAX calls `initialize` through the entry point group `jax_plugins`."""

from __future__ import annotations

import os

from .backend import PLUGIN
from .pjrt.plugin import open_plugin, refuse, unfit
from .pjrt.settings import is_set

# That of JAX's built-in CPU client: every accelerator comes before it.
PRIORITY = 0


def initialize() -> None:
    """Take over JAX's platform `cpu`, or, if this wheel does not fit, let its first use fail with the reason.

    With JAXLIB_CPU_DISABLE=1 in the environment JAX does not use it.
    """
    if is_set(os.environ, PLUGIN.disable_variable):
        return
    try:
        opened = open_plugin(PLUGIN)
        from .client import take_over

        take_over(PLUGIN, opened.api, PRIORITY)
    except Exception as error:  # noqa: BLE001  # JAX would log it and go on with its own client, a silent fall back
        refuse(PLUGIN, unfit(PLUGIN, error), PRIORITY)
