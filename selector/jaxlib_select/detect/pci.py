# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Devices on the PCI bus, as Linux lists them."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlib_select.detect.world import World

_DEVICES = "/sys/bus/pci/devices"


def list_devices(world: World, vendor: str, classes: Iterable[str] = ("",)) -> list[str]:
    """Return `vendor:device` of each device of a vendor, in the order of their addresses.

    Args:
        world: Where to look.
        vendor: Four hexadecimal digits.
        classes: How the class of the device may begin, such as `03` for display devices.
    """
    found = []
    for address in world.names(_DEVICES):
        folder = f"{_DEVICES}/{address}"
        if _hexadecimal(world, f"{folder}/vendor") != vendor:
            continue
        kind = _hexadecimal(world, f"{folder}/class") or ""
        device = _hexadecimal(world, f"{folder}/device")
        if device and any(kind.startswith(start) for start in classes):
            found.append(f"{vendor}:{device}")
    return found


def _hexadecimal(world: World, path: str) -> str | None:
    """Return the digits after `0x`, if that is what the file says."""
    text = (world.read(path) or "").strip().lower()
    digits = text[2:] if text.startswith("0x") else ""
    return digits if digits and all(digit in "0123456789abcdef" for digit in digits) else None
