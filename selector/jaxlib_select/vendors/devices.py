# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""PCI ids, one by one or as ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
