# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove wheels on a machine that has the accelerator, and perhaps no network: then everything comes from folders."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, install, wheelhouse
from pjrtwheel.errors import ProofError
from pjrtwheel.prove.devices import Devices, detect_devices, find_devices, find_installed, require_installed
from pjrtwheel.prove.inputs import ProofInputs
from pjrtwheel.prove.on_python import Evidence, fitting, gather, requirements_for
from pjrtwheel.record.proofs import PythonProof
from pjrtwheel.wheel.names import parse_name


def prove_on_device(
    interpreter: Interpreter,
    wheels: Sequence[Path],
    inputs: ProofInputs,
    backend: Backend,
    *,
    cache: Path,
    folders: Sequence[Path] = (),
    system: bool = False,
    library: Path | None = None,
) -> Evidence:
    """Run every smoke program on the accelerator of this machine, from a clean environment.

    Wheels for other Pythons are left out. What wheels need comes from some `folders` alone, or is installed with the
    interpreter (`system`), or else comes from the package index, whose answer is kept in the cache. A plugin `library`
    of this machine may take the place of the wheel's.

    Raises:
        ProofError: The wheels do not install, or others in their place, or there is no device for the plugin here.
    """
    wheels = fitting(wheels, interpreter.tag)
    # The loader alone knows at once what takes a minute to find out with JAX, which has to be installed for it.
    require_device(detect_devices(interpreter.path, wheels, backend), backend)
    print(f"preparing an environment with Python {interpreter.version} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="device-") as scratch:
        python = create_venv(interpreter, Path(scratch) / "venv", system=system)
        places = {*folders, *(wheel.parent for wheel in wheels)}
        needed = [parse_name(wheel.name).requirement for wheel in wheels]
        if not system:
            needed = requirements_for(inputs, wheels, vendor=library is None)
            places |= set() if folders else {wheelhouse(interpreter, needed, wheels, cache)}
        install(python, needed, places, dependencies=not system)
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


def replace_library(python: Path, backend: Backend, library: Path) -> None:
    """Put a link to another library in the place of the wheel's own, whether the wheel had one or not."""
    place = find_installed(python, backend)
    place.unlink(missing_ok=True)
    place.symlink_to(library.resolve())
