# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove wheels on a machine that has the accelerator, and perhaps no network: then everything comes from folders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.prove import environment
from pjrtwheel.prove.devices import Devices, find_devices
from pjrtwheel.prove.interpreters import Interpreter
from pjrtwheel.prove.levels import PythonProof
from pjrtwheel.prove.loading import find_installed
from pjrtwheel.prove.material import Material
from pjrtwheel.prove.python import fitting, gather, has_bindings, requirements_for
from pjrtwheel.wheel.names import find_plain_wheels


@dataclass(frozen=True, slots=True)
class Offline:
    """How an environment is made.

    Attributes:
        cache: Root of the cache.
        folders: Where wheels are looked for, and nowhere else; without any, the package index may be asked once.
        library: A plugin library of this machine that takes the place of the wheel's.
        system: Whether the environment sees what is installed beside the interpreter; only our wheels are added then.
    """

    cache: Path
    folders: tuple[Path, ...] = ()
    library: Path | None = None
    system: bool = False


def find_wheels(dist: Path, backend: Backend, version: str) -> tuple[Path, ...]:
    """Return the wheels of a backend and of `jaxlib` in a folder, for one release.

    Raises:
        UsageError: One of the two is not there.
    """
    found: dict[str, list[Path]] = {"jaxlib": [], backend.distribution: []}
    for path in find_plain_wheels(dist):
        distribution, _, found_version = environment.requirement_of(path).partition("==")
        if distribution in found and found_version == version:
            found[distribution].append(path)
    missing = [distribution for distribution, paths in found.items() if not paths]
    if missing:
        raise UsageError(
            f"no wheel of {' and '.join(missing)} {version} in {dist}",
            remedy=f"build them with: nox -s build_{backend.name}, or name another folder with --dist",
        )
    return tuple(path for paths in found.values() for path in paths)


def can_prove(wheels: Sequence[Path], tag: str) -> bool:
    """Tell whether there is a `jaxlib` for a Python among some wheels."""
    return has_bindings(fitting(wheels, tag))


def prove_on_device(
    interpreter: Interpreter, wheels: Sequence[Path], material: Material, offline: Offline
) -> PythonProof:
    """Run every smoke program on the accelerator of this machine, from a clean environment.

    Raises:
        ProofError: The wheels do not install, or JAX has no device for the plugin here.
    """
    with _environment(interpreter, wheels, material, offline) as python:
        devices = find_devices(python, _backend(material))
        require_device(devices, _backend(material))
        return gather(PythonProof(interpreter.tag, interpreter.version, ()), python, material, devices).python


def require_device(devices: Devices, backend: Backend) -> None:
    """Refuse to call anything a proof on a device where there is none.

    Raises:
        ProofError: There is none.
    """
    if not devices.count:
        raise ProofError(
            f"no {backend.pjrt_name} device on this machine",
            cause=devices.reason,
            remedy=f"run it where there is one; without, nox -s build_{backend.name} shows what can be shown",
        )


@contextmanager
def _environment(
    interpreter: Interpreter, wheels: Sequence[Path], material: Material, offline: Offline
) -> Iterator[Path]:
    """Make an environment, and yield its Python."""
    wheels = fitting(wheels, interpreter.tag)
    requirements = (
        [environment.requirement_of(wheel) for wheel in wheels]
        if offline.system
        else requirements_for(material, wheels, vendor=not offline.library)
    )
    folders = {*offline.folders, *(wheel.parent for wheel in wheels)}
    if not offline.folders and not offline.system:
        folders.add(environment.wheelhouse(interpreter, requirements, wheels, offline.cache))
    with tempfile.TemporaryDirectory(prefix="device-") as scratch:
        python = environment.create_venv(interpreter, Path(scratch) / "venv", system=offline.system)
        environment.install(python, requirements, folders, dependencies=not offline.system)
        if offline.library:
            replace_library(python, _backend(material), offline.library)
        yield python


def replace_library(python: Path, backend: Backend, library: Path) -> None:
    """Put a link to another library in the place of the wheel's own, whether the wheel had one or not."""
    place = find_installed(python, backend)
    place.unlink(missing_ok=True)
    place.symlink_to(library.resolve())


def _backend(material: Material) -> Backend:
    if material.backend is None:
        raise UsageError("a proof on a device needs a backend")
    return material.backend
