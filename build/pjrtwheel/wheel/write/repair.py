# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Plan the repair of a finished wheel: the same members and metadata, with repaired libraries and a new RECORD."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.release.lock import LOCK_FILENAME, ReleaseLock
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.wheel.deflate.compress import Compression
from pjrtwheel.wheel.names import WheelName
from pjrtwheel.wheel.read.unpack import Unpacked, read_text, unpack_wheel
from pjrtwheel.wheel.report import Report
from pjrtwheel.wheel.write.archive import explain_write_errors
from pjrtwheel.wheel.write.assemble import write_wheel
from pjrtwheel.wheel.write.plan import WheelPlan, file_source


def repair_wheel(wheel: Path, directory: Path, compression: Compression | None = None) -> Report:
    """Write a repaired copy of a wheel, under the same name, to another directory.

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
        return write_wheel(_plan(name, members), directory, compression)


def _plan(name: WheelName, members: tuple[Unpacked, ...]) -> WheelPlan:
    if name.platform and name.platform.binary_format is not BinaryFormat.ELF:
        raise WheelError(
            f"{name.filename} cannot be repaired",
            cause=f"its libraries are {name.platform.binary_format} files, and only ELF files are repaired",
            remedy="delocate repairs wheels on macOS, delvewheel those for Windows",
        )
    lock = _read_lock(members)
    machine = name.platform.machine if name.platform else None
    return WheelPlan(
        name=name,
        members=tuple(
            file_source(member.path, member.file, wheel=name.filename, machine=machine, executable=member.executable)
            for member in members
        ),
        metadata=read_text(members, f"{name.dist_info}/METADATA"),
        lock_id=lock.lock_id if lock else "",
        provider=lock.provider if lock else "",
    )


def _read_lock(members: Iterable[Unpacked]) -> ReleaseLock | None:
    """Return the release lock of a wheel that has one, at `<package>/release_lock.json`."""
    for member in members:
        if member.path.endswith(f"/{LOCK_FILENAME}") and member.path.count("/") == 1:
            try:
                return read_json(ReleaseLock, read_text((member,), member.path), ignore_unknown=True)
            except TableError as error:
                raise WheelError(f"{member.path} is no release lock: {error}") from error
    return None
