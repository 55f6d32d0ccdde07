# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the plugins that JAX will find, by JAX's own rules (`jax._src.xla_bridge.discover_pjrt_plugins`).

JAX imports every module below the namespace package `jax_plugins` and every module that the entry point group
`jax_plugins` names, and takes what `PJRT_NAMES_AND_LIBRARY_PATHS` says. Here their files are found instead, and they
are asked: ours by `python -m <package> --json`, others by what they register when JAX initializes them.
"""

from __future__ import annotations

import json
import os
import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jaxlib_select.facts import Backend, Facts
from jaxlib_select.installed.environment import GROUP, Distribution, Environment
from jaxlib_select.tables import TableError, read

SCHEMA = 1

# What becomes of a plugin's platform because of a problem, as the wheels say it.
UNUSED, ABSENT, REFUSED, DEGRADED = "unused", "absent", "refused", "degraded"  # which serves, but not all programs

# Problems of the machine, and not of the environment.
_HARDWARE = ("NoDeviceError", "DriverError", "GpuCodeError")

# A library of the vendor is missing, too old or known to be broken; hardware or not.
VENDOR_LIBRARY = "VendorLibraryError"

# A plugin of others does not register its platform.
UNREGISTERED = "RegistrationError"

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
        path: The file; None if none was found.
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
        """Return the first problem with one of these codes, or with an effect; None if there is none."""
        return next(
            (entry for entry in self.problems if entry.code in codes or (effect and entry.effect == effect)), None
        )

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


VARIABLE = "PJRT_NAMES_AND_LIBRARY_PATHS"
LOCK_FILENAME = "release_lock.json"


@dataclass(frozen=True, slots=True)
class Lock:
    """The release lock inside one of our wheels: which set it belongs to, and the version of all wheels of that."""

    release: str
    lock_id: str
    version: str


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin that JAX will try to load.

    Attributes:
        module: The module that JAX imports; empty for one from the environment variable.
        sources: How JAX finds it: `namespace package`, `entry point`, `environment variable`.
        distribution: The distribution it belongs to; empty if none.
        version: Version of that; empty if unknown.
        location: Folder of its package, or its file; None if it does not exist.
        platform: JAX's name of the platform; None if that is not known.
        priority: Its priority; None if that is not known.
        libraries: The shared libraries in its folder, or the one that the environment variable names.
        lock: Its release lock, if it is our plugin.
        ours: Whether it is our plugin, which answers questions about itself.
        names: Libraries of the vendor that it must have, if it is upstream's.
        refused: What is wrong with an entry of the environment variable.
        answer: What it says about itself.
    """

    module: str
    sources: tuple[str, ...]
    distribution: str = ""
    version: str = ""
    location: Path | None = None
    platform: str | None = None
    priority: int | None = None
    libraries: tuple[Path, ...] = ()
    lock: Lock | None = None
    ours: bool = False
    names: tuple[str, ...] = ()
    refused: str = ""
    answer: Answer = field(default_factory=Answer)

    @property
    def label(self) -> str:
        """Name for messages."""
        return self.distribution or self.module or VARIABLE


def find_plugins(environment: Environment, variables: Mapping[str, str], facts: Facts) -> tuple[Plugin, ...]:
    """Return every plugin that JAX would load in an environment, in order of their modules; none is asked yet."""
    known = {name: backend for backend in facts.backends for name in backend.distributions}
    owners = _owners(environment)
    sources: dict[str, list[str]] = {}
    for module in pkgutil.iter_modules([str(folder) for folder in namespace_folders(environment.paths)], f"{GROUP}."):
        sources.setdefault(module.name, []).append("namespace package")
    for distribution in environment.distributions.values():
        for name in distribution.plugins.values():
            sources.setdefault(name, []).append("entry point")
    found = [
        _describe(locate(environment, module), owners.get(module), known, module=module, sources=tuple(how))
        for module, how in sorted(sources.items())
    ]
    entries = [entry for entry in variables.get(VARIABLE, "").split(",") if variables.get(VARIABLE)]
    return (*found, *map(_from_variable, entries))


def namespace_folders(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders of the package `jax_plugins`.

    A folder with `__init__.py` is a regular package: Python takes the first such one, and none of the others.
    """
    folders = [path / GROUP for path in paths if (path / GROUP).is_dir()]
    regular = [folder for folder in folders if (folder / "__init__.py").is_file()]
    return tuple(regular[:1] or folders)


def read_lock(package: Path | None) -> Lock | None:
    """Return the release lock in the folder of a package; None if it cannot be read."""
    try:
        document = json.loads((package / LOCK_FILENAME).read_text("utf-8")) if package is not None else {}
        release = str(document["release"])
        return Lock(release, str(document["lock_id"]), str(document.get("version", release)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def set_version(release: str, *locks: Lock | None) -> str | None:
    """Return the version of the set that is installed of a release, by the locks of its wheels; None if none is."""
    return max((lock.version for lock in locks if lock is not None and lock.release == release), default=None)


def locate(environment: Environment, module: str) -> Path | None:
    """Return the folder of a package or the file of a module; None if it cannot be imported."""
    relative = module.replace(".", "/")
    for path in environment.paths:
        if (path / relative / "__init__.py").is_file():
            return path / relative
        if (path / f"{relative}.py").is_file():
            return path / f"{relative}.py"
    return None


def _owners(environment: Environment) -> dict[str, Distribution]:
    """Return for each plugin module the distribution it belongs to."""
    owners: dict[str, Distribution] = {}
    for distribution in environment.distributions.values():
        for file in distribution.record:
            parts = file.split("/")
            if parts[0] == GROUP and len(parts) > 2:
                owners[f"{GROUP}.{parts[1]}"] = distribution
        for module in distribution.plugins.values():
            owners[module] = distribution
    return owners


def _describe(location: Path | None, owner: Distribution | None, known: Mapping[str, Backend], **found: Any) -> Plugin:
    """Return what is known of a plugin before it is asked; `found` says how JAX finds it."""
    name = owner.name if owner is not None else ""
    lock, backend = read_lock(location), known.get(name)
    ours = lock is not None or (backend is not None and name == backend.distribution)
    select = backend.select if backend is not None and not ours else None
    return Plugin(
        **found,
        distribution=name,
        version=owner.version if owner is not None else "",
        location=location,
        libraries=tuple(sorted(location.glob("*.so"))) if location is not None and location.is_dir() else (),
        lock=lock,
        ours=ours,
        platform=backend.family if backend is not None else None,
        names=select.libraries if select is not None else (),
    )


def _from_variable(entry: str) -> Plugin:
    """Read an entry of `PJRT_NAMES_AND_LIBRARY_PATHS`: `name:path`, and the path may be that of a JSON file."""
    sources, parts = ("environment variable",), entry.split(os.pathsep)
    if len(parts) != 2:
        return Plugin("", sources, refused=f"{entry!r} is not of the form NAME{os.pathsep}PATH, so JAX ignores it")
    name, path = parts
    try:
        library = Path(json.loads(Path(path).read_text("utf-8"))["library_path"] if path.endswith(".json") else path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{path!r} cannot be used ({error}), which makes every use of JAX fail"
        return Plugin("", sources, platform=name, priority=400, refused=reason)
    return Plugin("", sources, platform=name, priority=400, location=library, libraries=(library,))
