# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Google's PCI devices, and the nodes through which TPUs are reached."""

from __future__ import annotations

from jaxlib_select.detect.pci import list_devices
from jaxlib_select.detect.world import World
from jaxlib_select.machine import Tpu

_VENDOR = "1ae0"


def detect(world: World) -> tuple[Tpu, list[str]]:
    """Return Google's devices; device nodes count only beside one, since other vendors' devices use such names too."""
    devices = list_devices(world, _VENDOR)
    return Tpu(pci=tuple(devices), devices=tuple(_nodes(world)) if devices else ()), []


def _nodes(world: World) -> list[str]:
    """Return `/dev/accelN` (up to v4) and `/dev/vfio/N` (from v5e on)."""
    accel = [f"/dev/{name}" for name in world.names("/dev") if name.startswith("accel") and name[5:].isdigit()]
    vfio = [f"/dev/vfio/{name}" for name in world.names("/dev/vfio") if name.isdigit()]
    return accel + vfio
