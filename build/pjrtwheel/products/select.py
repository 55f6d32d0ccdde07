# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the wheel of `jaxlib-select` with its own build backend (PEP 517), and record it beside the others."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

from packaging.utils import parse_wheel_filename

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import WheelError
from pjrtwheel.fetch.index import run_pip
from pjrtwheel.files import hash_file
from pjrtwheel.publish.dist import publish_pure_python
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.report import BuiltWheel, Report

FOLDER = "selector"


def build_selector(root: Path, dist: Path) -> BuiltWheel:
    """Build the wheel into a folder, and list it in the `release.json` there.

    The build backend is the one that is installed beside this tooling, so nothing is downloaded.

    Args:
        root: Root of the repository.
        dist: The folder; made when it is missing.

    Raises:
        VerifyError: The wheel breaks a promise.
        WheelError: The build failed, or the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="select-") as scratch:
        wheel = _build(root / FOLDER, Path(scratch))
        publish_pure_python([wheel], tuple(load_backends(root).values()), root, dist)
    return BuiltWheel(dist / wheel.path.name, wheel.report)


def _build(source: Path, folder: Path) -> BuiltWheel:
    """Run the build backend."""
    options = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--disable-pip-version-check", "--no-input")
    command = (sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(folder), str(source))
    status, output = run_pip(command)
    if status != 0:
        said = [line for line in output.splitlines() if line.strip()][-1:]
        raise WheelError(f"the wheel of {source} could not be built", cause="\n".join(said))
    (path,) = folder.glob("*.whl")
    return BuiltWheel(path, _report(path))


def _report(path: Path) -> Report:
    """Describe a wheel that holds no library and belongs to no set."""
    name, version, _, tags = parse_wheel_filename(path.name)
    with zipfile.ZipFile(path) as archive:
        (member,) = (entry for entry in archive.namelist() if entry.endswith(".dist-info/METADATA"))
        requires = tuple(read_field(archive.read(member).decode(), "Requires-Dist"))
    return Report(
        wheel=path.name,
        distribution=name,
        version=str(version),
        tag=".".join(sorted(map(str, tags))),
        sha256=hash_file(path),
        size=path.stat().st_size,
        requires=requires,
        lock_id="",
        provider="none",
        provenance={},
        changes={},
        stripped_bytes=0,
    )
