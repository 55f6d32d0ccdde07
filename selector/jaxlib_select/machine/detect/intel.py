# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Intel display devices, and whether the loader of Level Zero is installed."""

from __future__ import annotations

from jaxlib_select.machine.detect import Detector
from jaxlib_select.machine.host import Host, find_library, list_devices
from jaxlib_select.machine.model import Intel

_VENDOR = "8086"
_DISPLAY = ("03",)
_LOADER = "libze_loader.so.1"


def look(host: Host) -> tuple[Intel, list[str]]:
    """Return the Intel GPUs of a machine, those inside processors too."""
    devices = list_devices(host, _VENDOR, _DISPLAY)
    return Intel(pci=tuple(devices), level_zero=bool(devices) and find_library(host, _LOADER) is not None), []


DETECTOR = Detector("intel", look, variables=("ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR"))
