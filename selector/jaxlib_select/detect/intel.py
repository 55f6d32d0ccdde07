# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Intel display devices, and whether the loader of Level Zero is installed."""

from __future__ import annotations

from jaxlib_select.detect.libraries import find_library
from jaxlib_select.detect.pci import list_devices
from jaxlib_select.detect.world import World
from jaxlib_select.machine import Intel

_VENDOR = "8086"
_DISPLAY = ("03",)
_LOADER = "libze_loader.so.1"


def detect(world: World) -> tuple[Intel, list[str]]:
    """Return the Intel GPUs of a machine, those inside processors too."""
    devices = list_devices(world, _VENDOR, _DISPLAY)
    return Intel(pci=tuple(devices), level_zero=bool(devices) and find_library(world, _LOADER) is not None), []
