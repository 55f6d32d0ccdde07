# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the plugin library of a wheel, and the backend it is for, and run PJRT's conformance checks on it."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import WheelError
from pjrtwheel.probe.run import ProbeResult, probe_plugin
from pjrtwheel.probe.settings import DEFAULTS, load_settings
from pjrtwheel.wheel.read.directory import DAMAGE, check_directory


def probe_file(file: Path, backends: Sequence[Backend], *, device: bool) -> ProbeResult:
    """Run the checks on a library, or on that of a wheel.

    Args:
        file: A plugin library, or a wheel with one.
        backends: The backends; which one it is for, the name of the library says.
        device: Whether the accelerator is known to be here.

    Raises:
        WheelError: The wheel is damaged, or holds no library of any backend.
    """
    if file.suffix != ".whl":
        return _probe(file, backends, device=device)
    with tempfile.TemporaryDirectory(prefix="probe-") as scratch:
        library = _unpack(file, Path(scratch), {backend.library for backend in backends})
        return _probe(library, backends, device=device)


def _probe(library: Path, backends: Iterable[Backend], *, device: bool) -> ProbeResult:
    backend = next((backend for backend in backends if backend.library == library.name), None)
    return probe_plugin(library, load_settings(backend) if backend else DEFAULTS, device=device)


def _unpack(wheel: Path, target: Path, names: set[str]) -> Path:
    """Unpack the only member with one of these names, and its neighbours, which it may need."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            problems = check_directory(archive.infolist(), wheel.stat().st_size)
            if problems:
                raise WheelError(f"{wheel.name} is not fit for use: {problems[0]}", remedy="fetch it again")
            found = [name for name in archive.namelist() if name.rsplit("/", 1)[-1] in names]
            if len(found) != 1:
                raise WheelError(
                    f"{wheel.name} holds {len(found)} plugin libraries, expected one",
                    cause=f"known names are {', '.join(sorted(names))}",
                    remedy="give the library itself",
                )
            folder = found[0].rpartition("/")[0]
            archive.extractall(target, [name for name in archive.namelist() if name.rpartition("/")[0] == folder])
    except DAMAGE as error:
        raise WheelError(f"{wheel.name} is a damaged wheel: {error}", remedy="fetch it again") from error
    return target / found[0]
