# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan the repair of a finished wheel: the same members and metadata, with repaired libraries and a new RECORD."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.lock import LOCK_FILENAME
from pjrtwheel.wheel.names import WheelName
from pjrtwheel.wheel.read.source import Unpacked, read_text, unpack_wheel
from pjrtwheel.wheel.report import Report
from pjrtwheel.wheel.write.archive import explain_write_errors
from pjrtwheel.wheel.write.prepare import prepare_member
from pjrtwheel.wheel.write.wheel_file import WheelPlan, write_wheel


def repair_wheel(wheel: Path, directory: Path, *, workers: int | None = None) -> Report:
    """Write a repaired copy of a wheel, under the same name, to another directory.

    Args:
        wheel: The wheel.
        directory: Where the copy is written; made when it is not there.
        workers: Number of compressing threads; as many as there are cores when absent.

    Raises:
        ElfError: A library in it is damaged or cannot be repaired.
        WheelError: The wheel is damaged or hostile, the copy would take its place, or the disk is full.
    """
    if directory.resolve() == wheel.parent.resolve():
        raise WheelError(f"{wheel} would be overwritten", remedy="give another directory with --output")
    with explain_write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        with explain_write_errors(directory):
            name, members = unpack_wheel(wheel, files, scratch=directory)
        return write_wheel(_plan(name, members), directory, workers=workers)


def _plan(name: WheelName, members: tuple[Unpacked, ...]) -> WheelPlan:
    """Plan the copy."""
    lock = _read_lock(members)
    prepared = tuple(
        prepare_member(
            member.path, member.file, wheel=name.filename, machine=_machine(name), executable=member.executable
        )
        for member in members
    )
    return WheelPlan(
        name=name,
        members=prepared,
        metadata=read_text(members, f"{name.dist_info}/METADATA"),
        lock_id=lock.get("lock_id", ""),
        provider=lock.get("provider", ""),
    )


def _machine(name: WheelName) -> str | None:
    """Return the machine that a wheel's platform tag promises; None for a tag of any or another platform."""
    matching = (entry.elf_machine for entry in PLATFORMS.values() if name.tag.endswith(f"_{entry.architecture}"))
    return next(matching, None)


def _read_lock(members: Iterable[Unpacked]) -> dict[str, Any]:
    """Return the release lock of a wheel that has one, at `<package>/release_lock.json`."""
    for member in members:
        if member.path.endswith(f"/{LOCK_FILENAME}") and member.path.count("/") == 1:
            return _parse_lock(read_text((member,), member.path), member.path)
    return {}


def _parse_lock(text: str, path: str) -> dict[str, Any]:
    """Read a lock as far as it is reported on."""
    try:
        lock = json.loads(text)
    except ValueError as error:
        raise WheelError(f"{path} is not JSON", cause=str(error)) from error
    if not isinstance(lock, dict):
        raise WheelError(f"{path} is no lock: it holds no object")
    for key in ("lock_id", "provider"):
        if not isinstance(lock.get(key, ""), str):
            raise WheelError(f"{path} is no lock: {key} is {lock[key]!r}, expected text")
    return lock
