# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a zip file: hash, checksum and compress its members, one after the other.

Order is the caller's; times, permissions and compression are fixed, so equal members give equal bytes. The records are
those of APPNOTE 4.3, without the 64-bit fields: no wheel has 4 GiB.
"""

import contextlib
import hashlib
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import deflate

from pjrtwheel.errors import WheelError
from pjrtwheel.files import explain_full_disk, replacement
from pjrtwheel.wheel.compress import compress
from pjrtwheel.wheel.container import CENTRAL, END, LOCAL, UTF8
from pjrtwheel.wheel.members import Member
from pjrtwheel.wheel.plan import MemberSource

STORED = 0
DEFLATED = 8

_LARGEST = 0xFF000000  # below 4 GiB: data that cannot be compressed grow by up to 0.1 %
_MOST = 0xFFFE
_VERSION = 20  # of the format, which any reader has
_UNIX = 3 << 8


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One member as the directory of a zip file describes it.

    Attributes:
        mode: Unix file type and permissions.
        stamp: Time and date in MS-DOS form.
        offset: Where its local header is.
        method: `STORED` or `DEFLATED`.
        compressed: Length of what is stored of it.
    """

    name: str
    mode: int
    stamp: tuple[int, int]
    size: int
    offset: int
    method: int = DEFLATED
    crc: int = 0
    compressed: int = 0

    def local_header(self) -> bytes:
        """Return the record in front of the data; its length depends on the name alone."""
        return self._pack(LOCAL, b"PK\3\4")

    def directory_record(self) -> bytes:
        """Return the record in the central directory."""
        return self._pack(CENTRAL, b"PK\1\2", _UNIX | _VERSION, place=(0, 0, 0, self.mode << 16, self.offset))

    def _pack(self, layout: struct.Struct, *start: bytes | int, place: tuple[int, ...] = ()) -> bytes:
        """Return a record: what both say of the member lies between what they start with and where it is."""
        name = self.name.encode()
        flags = 0 if name.isascii() else UTF8
        sizes = (self.compressed, self.size, len(name), 0)
        return layout.pack(*start, _VERSION, flags, self.method, *self.stamp, self.crc, *sizes, *place) + name


def end_of_directory(count: int, size: int, offset: int) -> bytes:
    """Return the record that closes a zip file, by number of members, and length and place of the central directory."""
    return END.pack(b"PK\5\6", 0, 0, count, count, size, offset, 0)


_EARLIEST = 315532800  # 1980-01-01, the first moment a zip file can state, and the date of all members by default
_LATEST = 4354819198  # 2107-12-31
_REGULAR = 0o100644
_EXECUTABLE = 0o100755


def timestamp(environ: Mapping[str, str]) -> tuple[int, int]:
    """Return the time and date of all members: SOURCE_DATE_EPOCH, or 1980-01-01.

    Raises:
        WheelError: SOURCE_DATE_EPOCH is not a number.
    """
    text = environ.get("SOURCE_DATE_EPOCH", str(_EARLIEST))
    try:
        moment = time.gmtime(min(max(int(text), _EARLIEST), _LATEST))
    except ValueError:
        raise WheelError(f"SOURCE_DATE_EPOCH is {text!r}", cause="expected seconds since 1970") from None
    clock = moment.tm_hour << 11 | moment.tm_min << 5 | moment.tm_sec // 2
    return clock, (moment.tm_year - 1980) << 9 | moment.tm_mon << 5 | moment.tm_mday


def begin_entry(member: MemberSource, stamp: tuple[int, int], offset: int) -> ZipEntry:
    """Return how a zip file describes a member at an offset, as far as is known before it is compressed."""
    mode, method = (_EXECUTABLE if member.executable else _REGULAR), (DEFLATED if member.size else STORED)
    return ZipEntry(member.path, mode, stamp, member.size, offset, method)


@contextlib.contextmanager
def open_archive(path: Path, *, stamp: tuple[int, int], setting: int | None = None) -> Iterator["ArchiveWriter"]:
    """Open a zip file for writing, which takes its place at the end; after an error nothing is left.

    Args:
        path: The finished file; replaced if it exists.
        stamp: Time and date of all members; see `timestamp`.
        setting: How members are compressed: what libdeflate calls its level; the default when absent.

    Raises:
        WheelError: The disk is full.
    """
    with explain_full_disk(path.parent), replacement(path) as file:
        writer = ArchiveWriter(file, stamp, setting)
        yield writer
        writer.finish()


@dataclass(slots=True)
class ArchiveWriter:
    """A zip file that is being written; see `open_archive`."""

    file: BinaryIO
    stamp: tuple[int, int]
    setting: int | None
    entries: list[ZipEntry] = field(default_factory=list)

    def add(self, member: MemberSource) -> Member:
        """Write one member, and return what was written.

        Raises:
            WheelError: The member's file became shorter, or the archive would become too large.
        """
        offset = self.file.tell()
        if offset + member.size > _LARGEST or len(self.entries) == _MOST:
            cause = "zip files of that size have 64-bit fields, which are not written here"
            raise WheelError(f"with {member.path} the wheel has more than 4 GiB, or {_MOST} members", cause=cause)
        try:
            data = member.read()
        except EOFError as error:
            raise WheelError(f"{member.path} became shorter while it was read", cause=str(error)) from error
        stored = compress(data, self.setting) if data else b""
        entry = begin_entry(member, self.stamp, offset)
        entry = replace(entry, crc=deflate.crc32(data), compressed=len(stored))
        self.file.write(entry.local_header())
        self.file.write(stored)
        self.entries.append(entry)
        return Member(member.size, hashlib.sha256(data).hexdigest())

    def finish(self) -> None:
        """Write the directory."""
        offset = self.file.tell()
        directory = b"".join(entry.directory_record() for entry in self.entries)
        self.file.write(directory + end_of_directory(len(self.entries), len(directory), offset))
