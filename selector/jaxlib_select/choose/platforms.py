# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a backend has a wheel for an operating system, a processor and a C library."""

from __future__ import annotations

import re

from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine
from jaxlib_select.versions import read_version

_NAMES = {"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")


def platform_problem(machine: Machine, backend: Backend) -> str | None:
    """Return why none of a backend's wheels can be installed on a machine, or nothing if one can."""
    tag = backend.tags.get(machine.platform)
    if tag is None:
        if machine.os == "windows" and f"linux_{machine.arch}" in backend.tags:
            return f"there is no wheel of {backend.distribution} for Windows itself; in WSL2 there is one"
        return f"there is no wheel of {backend.distribution} for {describe_platform(machine)}"
    needed = _MANYLINUX.match(tag)
    if needed is None or machine.libc is None or machine.os != "linux":
        return None
    name, _, version = machine.libc.partition(" ")
    if name != "glibc":
        return f"its wheel needs glibc, this system has {name}"
    oldest = (int(needed.group(1)), int(needed.group(2)))
    if (read_version(version) or oldest) < oldest:
        return f"its wheel needs glibc {oldest[0]}.{oldest[1]}, this system has {version}"
    return None


def describe_platform(machine: Machine) -> str:
    """Return operating system and processor as people say them."""
    system = _NAMES.get(machine.os, machine.os or "an unknown operating system")
    return f"{system} on {machine.arch}" if machine.arch else f"{system} on an unknown processor"
