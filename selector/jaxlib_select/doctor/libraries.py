# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which shared libraries a plugin would load, and from where: the dynamic linker's order, on files only.

What the library needs stands in its ELF headers; what the plugin opens by itself, such as the parts of CUDA, stands in
its Python source as names like `libcudnn.so.9`.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.installed.discovery import Plugin
from jaxlib_select.installed.elf import Library, find_misfit, read_library
from jaxlib_select.installed.environment import Environment
from jaxlib_select.installed.registration import module_files, parse_module
from jaxlib_select.sentences import enumerate_some

NEEDED, OPENED = "needed", "opened"

# Folders, and what leads to them, in the order in which they are searched.
_Order = Sequence[tuple[Sequence[Path], str]]

_NAME = re.compile(r"lib[A-Za-z0-9_+-]+\.so\.\d+")
# The C and C++ runtime are part of the platform tag of a wheel.
_BASE = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.\d+")
# Part of a driver, not of what a program brings; detection has looked at those.
_DRIVER = re.compile(r"lib(cuda|nvidia-ml)\.so\.\d+")
_SYSTEM = ("lib64", "usr/lib64", "lib", "usr/lib", "lib/{triplet}", "usr/lib/{triplet}", "usr/lib/wsl/lib")


@dataclass(frozen=True)
class Loaded:
    """A library that would be loaded.

    Attributes:
        name: Its name for the dynamic linker.
        path: The file; nothing if there is none.
        origin: What led to it: `wheel`, `LD_LIBRARY_PATH`, `system`; empty if it was not found.
        how: `needed` by the plugin's library, which cannot be opened without it, or `opened` by the plugin.
        shadows: A file of a wheel that would have been there as well.
        problem: What the file is, if the dynamic linker cannot load it and gives up there; empty if it can.
        passed: Files before it on `LD_LIBRARY_PATH` that the linker passes over, and what they are.
    """

    name: str
    path: Path | None
    origin: str
    how: str
    shadows: Path | None = None
    problem: str = ""
    passed: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it is there, and can be loaded."""
        return self.path is not None and not self.problem


def find_libraries(
    plugin: Plugin, environment: Environment, variables: Mapping[str, str], *, root: Path, arch: str
) -> tuple[Loaded, ...]:
    """Return what a plugin would load beside the C and C++ runtime.

    Args:
        plugin: The plugin.
        environment: The environment it lies in.
        variables: Environment variables.
        root: Root of the file system.
        arch: Processor architecture, such as `x86_64`.
    """
    library = _merge([read_library(path) for path in plugin.libraries])
    home = plugin.libraries[0].parent if plugin.libraries else Path()
    wheels = [*_folders(library.rpath + library.runpath, home), *_vendor_folders(environment)]
    library_path = [Path(part) for part in variables.get("LD_LIBRARY_PATH", "").split(":") if part]
    system = [root / folder.format(triplet=f"{arch}-linux-gnu") for folder in _SYSTEM] + _configured(root)
    # DT_RPATH comes before LD_LIBRARY_PATH and is void where there is DT_RUNPATH, which comes after it.
    first = wheels if library.rpath and not library.runpath else []
    order = [(first, "wheel"), (library_path, "LD_LIBRARY_PATH"), (wheels, "wheel"), (system, "system")]
    named = named_libraries(plugin.location)
    names = [(name, NEEDED) for name in library.needed if not _BASE.fullmatch(name)]
    names += [(name, OPENED) for name in named if name not in library.needed]
    # What a plugin opens by itself it takes from the wheels first, by path, and the linker takes what is open already.
    return tuple(
        (_open_by_path(name, how, wheels, arch) if name in named else None) or _find(name, how, order, wheels, arch)
        for name, how in names
    )


def missing_libraries(entries: Sequence[Loaded], how: str) -> tuple[str, ...]:
    """Return the names of the libraries that are nowhere or cannot be loaded, drivers aside."""
    return tuple(
        entry.name for entry in entries if not entry.usable and entry.how == how and not _DRIVER.fullmatch(entry.name)
    )


def unusable_without(entries: Sequence[Loaded]) -> str:
    """Return why a plugin with these libraries cannot run programs where its hardware is; empty if it can.

    A library that it needs is missing, or every one that it opens: then none of the vendor's packages is installed.
    """
    needed, opened = missing_libraries(entries, NEEDED), missing_libraries(entries, OPENED)
    some = any(entry.usable and entry.how == OPENED for entry in entries)
    missing = needed or (() if some else opened)
    spoiled = [
        f"{entry.path} is {entry.problem}, not {entry.name}"
        for entry in entries
        if entry.problem and entry.name in missing
    ]
    nowhere = [entry.name for entry in entries if entry.path is None and entry.name in missing]
    said = [f"its libraries are nowhere on the search path: {enumerate_some(nowhere)}"] if nowhere else []
    return "; ".join([*spoiled, *said])


def named_libraries(location: Path | None) -> tuple[str, ...]:
    """Return the shared libraries that a plugin's Python source names; examples in its texts do not count."""
    if location is None:
        return ()
    trees = [tree for tree in map(parse_module, module_files(location)) if tree is not None]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return tuple(dict.fromkeys(text for text in constants if isinstance(text, str) and _NAME.fullmatch(text)))


