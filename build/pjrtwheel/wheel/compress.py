# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compress chunks into one deflate stream (RFC 1951), on all cores; the number of threads does not change the result.

libdeflate compresses whole streams only, while a zip member is a single stream. To compress a member in parallel, each
chunk becomes a stream of its own, and the streams are joined: the last block of each but the last stream is marked as
not final, and an empty stored block after it brings the next stream to a byte boundary.

The last block is searched: by its header, which is fast and finds most blocks of machine code, then by inflating the
stream, which finds nearly all. After a miss zlib compresses the chunk itself, because zlib can end a part by rule.

No wheel says how it was compressed and dated, which building it again needs: that is found here as well.
"""

from __future__ import annotations

import calendar
import os
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import deflate

from pjrtwheel.wheel.last_block import RAW, open_by_header, open_by_silence
from pjrtwheel.wheel.read.directory import open_wheel

# Chunks share no history: at this length that costs 0.04 % of a compressed plugin library.
CHUNK_SIZE = 8 << 20

# What libdeflate calls levels, a word that proofs have here. From 10 on it looks for the shortest stream: a plugin
# library becomes 2 % smaller in five times the time, which pays for wheels that many will download.
DEFAULT_COMPRESSION = 6
HIGHEST_COMPRESSION = 12


def worker_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Compression:
    """How members are compressed.

    Attributes:
        setting: What libdeflate calls its level, 0 to 12.
        workers: Number of threads; it does not change the result.
    """

    setting: int = DEFAULT_COMPRESSION
    workers: int = field(default_factory=worker_count)


def compress_chunk(chunk: memoryview, *, final: bool, setting: int = DEFAULT_COMPRESSION) -> bytes:
    """Compress one chunk.

    Args:
        chunk: The bytes.
        final: Whether the deflate stream ends with this chunk.
        setting: See `Compression`.
    """
    stream = bytes(deflate.deflate_compress(chunk, setting))
    return stream if final else open_end(stream, chunk)


def compress_chunks(
    chunks: Iterable[tuple[memoryview, bool]], pool: ThreadPoolExecutor, compression: Compression
) -> Iterator[bytes]:
    """Compress chunks in threads and yield the results in order.

    As many chunks as there are threads are read ahead of the one that is yielded, which bounds the memory.

    Args:
        chunks: Each chunk, and whether it is the last.
        pool: The threads; libdeflate and zlib both run outside the interpreter lock.
        compression: The setting, and the number of threads.
    """
    pending: deque[Future[bytes]] = deque()
    for chunk, final in chunks:
        pending.append(pool.submit(compress_chunk, chunk, final=final, setting=compression.setting))
        if len(pending) > compression.workers:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def open_end(stream: bytes, chunk: memoryview) -> bytes:
    """Return a part that another deflate stream may follow.

    Args:
        stream: A complete deflate stream.
        chunk: What it inflates to.
    """
    for search in (open_by_header, open_by_silence):
        part = search(stream, chunk)
        if part is not None:
            return part
    return _deflate_by_rule(chunk)


def _deflate_by_rule(chunk: memoryview) -> bytes:
    """Compress with zlib, which ends a part on request (Z_SYNC_FLUSH)."""
    deflater = zlib.compressobj(6, zlib.DEFLATED, RAW)
    return deflater.compress(chunk) + deflater.flush(zlib.Z_SYNC_FLUSH)


_LARGEST = 1 << 18  # of the members to compress again; far below the length from which members are split
_MEMBERS = 64  # of these, the largest: settings differ in few bytes, and not in those of every member
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # of members without SOURCE_DATE_EPOCH


def find_compression(wheel: Path) -> int | None:
    """Return the setting of libdeflate that gives a wheel's bytes; nothing if none does, as other programs made it.

    Some members are compressed again. Where several settings give the same bytes, it is the default if that does.

    Raises:
        WheelError: The wheel is damaged or hostile.
    """
    with open_wheel(wheel) as archive, wheel.open("rb") as file:
        members = [info for info in archive.infolist() if 0 < info.file_size <= _LARGEST]
        largest = sorted(members, key=lambda info: info.file_size)[-_MEMBERS:]
        pairs = [(memoryview(archive.read(info)), _read_stored(file, info)) for info in reversed(largest)]
    settings = (
        DEFAULT_COMPRESSION,
        *(other for other in range(1, HIGHEST_COMPRESSION + 1) if other != DEFAULT_COMPRESSION),
    )
    fitting = (
        setting
        for setting in settings
        if all(compress_chunk(data, final=True, setting=setting) == stored for data, stored in pairs)
    )
    return next(fitting, None) if pairs else None


def _read_stored(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """Return the compressed bytes of a member."""
    file.seek(member.header_offset + 26)
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)  # its name and extra field
    return file.read(member.compress_size)


def find_epoch(wheel: Path) -> int | None:
    """Return the SOURCE_DATE_EPOCH that a wheel's members are dated by; nothing if it was not set.

    Raises:
        WheelError: The wheel is damaged or hostile.
    """
    with open_wheel(wheel) as archive:
        dates = {info.date_time for info in archive.infolist()}
    return _moment(dates.pop()) if len(dates) == 1 and dates != {_NO_DATE} else None


def _moment(date: tuple[int, int, int, int, int, int]) -> int:
    """Return a date of a zip file, which stands for UTC here, as seconds since 1970."""
    return calendar.timegm((*date, 0, 0, 0))
