# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Unpack an existing wheel without trusting it, or read its METADATA.

Names, sizes and layout are checked before anything is inflated; digests while it is. All problems of a wheel are
reported together.
"""

import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from pjrtwheel.errors import WheelError
from pjrtwheel.files import explain_full_disk
from pjrtwheel.wheel.members import (
    DAMAGE,
    OBSOLETE,
    RecordEntry,
    encode_digest,
    open_wheel,
    parse_record,
    read_member,
    refuse_problems,
)
from pjrtwheel.wheel.names import WheelName, parse_name

_IN_MEMORY = 1 << 20


@dataclass(frozen=True, slots=True)
class Unpacked:
    """One member of a wheel, inflated and checked.

    Attributes:
        file: Its bytes; in memory when small, else in a file without a name, which cannot outlive this process.
        executable: Whether it had the permission to execute.
    """

    path: str
    file: BinaryIO
    executable: bool


def unpack_wheel(path: Path, files: ExitStack, *, scratch: Path) -> tuple[WheelName, tuple[Unpacked, ...]]:
    """Inflate a wheel and check it against its RECORD.

    Large members are held on the disk of `scratch` meanwhile; `files` closes them in the end.

    Returns:
        The wheel's name, and its members without RECORD, in order of path.

    Raises:
        WheelError: The file is no wheel, is damaged, has hostile names or sizes, or differs from its RECORD; the
            message lists every such problem. Or the disk is full.
    """
    name = parse_name(path.name)
    record_path = f"{name.dist_info}/RECORD"
    members: list[Unpacked] = []
    with explain_full_disk(scratch), open_wheel(path) as archive:
        inside = [info for info in archive.infolist() if not info.is_dir()]
        record = read_record(archive, record_path, path)
        problems = list(_check_listing({info.filename for info in inside}, record, name.dist_info))
        for info in sorted(inside, key=lambda info: info.filename):
            if info.filename != record_path:
                spool = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(scratch))  # noqa: SIM115 - `files` closes it
                file = files.enter_context(spool)
                member = Unpacked(info.filename, cast("BinaryIO", file), bool(info.external_attr >> 16 & stat.S_IXUSR))
                problems += _inflate(archive, info, record.get(info.filename), member.file)
                members.append(member)
        refuse_problems(path, problems)
    return name, tuple(members)


def read_text(members: Iterable[Unpacked], path: str) -> str:
    """Return a member as text.

    Raises:
        WheelError: There is no such member, or it is not UTF-8.
    """
    for member in members:
        if member.path == path:
            member.file.seek(0)
            try:
                return member.file.read().decode()
            except UnicodeDecodeError as error:
                raise WheelError(f"{path} is not UTF-8", cause=str(error)) from error
    raise WheelError(f"the wheel has no {path}", cause="it is damaged, or was renamed")


def _check_listing(names: set[str], record: Mapping[str, RecordEntry], dist_info: str) -> Iterator[str]:
    listed = {*record, f"{dist_info}/RECORD"}
    yield from (f"{name!r} is in RECORD but not in the wheel" for name in sorted(listed - names))
    yield from (f"{name!r} is in the wheel but not in RECORD" for name in sorted(names - listed))
    yield from (f"{name!r} is an obsolete signature" for name in OBSOLETE if f"{dist_info}/{name}" in names)


def read_record(archive: zipfile.ZipFile, record_path: str, path: Path) -> Mapping[str, RecordEntry]:
    """Read RECORD of an open wheel, which is at `path`.

    Raises:
        WheelError: There is none, or it is malformed.
    """
    try:
        return parse_record(archive.read(record_path).decode())
    except KeyError:
        raise WheelError(f"{path.name} has no {record_path}", cause="it is not a wheel, or was renamed") from None
    except DAMAGE as error:
        raise WheelError(f"{path.name} has a malformed {record_path}", cause=str(error)) from error


def _inflate(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, entry: RecordEntry | None, target: BinaryIO
) -> Iterator[str]:
    try:
        digest = encode_digest(read_member(archive, info, target).sha256)
    except DAMAGE as error:
        yield f"{info.filename!r} is damaged: {error}"
        return
    if entry and entry.digest != digest:
        yield f"{info.filename!r} has {digest}, RECORD says {entry.digest or 'nothing'}"
    if entry and entry.size not in {None, info.file_size}:
        yield f"{info.filename!r} has {info.file_size} bytes, RECORD says {entry.size}"


def read_metadata(wheel: Path) -> bytes:
    """Return the METADATA of a wheel, which may be hostile.

    Raises:
        WheelError: It has none, is damaged, or its name is none of a wheel.
    """
    member = f"{parse_name(wheel.name).dist_info}/METADATA"
    try:
        with open_wheel(wheel) as archive:
            return archive.read(member)
    except KeyError as error:
        raise WheelError(f"{wheel} has no {member}", remedy="build it again, or fetch it again") from error
