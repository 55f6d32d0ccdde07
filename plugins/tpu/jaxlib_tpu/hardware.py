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


def count_chips(root: Path) -> int:
    """Return the number of TPU chips.

    Args:
        root: The root of the file system.
    """
    vendors = (root / DEVICES).glob("*/vendor")
    return sum(_read(vendor) == GOOGLE and _read(vendor.parent / "device") in CHIPS for vendor in vendors)


def has_devices(root: Path) -> bool:
    """Return whether the PCI bus shows any device, which it does not in every container.

    Args:
        root: The root of the file system.
    """
    return any((root / DEVICES).glob("*"))


def has_nodes(root: Path) -> bool:
    """Return whether a driver offers a chip.

    Args:
        root: The root of the file system.
    """
    return any(True for node in NODES for _ in root.glob(node))


def describe_nodes() -> str:
    """Return what `has_nodes` looks for, for a message."""
    return ", ".join(f"/{node}" for node in NODES)


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
