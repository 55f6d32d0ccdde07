# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write a zip file in one pass: hash, checksum and compress while the members stream by.

Order is the caller's; times, permissions and compression are fixed, so equal members give equal bytes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import deflate

from pjrtwheel.errors import WheelError
from pjrtwheel.files import FULL, open_partial, remove_stale, write_all
from pjrtwheel.wheel.deflate.compress import CHUNK_SIZE, Compression, compress_chunks
from pjrtwheel.wheel.record import Member
from pjrtwheel.wheel.write.plan import MemberSource
from pjrtwheel.wheel.write.zipformat import DEFLATED, STORED, ZipEntry, end_of_directory

_EARLIEST = 315532800  # 1980-01-01, the first moment a zip file can state, and the date of all members by default
_LATEST = 4354819198  # 2107-12-31
_REGULAR = 0o100644
_EXECUTABLE = 0o100755
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


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


class ArchiveWriter:
    """A zip file that is being written.

    It grows next to its final place and takes it only when all went well; after an error nothing is left.
    """

    def __init__(self, path: Path, *, stamp: tuple[int, int], compression: Compression | None = None) -> None:
        """Prepare to write `path`.

        Args:
            path: The finished file; replaced if it exists.
            stamp: Time and date of all members; see `timestamp`.
            compression: How members are compressed; at the default level on all cores when absent.
        """
        self._path = path
        self._partial: Path
        self._stamp = stamp
        self._compression = compression or Compression()
        self._entries: list[ZipEntry] = []
        self._file: BinaryIO
        self._pool: ThreadPoolExecutor

    def __enter__(self) -> Self:
        """Open the partial file and start the threads."""
        with explain_write_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            remove_stale(self._path)
            self._partial, self._file = open_partial(self._path)
        self._pool = ThreadPoolExecutor(self._compression.workers)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the file and move it to its place, or remove it."""
        self._pool.shutdown(cancel_futures=True)
        try:
            if error is None:
                with explain_write_errors(self._path):
                    self._finish()
        finally:
            self._file.close()
            self._partial.unlink(missing_ok=True)

    def add(self, member: MemberSource) -> Member:
        """Write one member, and return what was written.

        Raises:
            WheelError: The disk is full, or the member's bytes are not as many as it stated.
        """
        digest, crc, read, stored = hashlib.sha256(), 0, 0, 0

        def chunks() -> Iterator[tuple[memoryview, bool]]:
            nonlocal crc, read
            for chunk in member.chunks(CHUNK_SIZE):
                read += len(chunk)
                yield chunk, read >= member.size
                digest.update(chunk)
                crc = deflate.crc32(chunk, crc)

        with explain_write_errors(self._path):
            start = self._file.tell()
            entry = begin_entry(member, self._stamp, start)
            write_all(self._file, entry.local_header())
            for part in compress_chunks(chunks(), self._pool, self._compression):
                write_all(self._file, part)
                stored += len(part)
            if read != member.size:
                raise WheelError(f"{member.path} has {read} bytes, expected {member.size}")
            entry = replace(entry, crc=crc, compressed=stored)
            self._file.seek(start)
            write_all(self._file, entry.local_header())
            self._file.seek(0, os.SEEK_END)
        self._entries.append(entry)
        return Member(member.size, digest.hexdigest())

    def _finish(self) -> None:
        """Write the directory, make all of it durable, and give the file its name."""
        offset = self._file.tell()
        directory = b"".join(entry.directory_record() for entry in self._entries)
        write_all(self._file, directory + end_of_directory(len(self._entries), len(directory), offset))
        os.fsync(self._file.fileno())
        self._partial.replace(self._path)


@contextlib.contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turn the errors of a full or read-only disk into a `WheelError` about the file being written."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise WheelError(
                f"no room to write {path.name}: {error.strerror}",
                cause=f"the disk or quota of {path.parent} is full",
                remedy="free some space and build again; nothing partial was left behind",
            ) from error
        if error.errno in _READ_ONLY:
            raise WheelError(
                f"cannot write {path}: {error.strerror}", remedy="give a directory that you may write to"
            ) from error
        raise
