# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find TPUs on the PCI bus, as JAX does."""

from __future__ import annotations

from pathlib import Path

DEVICES = "sys/bus/pci/devices"
GOOGLE = "0x1ae0"

# Chips by their PCI device id: v2 and v3, v4, v5p, v5e, v6e, 7x, and the generations that JAX 0.11.2 knows after them.
CHIPS = ("0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076", "0x0083", "0x007c")

# What the drivers make of a chip.
NODES = ("dev/accel[0-9]*", "dev/vfio/[0-9]*")


def chips(root: Path) -> list[str]:
    """Return the PCI addresses of the TPU chips, such as `0000:00:04.0`.

    Args:
        root: The root of the file system.
    """
    devices = [vendor.parent for vendor in (root / DEVICES).glob("*/vendor") if _read(vendor) == GOOGLE]
    return sorted(device.name for device in devices if _read(device / "device") in CHIPS)


def has_devices(root: Path) -> bool:
    """Return whether the PCI bus shows any device, which it does not in every container.

    Args:
        root: The root of the file system.
    """
    return any((root / DEVICES).glob("*"))


def device_nodes(root: Path) -> list[str]:
    """Return the devices that the drivers offer.

    Args:
        root: The root of the file system.
    """
    return sorted(f"/{found.relative_to(root)}" for node in NODES for found in root.glob(node))


def describe_nodes() -> str:
    """Return what `device_nodes` looks for, for a message."""
    return ", ".join(f"/{node}" for node in NODES)


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
