# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a loader finds of its accelerator's vendor on a machine, as data: libraries, driver and devices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import PluginError


def read_attribute(path: Path) -> str:
    """Return what a file of the kernel's below /sys says; empty if it cannot be read."""
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


@dataclass(frozen=True, slots=True)
class LibraryPathFile:
    """A file on `LD_LIBRARY_PATH` with the name of a vendor's library.

    Attributes:
        path: The file.
        misfit: Why the dynamic linker cannot load it; empty if it can.
    """

    path: Path
    misfit: str = ""


@dataclass(frozen=True, slots=True)
class VendorLibrary:
    """A library of the accelerator's vendor.

    Attributes:
        name: Its name for the dynamic linker, such as `libcudnn.so.9`.
        needed: Whether the plugin's own library cannot be opened without it.
        path: The file that was opened, or would be; None if none was found.
        origin: How it was found: in a folder of the `vendor`'s, on `LD_LIBRARY_PATH`, or by the dynamic linker in the
            `system`; empty if it was not.
        opened: Whether it could be opened; None if that was not tried.
        version: Its version; None if it was not asked or does not answer.
        minimum: The oldest version that will do; None if that is not checked.
        problem: Why JAX cannot use it; empty if it can.
        on_library_path: Files of its name on `LD_LIBRARY_PATH`, whether or not they are used.
    """

    name: str
    needed: bool = False
    path: Path | None = None
    origin: str = ""
    opened: bool | None = None
    version: str | None = None
    minimum: str | None = None
    problem: str = ""
    on_library_path: tuple[LibraryPathFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Vendor:
    """The accelerator's vendor on this machine.

    Attributes:
        libraries: Its libraries.
        rejected: Files that have only the name of a library, and were passed over: a sentence for each.
        warnings: What may go wrong although everything is there.
        nodes: The driver's device nodes that exist.
        driver: What the driver can run, such as `CUDA 13.0`; None if it was not asked, or does not answer.
        driver_problem: Why it does not answer; None if it does, or was not asked.
        devices: The devices, as far as they were looked at.
    """

    libraries: tuple[VendorLibrary, ...] = ()
    rejected: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    driver: str | None = None
    driver_problem: PluginError | None = None
    devices: tuple[str, ...] = ()
