# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the plugins that JAX will find, by JAX's own rules (`jax._src.xla_bridge.discover_pjrt_plugins`).

JAX imports every module below the namespace package `jax_plugins` and every module that the entry point group
`jax_plugins` names, and takes what `PJRT_NAMES_AND_LIBRARY_PATHS` says. Here their files are read instead.
"""

from __future__ import annotations

import json
import os
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlib_select.installed.elf import Library, read_library
from jaxlib_select.installed.environment import GROUP, Distribution, Environment
from jaxlib_select.installed.registration import read_registration

VARIABLE = "PJRT_NAMES_AND_LIBRARY_PATHS"
LOCK_FILENAME = "release_lock.json"
EXTENSION = "pjrt/_pjrt.abi3.so"  # in each of our plugins: opens its library


@dataclass(frozen=True)
class Lock:
    """The release lock inside one of our wheels: which set it belongs to."""

    release: str
    lock_id: str
    provider: str = ""


@dataclass(frozen=True)
class Plugin:
    """A plugin that JAX will try to load.

    Attributes:
        module: The module that JAX imports; empty for one from the environment variable.
        sources: How JAX finds it: `namespace package`, `entry point`, `environment variable`.
        distribution: The distribution it belongs to; empty if none.
        version: Version of that; empty if unknown.
        location: Folder of its package, or its file; nothing if it does not exist.
        platform: JAX's name of the platform; nothing if its source does not say.
        priority: Its priority; nothing if its source does not say.
        libraries: PJRT libraries it brings.
        damaged: Shared libraries that cannot be read → why.
        lock: Its release lock, if it is one of ours.
        refused: What is wrong with an entry of the environment variable.
        kernels: The package of its GPU kernels, if it is one of ours that has any.
    """

    module: str
    sources: tuple[str, ...]
    distribution: str = ""
    version: str = ""
    location: Path | None = None
    platform: str | None = None
    priority: int | None = None
    libraries: tuple[Path, ...] = ()
    damaged: Mapping[str, str] = field(default_factory=dict)
    lock: Lock | None = None
    refused: str = ""
    kernels: str = ""

    @property
    def label(self) -> str:
        """Name for messages."""
        return self.distribution or self.module or VARIABLE

    @property
    def lacks_extension(self) -> bool:
        """Whether it is one of ours without an extension module that opens its library."""
        path = self.location / EXTENSION if self.lock is not None and self.location is not None else None
        return path is not None and (not path.is_file() or str(path) in self.damaged)


def find_plugins(environment: Environment, variables: Mapping[str, str]) -> tuple[Plugin, ...]:
    """Return every plugin that JAX would load in an environment, in order of their modules.

    Args:
        environment: The environment.
        variables: Environment variables.
    """
    owners = _owners(environment)
    sources: dict[str, list[str]] = {}
    for module in namespace_modules(environment):
        sources.setdefault(module, []).append("namespace package")
    for distribution in environment.distributions.values():
        for module in distribution.plugins.values():
            sources.setdefault(module, []).append("entry point")
    found = [_describe(environment, module, tuple(how), owners.get(module)) for module, how in sorted(sources.items())]
    return (*found, *_from_variable(variables.get(VARIABLE, "")))


def namespace_modules(environment: Environment) -> tuple[str, ...]:
    """Return the modules below the package `jax_plugins`, as `pkgutil.iter_modules` lists them."""
    folders = [str(folder) for folder in namespace_folders(environment.paths)]
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders, f"{GROUP}.")))


def namespace_folders(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders of the package `jax_plugins`.

    A folder with `__init__.py` is a regular package: Python takes the first such one, and none of the others.
    """
    folders = [path / GROUP for path in paths if (path / GROUP).is_dir()]
    regular = [folder for folder in folders if (folder / "__init__.py").is_file()]
    return tuple(regular[:1] or folders)


def read_lock(package: Path | None) -> Lock | None:
    """Return the release lock in the folder of a package; nothing if there is none that can be read."""
    try:
        document = json.loads((package / LOCK_FILENAME).read_text("utf-8")) if package is not None else {}
        return Lock(str(document["release"]), str(document["lock_id"]), str(document.get("provider", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def locate(environment: Environment, module: str) -> Path | None:
    """Return the folder of a package or the file of a module; nothing if it cannot be imported."""
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


def _describe(environment: Environment, module: str, sources: tuple[str, ...], owner: Distribution | None) -> Plugin:
    location = locate(environment, module)
    registration = read_registration(location) if location is not None else None
    libraries, damaged = _libraries(location)
    return Plugin(
        module=module,
        sources=sources,
        distribution=owner.name if owner is not None else "",
        version=owner.version if owner is not None else "",
        location=location,
        platform=registration.platform if registration is not None else None,
        priority=registration.priority if registration is not None else None,
        libraries=libraries,
        damaged=damaged,
        lock=read_lock(location),
        kernels=registration.kernels if registration is not None else "",
    )


def _libraries(location: Path | None) -> tuple[tuple[Path, ...], dict[str, str]]:
    """Return the PJRT libraries of a package, and what cannot be read."""
    folder = location if location is not None and location.is_dir() else None
    files = sorted([*folder.glob("*.so"), *folder.glob(EXTENSION)]) if folder is not None else []
    read = {path: _read_or_reason(path) for path in files}
    found = tuple(path for path, library in read.items() if isinstance(library, Library) and library.plugin)
    return found, {str(path): reason for path, reason in read.items() if isinstance(reason, str)}


def _read_or_reason(path: Path) -> Library | str:
    try:
        return read_library(path)
    except (OSError, ValueError) as error:
        return str(error)


def _from_variable(value: str) -> tuple[Plugin, ...]:
    """Read `PJRT_NAMES_AND_LIBRARY_PATHS`: `name:path` with commas between, and a path may be a JSON file."""
    return tuple(_from_entry(entry) for entry in value.split(",")) if value else ()


def _from_entry(entry: str) -> Plugin:
    sources = ("environment variable",)
    parts = entry.split(os.pathsep)
    if len(parts) != 2:
        return Plugin("", sources, refused=f"{entry!r} is not of the form NAME{os.pathsep}PATH, so JAX ignores it")
    name, path = parts
    try:
        library = Path(json.loads(Path(path).read_text("utf-8"))["library_path"] if path.endswith(".json") else path)
        plugin = read_library(library).plugin
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{path!r} cannot be used ({error}), which makes every use of JAX fail"
        return Plugin("", sources, platform=name, priority=400, refused=reason)
    refused = "" if plugin else f"{path!r} is no PJRT plugin, which makes every use of JAX fail"
    return Plugin("", sources, platform=name, priority=400, location=library, libraries=(library,), refused=refused)
