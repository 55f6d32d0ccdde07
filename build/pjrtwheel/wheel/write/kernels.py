# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Give the kernels of every Python a place in one wheel.

Extension modules lie in the one package where JAX imports them from, each under the suffix by which CPython finds its
own (PEP 3149). Libraries that are no modules are the same for every Python, and are packed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.abis import extension_suffix
from pjrtwheel.backend import Backend, Kernels
from pjrtwheel.elf import read_image
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import Platform
from pjrtwheel.release.model import Release

_Files = Mapping[str, Path]


def place_kernels(
    kernels: Mapping[str, Sequence[Path]], backend: Backend, platform: Platform, release: Release
) -> dict[str, Path]:
    """Return the members of a wheel that its kernels become: path in the wheel → file on disk.

    The kernels are libraries by Python tag, those of that Python's wheel; empty for none at all.

    Raises:
        ElfError: A file is no library for the platform.
        WheelError: The Pythons are not those that the release has kernels for, or differ in what they have.
    """
    if not kernels:
        return {}
    table = _check_pythons(kernels, backend, release.kernels(backend.name, platform.name))
    sorted_out = {python: _sort_out(paths, python, platform) for python, paths in kernels.items()}
    modules = {python: found[0] for python, found in sorted_out.items()}
    libraries = {python: found[1] for python, found in sorted_out.items()}
    _check_same_names(modules, "modules")
    _check_same_names(libraries, "libraries")
    shared = next(iter(libraries.values()))
    _check_same_bytes(shared, libraries)
    return {f"{backend.package}/{name}": path for name, path in shared.items()} | {
        f"{table.package}/{stem}{extension_suffix(python, platform.architecture)}": path
        for python, files in modules.items()
        for stem, path in files.items()
    }


def _check_pythons(kernels: Mapping[str, Sequence[Path]], backend: Backend, expected: Sequence[str]) -> Kernels:
    if backend.kernels is None or set(kernels) != set(expected):
        raise WheelError(
            f"kernels are for {', '.join(sorted(kernels))}, expected {', '.join(expected) or 'none'}",
            cause="the release file says for which Pythons there are kernels",
        )
    return backend.kernels


def _sort_out(paths: Sequence[Path], python: str, platform: Platform) -> tuple[_Files, _Files]:
    """Return the extension modules by name, and the other libraries by file name."""
    modules: dict[str, Path] = {}
    libraries: dict[str, Path] = {}
    for path in sorted(paths, key=lambda path: path.name):
        stem = path.name.partition(".")[0]
        with path.open("rb") as file:
            image = read_image(file, f"{path.name}, a kernel for {python},", machine=platform.machine)
        known, name = (modules, stem) if f"PyInit_{stem}" in image.exports else (libraries, path.name)
        if name in known:
            raise WheelError(f"two kernels for {python} are called {name!r}: {known[name]} and {path}")
        known[name] = path
    return modules, libraries


def _check_same_names(found: Mapping[str, _Files], what: str) -> None:
    every = {name for files in found.values() for name in files}
    missing = [f"{name} for {python}" for python, files in found.items() for name in sorted(every - set(files))]
    if missing:
        raise WheelError(
            f"not every Python has the same {what}: there is no {', no '.join(missing)}",
            cause="the kernels come from wheels of different builds",
        )


def _check_same_bytes(shared: _Files, libraries: Mapping[str, _Files]) -> None:
    """Refuse a library that would be packed once, but differs between the Pythons."""
    for name, path in shared.items():
        digests = {python: hash_file(files[name]) for python, files in libraries.items()}
        others = [python for python, digest in digests.items() if digest != hash_file(path)]
        if others:
            first = next(iter(libraries))
            raise WheelError(
                f"{name} for {', '.join(others)} has other bytes than for {first}",
                cause="a library that is no extension module is packed once, for every Python",
            )
