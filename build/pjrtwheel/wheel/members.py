# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The members of a wheel: RECORD, the list of them with their digests (PEP 376, PEP 427), and the zip directory.

The wheel may be hostile. Standard library only, as the fetcher uses this.
"""

import base64
import contextlib
import csv
import hashlib
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from pjrtwheel.errors import WheelError, shorten
from pjrtwheel.wheel.container import LOCAL, check_container

# Signatures of RECORD that nobody checks, and that RECORD cannot list (PEP 427); wheels with them are refused.
OBSOLETE = ("RECORD.jws", "RECORD.p7s")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a wheel, whoever wrote or read it; its path is the key under which it is kept.

    Attributes:
        size: Length in bytes.
        sha256: Hexadecimal digest.
    """

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """What RECORD says about one member.

    Attributes:
        digest: Such as `sha256=...`; empty for RECORD itself.
        size: Length in bytes; None when not stated.
    """

    digest: str
    size: int | None


def encode_digest(sha256: str) -> str:
    """Return a hexadecimal digest in RECORD's form.

    >>> encode_digest("00" * 32)
    'sha256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return "sha256=" + base64.urlsafe_b64encode(bytes.fromhex(sha256)).rstrip(b"=").decode()


def format_record(members: Mapping[str, Member], record_path: str) -> str:
    """Return the text of RECORD, which lists itself last and without a digest."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((path, encode_digest(member.sha256), member.size) for path, member in members.items())
    writer.writerow((record_path, "", ""))
    return text.getvalue()


def parse_record(text: str) -> Mapping[str, RecordEntry]:
    """Read RECORD.

    Raises:
        ValueError: The text is not CSV, or a row has not three fields, states no number as size, or names a member
            twice.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(f"RECORD is not CSV: {error}") from error
    entries: dict[str, RecordEntry] = {}
    for row in filter(None, rows):
        if len(row) != 3:
            raise ValueError(f"RECORD has a row of {len(row)} fields: {row!r}")
        path, digest, size = row
        if path in entries:
            raise ValueError(f"RECORD names {path!r} twice")
        entries[path] = RecordEntry(digest, int(size) if size else None)
    return entries


_SLICE = 1 << 20
_SHOWN = 5  # problems that a message names one by one
# What zipfile raises over a file that is not what its headers say; ValueError includes names that are no UTF-8,
# RuntimeError an unknown compression and a password that is asked for, IndexError a name without a character.
DAMAGE = (zipfile.BadZipFile, EOFError, IndexError, OverflowError, RuntimeError, ValueError, struct.error, zlib.error)


_CHUNK = 1 << 18


class StrictArchive(zipfile.ZipFile):
    """A zip file that was checked, whose members can be read only where their streams end with their data.

    Others read on behind the end of a stream, or take what lies there for another member.
    """

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        """Return the bytes of a member; reading them to the end raises a `BadZipFile` where they are damaged."""
        info = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if mode == "w" or info.compress_type == zipfile.ZIP_STORED or self.fp is None:
            return super().open(info, mode, pwd, force_zip64=force_zip64)
        return io.BufferedReader(_Inflated(self.fp.fileno(), info), _CHUNK)


class _Inflated(io.RawIOBase):
    """The inflated bytes of one member."""

    def __init__(self, descriptor: int, info: zipfile.ZipInfo) -> None:
        header = os.pread(descriptor, LOCAL.size, info.header_offset)
        *_, named, more = LOCAL.unpack(header)
        self._descriptor, self._info = descriptor, info
        self._place = info.header_offset + LOCAL.size + named + more
        self._end = self._place + info.compress_size
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        self._size = self._crc = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next."""
        data = b""
        while not data and not self._stream.eof:
            compressed = self._stream.unconsumed_tail or self._take()
            data = self._stream.decompress(compressed, len(buffer))  # which may hold back some for an empty input
            if not compressed and not data and not self._stream.eof:
                raise zipfile.BadZipFile(f"the data of {self._info.filename!r} ends within its stream")
        self._size += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._size > self._info.file_size or (not data and not self._is_whole()):
            raise zipfile.BadZipFile(f"the data of {self._info.filename!r} is not what its header says")
        buffer[: len(data)] = data
        return len(data)

    def _take(self) -> bytes:
        data = os.pread(self._descriptor, min(_CHUNK, self._end - self._place), self._place)
        self._place += len(data)
        return data

    def _is_whole(self) -> bool:
        ended = self._place == self._end and not self._stream.unused_data
        return ended and (self._size, self._crc) == (self._info.file_size, self._info.CRC)


@contextlib.contextmanager
def open_wheel(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a wheel whose directory lets it be unpacked, and name the wheel in whatever reading it raises.

    Raises:
        WheelError: There is no such file, it is no wheel, is damaged, or its directory is hostile.
    """
    try:
        with path.open("rb") as file:
            refuse_problems(path, check_container(file))
            with StrictArchive(file) as archive:
                yield archive
    except (FileNotFoundError, IsADirectoryError) as error:
        raise WheelError(f"no such wheel: {path}") from error
    except DAMAGE as error:
        raise WheelError(
            f"{path.name} is a damaged wheel: {error}",
            cause="it was cut short or changed on the way, or is no wheel",
            remedy="fetch it again",
        ) from error


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: IO[bytes] | None = None) -> Member:
    """Inflate a member, into `target` if there is one, and return what it is."""
    digest, size = hashlib.sha256(), 0
    with archive.open(info) as source:
        while data := source.read(_SLICE):
            digest.update(data)
            size += len(data)
            if target:
                target.write(data)
    return Member(size, digest.hexdigest())


def refuse_problems(path: Path, problems: Iterable[str]) -> None:
    """Raise one error for all problems of a wheel, if there are any.

    Raises:
        WheelError: There is at least one.
    """
    found = tuple(problems)
    if found:
        raise WheelError(
            f"{path.name} is not fit for use: {shorten(found, _SHOWN, '; ')}",
            cause="it was damaged or tampered with",
            remedy="fetch it again from a source you trust",
        )