def _merge(libraries: Sequence[Library]) -> Library:
    return Library(
        needed=tuple(dict.fromkeys(name for library in libraries for name in library.needed)),
        rpath=tuple(dict.fromkeys(path for library in libraries for path in library.rpath)),
        runpath=tuple(dict.fromkeys(path for library in libraries for path in library.runpath)),
    )


def _folders(paths: Sequence[str], home: Path) -> list[Path]:
    absolute = [path.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(home)) for path in paths]
    return [Path(os.path.normpath(path)) for path in absolute]


def _vendor_folders(environment: Environment) -> list[Path]:
    """Return where vendors' wheels put libraries: `nvidia/*/lib` in site-packages, and `lib` of the environment."""
    found = [folder for path in environment.paths for folder in sorted(path.glob("nvidia/*/lib"))]
    return [*found, environment.prefix / "lib"]


def _configured(root: Path) -> list[Path]:
    """Return the folders that `ld.so.conf` adds."""
    files = [root / "etc/ld.so.conf", *sorted((root / "etc/ld.so.conf.d").glob("*.conf"))]
    lines = [
        line.strip() for file in files if file.is_file() for line in file.read_text("utf-8", "replace").splitlines()
    ]
    return [root / line.lstrip("/") for line in lines if line.startswith("/")]


def _open_by_path(name: str, how: str, wheels: Sequence[Path], arch: str) -> Loaded | None:
    """Return what a plugin opens in the folders of the wheels; a file that cannot be loaded does not stop it."""
    files = (folder / name for folder in wheels if (folder / name).is_file())
    path = next((path for path in files if find_misfit(path, arch) is None), None)
    return Loaded(name, path, "wheel", how) if path is not None else None


def _find(name: str, how: str, order: _Order, wheels: Sequence[Path], arch: str) -> Loaded:
    in_wheel = next((folder / name for folder in wheels if (folder / name).is_file()), None)
    passed: list[str] = []
    for path, origin in _files(name, order):
        misfit = find_misfit(path, arch)
        mine = origin == "LD_LIBRARY_PATH"
        if misfit is not None and misfit.passed_over:
            passed += [f"{path} is {misfit.what}"] if mine else []
            continue
        shadows = in_wheel if mine and in_wheel not in (None, path) else None
        return Loaded(name, path, origin, how, shadows, misfit.what if misfit is not None else "", tuple(passed))
    return Loaded(name, None, "", how, passed=tuple(passed))


def _files(name: str, order: _Order) -> Iterator[tuple[Path, str]]:
    """Yield the files of this name in the order of the search, and what led to each."""
    paths = [(folder / name, origin) for folders, origin in order for folder in folders]
    yield from ((path, origin) for path, origin in paths if path.is_file())
