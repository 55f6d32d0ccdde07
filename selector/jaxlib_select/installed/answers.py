# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a plugin says about itself: the answer of `python -m <package> --json`, as far as the doctor needs it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace

from jaxlib_select.tables import TableError, read

SCHEMA = 1

# What becomes of a plugin's platform because of a problem, as the wheels say it.
UNUSED, ABSENT, REFUSED, DEGRADED = "unused", "absent", "refused", "degraded"  # which serves, but not all programs

# Problems of the machine, and not of the environment.
_HARDWARE = ("NoDeviceError", "DriverError", "GpuCodeError", "Crash")

# A library of the vendor is missing, too old or known to be broken; hardware or not.
VENDOR_LIBRARY = "VendorLibraryError"

# Codes of our own, for plugins that do not answer.
NOT_IMPORTED, SILENT, CRASH = "NotImported", "Silent", "Crash"

_ESCAPE = re.compile(r"(?<!\\)\\([bfnrt]|u00[01][0-9a-fA-F])")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why JAX cannot use a plugin, in the plugin's own words.

    The code is the class of the error; the effect says what becomes of the platform, and is empty if nobody knows.
    """

    code: str
    effect: str
    what: str
    cause: str = ""
    remedy: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PluginLibrary:
    """The plugin's own library; no path if there is none."""

    path: str | None = None


@dataclass(frozen=True, slots=True)
class LibraryPathFile:
    """A file on `LD_LIBRARY_PATH` with the name of a vendor's library, and why it cannot be loaded."""

    path: str
    misfit: str = ""


@dataclass(frozen=True, slots=True)
class VendorLibrary:
    """A library of the accelerator's vendor.

    Attributes:
        name: Its name for the dynamic linker.
        needed: Whether the plugin cannot be opened without it.
        path: The file; nothing if none was found.
        origin: What led to it: `vendor`, `LD_LIBRARY_PATH`, `system`; empty if it was not found.
        problem: Why JAX cannot use it; empty if it can.
        shadows: A file of a wheel that would have been there as well.
        on_library_path: Files of its name on `LD_LIBRARY_PATH`.
    """

    name: str
    needed: bool = False
    path: str | None = None
    origin: str = ""
    problem: str = ""
    shadows: str | None = None
    on_library_path: tuple[LibraryPathFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Vendor:
    """The accelerator's vendor on this machine: its libraries, and why its driver does not answer."""

    libraries: tuple[VendorLibrary, ...] = ()
    driver_problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment variables say about a plugin."""

    disable_variable: str = ""
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class Kernels:
    """The plugin's GPU kernels: every Python that there are some for."""

    pythons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a plugin says about itself; what it says nothing about has its default.

    `absence` says that there is no such hardware, which is no problem by itself.
    """

    schema: int = SCHEMA
    platform: str | None = None
    priority: int | None = None
    settings: Settings = field(default_factory=Settings)
    library: PluginLibrary = field(default_factory=PluginLibrary)
    vendor: Vendor = field(default_factory=Vendor)
    kernels: Kernels = field(default_factory=Kernels)
    problems: tuple[Problem, ...] = ()
    absence: Problem | None = None

    def find(self, *codes: str, effect: str = "") -> Problem | None:
        """Return the first problem with one of these codes, or with an effect; nothing if there is none."""
        return next(
            (entry for entry in self.problems if entry.code in codes or (effect and entry.effect == effect)), None
        )

    @property
    def silent(self) -> bool:
        """Whether it says nothing at all."""
        return self.find(SILENT) is not None

    def without_hardware(self) -> Answer:
        """Return the answer without what it says about this machine, where another one is meant."""
        problems = tuple(entry for entry in self.problems if entry.code not in _HARDWARE)
        return replace(self, problems=problems, absence=None)


def read_answer(text: str) -> Answer:
    """Read an answer.

    Raises:
        ValueError: It is none, or of another schema.
    """
    answer = read(Answer, json.loads(flatten(text)))
    if answer.schema != SCHEMA:
        raise TableError(f"schema {answer.schema}, expected {SCHEMA}")
    return answer


def flatten(text: str) -> str:
    """Return JSON in which no string has control characters, such as the ends of lines in an error's text."""
    return _ESCAPE.sub(" ", text)
