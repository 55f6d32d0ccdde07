# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find TPUs on the PCI bus, as JAX does."""

from __future__ import annotations

from pathlib import Path

from .pjrt.vendor import read_attribute

DEVICES = "sys/bus/pci/devices"
GOOGLE = "0x1ae0"

# Chips by their PCI device id: v2 and v3, v4, v5p, v5e, v6e, 7x, and the generations that JAX 0.11.2 knows after them.
CHIPS = ("0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076", "0x0083", "0x007c")

# What the drivers make of a chip.
NODES = ("dev/accel[0-9]*", "dev/vfio/[0-9]*")


def chips(root: Path) -> list[str]:
    """Return the PCI addresses of the TPU chips, such as `0000:00:04.0`."""
    devices = [vendor.parent for vendor in (root / DEVICES).glob("*/vendor") if read_attribute(vendor) == GOOGLE]
    return sorted(device.name for device in devices if read_attribute(device / "device") in CHIPS)


def device_nodes(root: Path) -> list[str]:
    """Return the devices that the drivers offer."""
    return sorted(f"/{found.relative_to(root)}" for node in NODES for found in root.glob(node))
