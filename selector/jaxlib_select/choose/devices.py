# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""PCI ids, one by one or as ranges, and the variables that hide devices from programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxlib_select.machine.model import Machine


def matching(found: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """Return those of the devices found that are wanted.

    Args:
        found: Such as `8086:0bd5`.
        wanted: Such as `8086:0bd0-0bdb` or `1ae0:0063`.

    >>> matching(["8086:0bd5", "8086:46a6"], ["8086:0bd0-0bdb"])
    ['8086:0bd5']
    """
    ranges = [_range(entry) for entry in wanted]
    return [device for device in found if any(first <= device <= last for first, last in ranges)]


def _range(entry: str) -> tuple[str, str]:
    """Return first and last of a range; ids are of equal length, so that text compares as numbers do."""
    vendor, _, devices = entry.partition(":")
    first, _, last = devices.partition("-")
    return f"{vendor}:{first}", f"{vendor}:{last or first}"


def visible_value(machine: Machine, variable: str, kept: Sequence[int], total: int) -> str:
    """Return the value of a variable such as CUDA_VISIBLE_DEVICES that keeps some devices, in terms of its value now.

    Args:
        machine: Says how the variable is set; the devices were counted under that.
        variable: Its name.
        kept: The devices to keep, by index among those visible now.
        total: How many are visible now.
    """
    now = [item.strip() for item in machine.visible.get(variable, "").split(",") if item.strip()]
    names = now if len(now) == total else [str(index) for index in range(total)]
    return ",".join(names[index] for index in kept)
