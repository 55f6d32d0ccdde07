# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Choose by which means a plugin can be proven here, and tell what this machine lacks from what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pjrtwheel.prove.devices import NO_VENDOR_LIBRARY, Devices
from pjrtwheel.prove.levels import Level
from pjrtwheel.prove.loading import Opened

# The dynamic linker's words for a library that another one needs; of the plugin itself it would give the path.
_MISSING = re.compile(r"OSError: lib[^/\s]+: cannot open shared object file")


@dataclass(frozen=True, slots=True)
class Means:
    """How far the evidence can go here.

    Attributes:
        level: The highest level that can be shown.
        missed: Why each higher one cannot.
        failure: What is wrong, where the machine does not excuse it; empty otherwise.
    """

    level: Level
    missed: tuple[str, ...] = ()
    failure: str = ""


def choose_means(name: str, devices: Devices, opened: Opened, *, targets: bool) -> Means:
    """Return how a plugin is to be proven: on a device, else ahead of time, else by opening the library.

    Only hardware or a driver that is not here, or cannot run it, excuses that there is no device, and only a library of
    the vendor's that is not here that the plugin does not open.

    Args:
        name: Name of the backend.
        devices: What JAX answered.
        opened: Whether the library opens.
        targets: Whether there are chips to compile for.
    """
    if devices.count:
        return Means(Level.DEVICE)
    missed: tuple[str, ...] = (f"{Level.DEVICE}: {devices.reason}",)
    if not devices.excused:
        return Means(Level.STATIC, missed, failure=devices.reason)
    if targets:
        return Means(Level.AOT, missed)
    missed += (f"{Level.AOT}: {name} has no targets that could be compiled for without the accelerator",)
    if opened.api is not None:
        return Means(Level.LOAD, missed)
    missed += (f"{Level.LOAD}: {opened.reason}",)
    return Means(Level.STATIC, missed, failure="" if _MISSING.match(opened.reason) else opened.reason)


def ask_completed(ask: Callable[[], Devices], complete: Callable[[], None]) -> Devices:
    """Ask for devices; where the accelerator is here and its vendor's libraries are not, install these and ask again.

    Args:
        ask: Asks JAX.
        complete: Installs the libraries.
    """
    devices = ask()
    if devices.tried and devices.error == NO_VENDOR_LIBRARY:
        complete()
        return ask()
    return devices
