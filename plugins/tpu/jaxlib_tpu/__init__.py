# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The TPU runtime that goes with one jaxlib: JAX calls `initialize` through the entry point group `jax_plugins`.

JAX knows the platform `tpu` by itself and finds libtpu by itself, so nothing is registered here. This wheel sees to it
that both fit each other, and says so where they do not.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from .hardware import count_chips
from .libtpu import check_libtpu
from .pjrt.errors import PluginError
from .pjrt.lock import check_release, jaxlib_directory
from .pjrt.plugin import Plugin, refuse
from .pjrt.switch import is_asked_for, is_disabled

logger = logging.getLogger(__name__)

PLUGIN = Plugin(
    name="tpu",
    distribution="jaxlib-tpu",
    package=Path(__file__).parent,
    library="libtpu.so",
)

# That of JAX's own TPU client.
PRIORITY = 300


def initialize() -> None:
    """Check that libtpu is the one of this release; where it is not, let the first use of a TPU fail with the reason.

    With JAXLIB_TPU_DISABLE=1 in the environment JAX stays as it was.
    """
    if is_disabled(os.environ, PLUGIN.distribution):
        return
    chips = count_chips(Path("/"))
    try:
        check_release(PLUGIN.distribution, PLUGIN.package, jaxlib_directory())
        check_libtpu(PLUGIN.distribution, os.environ)
    except PluginError as error:
        if chips:
            refuse(PLUGIN, error, PRIORITY)
        else:
            logger.warning("%s", error)
        return
    if not chips and _is_asked_for():
        logger.warning("%s: no TPU found (looked in /sys/bus/pci/devices); JAX goes on without it", PLUGIN.distribution)


def _is_asked_for() -> bool:
    from jax._src import config, xla_bridge

    asked_for: bool = is_asked_for(PLUGIN.name, config.jax_platforms.value, xla_bridge.expand_platform_alias)
    return asked_for
