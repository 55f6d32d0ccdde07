# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the rules of all vendors share: the verdict about a backend, PCI ids, devices to hide, platforms of wheels."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine
from jaxlib_select.versions import read_version

_NAMES = {"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")


class Fit(enum.IntEnum):
    """How well a backend fits a machine."""

    NONE = 0  # it does not run here
    ASKED = 1  # it runs, but on what nobody takes unless it is asked for by name
    DOUBT = 2  # it may run: taken only if an accelerator is preferred, or asked for
    PART = 3  # it runs on some of the devices
    FULL = 4  # it runs on all of the devices


@dataclass(frozen=True)
class Verdict:
    """Whether a backend runs on a machine.

    Attributes:
        reason: Why, or why not, in one sentence without its period.
        advice: What to do so that it would run; empty if nothing helps.
        present: Whether a device of this vendor was seen at all.
        best: Compares the best device that is served with those of other backends of the vendor.
        constraints: Bounds on what the backend brings along.
        warnings: What the user should know if it is taken.
        environment: Variables that hide the devices that are not served, which `hidden` lists.
        absent: Whether nothing of the kind was seen, not even a device that does not count.
    """

    fit: Fit
    reason: str
    advice: str = ""
    present: bool = False
    best: tuple[int, ...] = ()
    served: int = 0
    constraints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    absent: bool = False


def matching(found: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """Return those of the devices found that are wanted; the ends of a range belong to it.

    >>> matching(["8086:0bd0", "8086:0bdb", "8086:0bdc", "8087:0bd5", "1ae0:0063"], ["8086:0bd0-0bdb", "1ae0:0063"])
    ['8086:0bd0', '8086:0bdb', '1ae0:0063']
    """
    ranges = []
    for vendor, _, devices in (entry.partition(":") for entry in wanted):
        first, _, last = devices.partition("-")
        ranges.append((f"{vendor}:{first}", f"{vendor}:{last or first}"))
    # Ids are of equal length, so that text compares as numbers do.
    return [device for device in found if any(first <= device <= last for first, last in ranges)]


def visible_value(machine: Machine, variable: str, kept: Sequence[int], total: int) -> str:
    """Return the value of a variable that keeps some of the visible devices visible, in terms of its value now."""
    now = [item.strip() for item in machine.visible.get(variable, "").split(",") if item.strip()]
    names = now if len(now) == total else [str(index) for index in range(total)]
    return ",".join(names[index] for index in kept)


def platform_problem(machine: Machine, backend: Backend) -> str | None:
    """Return why none of a backend's wheels can be installed on a machine, or None if one can."""
    tag = backend.tags.get(machine.platform)
    if tag is None:
        return _no_wheel(machine, backend)
    needed = _MANYLINUX.match(tag)
    if needed is None or machine.libc is None or machine.os != "linux":
        return None
    name, _, version = machine.libc.partition(" ")
    if name != "glibc":
        return f"needs glibc, this system has {name}"
    oldest = (int(needed.group(1)), int(needed.group(2)))
    if (read_version(version) or oldest) < oldest:
        return f"needs glibc {oldest[0]}.{oldest[1]}, this system has {version}"
    return None


def _no_wheel(machine: Machine, backend: Backend) -> str:
    """Say that there is no wheel for a platform, and whether only this release has none; the subject is the release."""
    # WSL2 hands NVIDIA's GPUs on, and no others.
    if machine.os == "windows" and f"linux_{machine.arch}" in backend.tags and backend.family == "cuda":
        return f"has no {backend.name} wheel for Windows; in WSL2 there is one"
    yet = " yet" if machine.platform in backend.absent else ""
    return f"has no {backend.name} wheel for {describe_platform(machine)}{yet}"


def describe_platform(machine: Machine) -> str:
    """Return operating system and processor as people say them."""
    system = _NAMES.get(machine.os, machine.os or "an unknown operating system")
    return f"{system} on {machine.arch}" if machine.arch else f"{system} on an unknown processor"
