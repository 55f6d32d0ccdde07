# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin library of a wheel or an environment, and whether it opens: the evidence for level `load`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.processes import run_process
from pjrtwheel.errors import ProofError
from pjrtwheel.probe.plugin import Job, ask_plugin, read_api_version, read_attributes
from pjrtwheel.prove.inside import library as inside
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.metadata import find_other_name
from pjrtwheel.wheel.names import parse_name

_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Opened:
    """Whether a library opens.

    Attributes:
        api: Version of its PJRT API, such as `0.115`, as the library itself says; nothing when it did not open.
        reason: Why it did not.
        attributes: Its PJRT attributes as text, such as `13000` for `cuda_version`; none unless they were asked for.
    """

    api: str | None
    reason: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


def open_library(python: Path, path: Path) -> Opened:
    """Open a library in a process of its own, and ask for the version of its API."""
    with tempfile.TemporaryDirectory(prefix="load-") as scratch:
        end = run_process([str(python), "-I", inside.__file__, str(path)], Path(scratch), _SECONDS)
    if end.status == 0:
        return Opened(".".join(map(str, json.loads(end.last_line()))))
    return Opened(None, end.last_line() if end.status == 1 else end.describe())


def find_installed(python: Path, backend: Backend) -> Path:
    """Return where the library is in the environment of `python`."""
    return _site(python) / backend.library_member


def require_own_names(wheels: Iterable[Path]) -> None:
    """Make sure that METADATA of wheels names the project and version of their file names, which installers do not.

    Raises:
        ProofError: One says that it is another wheel.
        WheelError: One is damaged or hostile.
    """
    for wheel in wheels:
        name = parse_name(wheel.name)
        with open_wheel(wheel) as archive:
            member = f"{name.dist_info}/METADATA"
            text = archive.read(member).decode("utf-8", "replace") if member in archive.namelist() else ""
        if other := find_other_name(text, name):
            raise ProofError(
                f"METADATA of {wheel.name} says that it is {other}",
                cause="the file was renamed, or changed",
                remedy="build it again, or fetch it again",
            )


def require_installed(python: Path, wheels: Iterable[Path]) -> None:
    """Make sure that it is these very wheels that are in an environment: names and versions alone do not show it.

    Raises:
        ProofError: Another wheel of the same name and version is there, or none.
    """
    for wheel in wheels:
        record = f"{parse_name(wheel.name).dist_info}/RECORD"
        with open_wheel(wheel) as archive:
            rows = archive.read(record).splitlines()
        installed = _site(python) / record
        if not installed.is_file() or not set(rows) <= set(installed.read_bytes().splitlines()):
            raise ProofError(
                f"what was installed is not {wheel}",
                cause="another wheel of the same name and version is in its folder, or installed with Python",
                remedy="remove that one",
            )


def _site(python: Path) -> Path:
    (folder,) = (python.parent.parent / "lib").glob("python3.*")
    return folder / "site-packages"


def open_unpacked(wheel: Path, backend: Backend | None) -> Opened:
    """Open the library in a wheel without installing the wheel, and ask for its attributes as well.

    A wheel without a library has nothing to open.
    """
    with tempfile.TemporaryDirectory(prefix="unpacked-") as scratch:
        with open_wheel(wheel) as archive:
            if backend is None or backend.library_member not in archive.namelist():
                return Opened(None)
            library = Path(archive.extract(backend.library_member, scratch))
        answer = ask_plugin(library, Job.DESCRIBE, time_limit=_SECONDS)
    if reason := answer.get("refused") or answer.get("broke"):
        return Opened(None, str(reason))
    return Opened(read_api_version(answer), attributes=read_attributes(answer))
