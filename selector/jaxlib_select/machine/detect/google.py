# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Google's PCI devices, and the nodes through which TPUs are reached."""

from __future__ import annotations

from jaxlib_select.machine.detect import Detector
from jaxlib_select.machine.host import Host, list_devices
from jaxlib_select.machine.model import Devices

_VENDOR = "1ae0"


def look(host: Host) -> tuple[Devices, list[str]]:
    """Return Google's devices; device nodes count only with one, since other vendors' devices use such names too."""
    devices = list_devices(host, _VENDOR)
    # Up to v4, and from v5e on.
    accel = [f"/dev/{name}" for name in host.names("/dev") if name.startswith("accel") and name[5:].isdigit()]
    vfio = [f"/dev/vfio/{name}" for name in host.names("/dev/vfio") if name.isdigit()]
    return Devices(pci=tuple(devices), devices=(*accel, *vfio) if devices else ()), []


DETECTOR = Detector("tpu", look, variables=("TPU_VISIBLE_DEVICES", "TPU_VISIBLE_CHIPS"))
