# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove wheels on a machine that has the accelerator, and perhaps no network: then everything comes from folders."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, install, wheelhouse
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.prove.devices import Devices, detect_devices, find_devices
from pjrtwheel.prove.inputs import ProofInputs
from pjrtwheel.prove.library import find_installed, require_installed
from pjrtwheel.prove.on_python import Evidence, fitting, gather, requirements_for
from pjrtwheel.record.proofs import PythonProof
from pjrtwheel.wheel.names import parse_name


@dataclass(frozen=True, slots=True)
class Index:
    """What wheels need comes from the package index, which is asked once; the answer is kept below `cache`."""

    cache: Path


@dataclass(frozen=True, slots=True)
class Folders:
    """What wheels need is in folders, and is looked for nowhere else."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Installed:
    """What wheels need is installed with the interpreter; only the wheels themselves are added."""


Supply = Index | Folders | Installed


def prove_on_device(
    interpreter: Interpreter,
    wheels: Sequence[Path],
    inputs: ProofInputs,
    supply: Supply,
    *,
    library: Path | None = None,
) -> Evidence:
    """Run every smoke program on the accelerator of this machine, from a clean environment.

    Wheels for other Pythons are left out. A plugin library of this machine may take the place of the wheel's.

    Raises:
        ProofError: The wheels do not install, or others in their place, or there is no device for the plugin here.
    """
    backend = _backend(inputs)
    wheels = fitting(wheels, interpreter.tag)
    # The loader alone knows at once what takes a minute to find out with JAX, which has to be installed for it.
    require_device(detect_devices(interpreter.path, wheels, backend), backend)
    print(f"preparing an environment with Python {interpreter.version} ...", file=sys.stderr, flush=True)
    with _environment(interpreter, wheels, inputs, supply, vendor=library is None) as python:
        require_installed(python, wheels)
        if library:
            replace_library(python, backend, library)
        devices = find_devices(python, backend)
        require_device(devices, backend)
        empty = PythonProof(interpreter.tag, interpreter.version, (), emulated=interpreter.emulated)
        return gather(empty, python, inputs, devices)


def require_device(devices: Devices | None, backend: Backend) -> None:
    """Refuse to call anything a proof on a device where there is none.

    Raises:
        ProofError: There is none.
    """
    if devices is not None and not devices.count:
        raise ProofError(
            f"no {backend.pjrt_name} device on this machine",
            cause=devices.reason,
            remedy=f"run it where there is one; without, ./noxw build_{backend.name} shows what can be shown",
        )


@contextmanager
def _environment(
    interpreter: Interpreter, wheels: Sequence[Path], inputs: ProofInputs, supply: Supply, *, vendor: bool
) -> Iterator[Path]:
    folders = {wheel.parent for wheel in wheels}
    requirements = requirements_for(inputs, wheels, vendor=vendor)
    match supply:
        case Installed():
            requirements = [parse_name(wheel.name).requirement for wheel in wheels]
        case Folders(paths):
            folders.update(paths)
        case Index(cache):
            folders.add(wheelhouse(interpreter, requirements, wheels, cache))
    system = isinstance(supply, Installed)
    with tempfile.TemporaryDirectory(prefix="device-") as scratch:
        python = create_venv(interpreter, Path(scratch) / "venv", system=system)
        install(python, requirements, folders, dependencies=not system)
        yield python


def replace_library(python: Path, backend: Backend, library: Path) -> None:
    """Put a link to another library in the place of the wheel's own, whether the wheel had one or not."""
    place = find_installed(python, backend)
    place.unlink(missing_ok=True)
    place.symlink_to(library.resolve())


def _backend(inputs: ProofInputs) -> Backend:
    if inputs.backend is None:
        raise UsageError("a proof on a device needs a backend")
    return inputs.backend
