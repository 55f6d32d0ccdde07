# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What this machine has that decides how much can be shown: only what can be asked at once, every time."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")

# Variables that steer the dynamic linker (ld.so(8)); those of a vendor's libraries stand in the backend's file. The
# rest of an environment changes from one shell to the next and has no part in a proof.
_LINKER = ("LD_", "GLIBC_")

# Terminals come and go, and these links lead to whatever a process was started with.
_PASSING = ("pts", "stdin", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Machine:
    """What the evidence depends on beyond files that are hashed.

    Attributes:
        nodes: Device nodes, and whether this user may use each.
        libraries: Libraries in the folders that are looked in, with their sizes; folders of vendors' toolkits; and the
            dynamic linker's own index, which is written anew when a package brings or updates a library.
        environ: Variables that the programs see and vendors' libraries heed.
        checker: Version of the package with the conformance checks.
    """

    nodes: tuple[tuple[str, bool], ...]
    libraries: tuple[tuple[str, int], ...]
    environ: tuple[tuple[str, str], ...]
    checker: str


def describe_machine(
    environ: Mapping[str, str], search_paths: Sequence[str] = (), steering: Sequence[str] = (), root: Path = ROOT
) -> Machine:
    """Look at the machine.

    Args:
        environ: The environment of the programs under test.
        search_paths: Where the backend's packages are installed, such as `/opt/rocm/lib`.
        steering: How the names of variables begin that its libraries heed, such as `ROCM_`.
        root: The root of the file system.
    """
    heeded = {name: value for name, value in environ.items() if name.startswith((*_LINKER, *steering))}
    folders = [root / path.lstrip("/") for path in search_paths if path.startswith("/")]
    folders += [Path(part) for value in heeded.values() for part in value.split(os.pathsep) if part.startswith("/")]
    libraries = {entry for folder in folders for entry in find_libraries(folder)}
    return Machine(
        nodes=tuple(sorted(find_nodes(root / "dev"))),
        libraries=(*sorted(libraries), *find_installations(root), *linker_index(root)),
        environ=tuple(sorted(heeded.items())),
        checker=checker_version(),
    )


def find_nodes(dev: Path) -> Iterator[tuple[str, bool]]:
    """Yield path and usability of every device node, also of those below subfolders, such as `dri/renderD128`."""
    for folder, folders, names in os.walk(dev):
        folders[:] = [name for name in folders if name not in _PASSING]
        for name in sorted({*names}.difference(_PASSING)):
            path = Path(folder) / name
            if path.is_char_device():
                yield str(path.relative_to(dev)), os.access(path, os.R_OK | os.W_OK)


def find_libraries(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield path and size of every shared library in a folder, or in `lib` and `lib64` of an installation."""
    for place in (folder, folder / "lib", folder / "lib64"):
        for path in place.glob("*.so*"):
            if path.is_file():
                yield str(path), path.stat().st_size


def find_installations(root: Path) -> list[tuple[str, int]]:
    """Return the folders into which toolkits are installed, such as `/usr/local/cuda-13` or `/opt/intel/oneapi`."""
    found = {str(path) for pattern in ("opt/*", "opt/*/*", "usr/local/*") for path in root.glob(pattern)}
    return [(path, 0) for path in sorted(found)]


def linker_index(root: Path) -> list[tuple[str, int]]:
    """Return the state of the dynamic linker's index of libraries; nothing where there is none (ldconfig(8))."""
    path = root / "etc/ld.so.cache"
    try:
        status = path.stat()
    except OSError:
        return []
    return [("changed", status.st_mtime_ns), ("size", status.st_size)]


def checker_version() -> str:
    """Return the version of `pypjrt`, or nothing if it is not installed."""
    try:
        return importlib.metadata.version("pypjrt")
    except importlib.metadata.PackageNotFoundError:
        return ""
