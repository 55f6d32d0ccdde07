# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compress chunks into one deflate stream (RFC 1951), on all cores; the number of threads does not change the result.

libdeflate compresses whole streams only, while a zip member is a single stream. To compress a member in parallel, each
chunk becomes a stream of its own, and the streams are joined: the last block of each but the last stream is marked as
not final, and an empty stored block after it brings the next stream to a byte boundary.

The format does not say where the last block starts, so it is searched: while zlib reads the code tables of a block, it
emits nothing. This finds nearly all.

After a miss zlib compresses the chunk itself, because zlib can end a part by rule.

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
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import deflate

from pjrtwheel.wheel.members import open_wheel

# Chunks share no history: at this length that costs 0.04 % of a compressed plugin library.
CHUNK_SIZE = 8 << 20

# What libdeflate calls levels, a word that proofs have here. From 10 on it looks for the shortest stream: a plugin
# library becomes 2 % smaller in five times the time, which pays for wheels that many will download.
DEFAULT_COMPRESSION = 6
HIGHEST_COMPRESSION = 12


def worker_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def compress_chunk(chunk: memoryview, *, final: bool, setting: int = DEFAULT_COMPRESSION) -> bytes:
    """Compress one chunk.

    Args:
        chunk: The bytes.
        final: Whether the deflate stream ends with this chunk.
        setting: What libdeflate calls its level, 0 to 12.
    """
    stream = bytes(deflate.deflate_compress(chunk, setting))
    return stream if final else open_end(stream, chunk)


def compress_chunks(
    chunks: Iterable[tuple[memoryview, bool]], pool: ThreadPoolExecutor, setting: int | None
) -> Iterator[bytes]:
    """Compress chunks in threads and yield the results in order.

    As many chunks as there are threads are read ahead of the one that is yielded, which bounds the memory.

    Args:
        chunks: Each chunk, and whether it is the last.
        pool: The threads; libdeflate and zlib both run outside the interpreter lock.
        setting: See `compress_chunk`; the default when absent.
    """
    pending: deque[Future[bytes]] = deque()
    ahead, chosen = worker_count(), DEFAULT_COMPRESSION if setting is None else setting
    for chunk, final in chunks:
        pending.append(pool.submit(compress_chunk, chunk, final=final, setting=chosen))
        if len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def open_end(stream: bytes, chunk: memoryview) -> bytes:
    """Return a part that another deflate stream may follow.

    Args:
        stream: A complete deflate stream.
        chunk: What it inflates to.
    """
    part = find_last_block(stream, chunk)
    return _deflate_by_rule(chunk) if part is None else part


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
    settings = sorted(range(1, HIGHEST_COMPRESSION + 1), key=lambda setting: setting != DEFAULT_COMPRESSION)
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
    # A date of a zip file stands for UTC here.
    return calendar.timegm((*dates.pop(), 0, 0, 0)) if len(dates) == 1 and dates != {_NO_DATE} else None


RAW = -15  # a raw deflate stream with the largest window, as zlib counts window sizes
_ALIGNMENTS = (b"\0\0\xff\xff", b"\0\0\0\xff\xff")  # an empty stored block, without and with a first byte of its own
_EMPTY_FINAL = b"\x03\0"  # a final block with fixed codes and nothing in it

_STEPS = (32, 8)  # bytes; code tables take 60 or more in blocks of machine code, fewer in very regular data
_LONGEST_CODE = 15  # bits of the end-of-block symbol
_LONGEST_BLOCK = 320_000  # bytes of input; libdeflate ends a block after 300 000, or a little later at the very end
_TAILS = (_LONGEST_BLOCK, 100_000, 40_000)  # most blocks of machine code are shorter, so look near the end first
_PIECE = 1 << 16
_GLANCE = 1024


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """zlib's state some bytes before the end of a stream."""

    position: int
    inflated: int
    inflater: zlib._Decompress


def find_last_block(stream: bytes, chunk: memoryview) -> bytes | None:
    """Clear the final bit of a stream that inflates to `chunk`, and align its end; None when the block is not found.

    A few dozen bit positions are near the beginning of each silence, and each is tried: a part is returned only when
    zlib inflates it to the very end of the chunk. Thus the search may miss, but never lie.
    """
    for tail in _tails(stream, len(chunk)):
        for step in _STEPS:
            for start, bits in _silent_places(stream, tail, step):
                part = _try_bits(stream, chunk, start, bits)
                if part is not None:
                    return part
    return None


def _tails(stream: bytes, size: int) -> list[_Checkpoint]:
    """Inflate a stream that inflates to `size` bytes, and return states near its end, the nearest first."""
    inflater = zlib.decompressobj(RAW)
    position = inflated = 0
    tails = [_Checkpoint(0, 0, inflater.copy())] if size <= _LONGEST_BLOCK else []
    for length in _TAILS:
        while inflated < size - length:
            # In small pieces: what is inflated is thrown away, so it should stay in the processor's cache.
            piece = stream[position : position + _PIECE]
            inflated += len(inflater.decompress(piece, size - length - inflated))
            position += len(piece) - len(inflater.unconsumed_tail)
        tails.append(_Checkpoint(position, inflated, inflater.copy()))
    return tails[::-1]


def _silent_places(stream: bytes, tail: _Checkpoint, step: int) -> Iterator[tuple[_Checkpoint, range]]:
    """Yield the bit ranges where a block may start, the last one first, each with the state before it."""
    inflater, inflated = tail.inflater.copy(), tail.inflated
    # The first block of all starts at the first bit, with nothing emitted before it.
    places = [(tail, range(1))] if tail.position == 0 else []
    before, silent = tail, False
    for start in range(tail.position, len(stream), step):
        here = _Checkpoint(start, inflated, inflater.copy())
        count = len(inflater.decompress(stream[start : start + step]))
        if count == 0 and not silent:
            # The header starts in the step before the silent one, or in the first bits of this.
            places.append((before, range(before.position * 8, min(start * 8 + _LONGEST_CODE + 1, len(stream) * 8))))
        silent = count == 0
        before = here
        inflated += count
    return reversed(places)


def _try_bits(stream: bytes, chunk: memoryview, start: _Checkpoint, bits: range) -> bytes | None:
    """Clear one bit after the other, and return the part that the first right one gives."""
    view = memoryview(stream)
    glance = bytes(view[start.position : start.position + _GLANCE])
    for bit in bits:
        index, mask = bit // 8 - start.position, 1 << bit % 8
        if glance[index] & mask and _agrees(start, _clear_bit(glance, index, mask), chunk):
            tail = _clear_bit(view[start.position :], index, mask)
            end = _close(start, tail, bytes(chunk[start.inflated :]))
            if end is not None:
                return b"".join((view[: start.position], tail, end))
    return None


def _agrees(start: _Checkpoint, glance: bytes, chunk: memoryview) -> bool:
    """Return whether a few bytes inflate as they should; a wrong bit mostly shows at once."""
    inflater = start.inflater.copy()
    try:
        inflated = inflater.decompress(glance, len(chunk) - start.inflated + 1)
    except zlib.error:
        return False
    return not inflater.eof and inflated == bytes(chunk[start.inflated : start.inflated + len(inflated)])


def _close(start: _Checkpoint, tail: bytes, expected: bytes) -> bytes | None:
    """Return what aligns the end of a part to a byte, or None when the tail does not inflate to what is expected."""
    inflater = start.inflater.copy()
    try:
        if inflater.decompress(tail, len(expected) + 1) != expected or inflater.eof:
            return None
    except zlib.error:
        return None
    return _find_alignment(inflater)


def _clear_bit(data: bytes | memoryview, index: int, mask: int) -> bytes:
    changed = bytearray(data)
    changed[index] &= ~mask
    return bytes(changed)


def _find_alignment(inflater: zlib._Decompress) -> bytes | None:
    """Return what brings a stream without a final block to a byte boundary; None when it does not end behind a block.

    An empty stored block begins with 3 header bits, for which the padding of the last byte may or may not have room.
    """
    return next((end for end in _ALIGNMENTS if _is_open(inflater, end)), None)


def _is_open(inflater: zlib._Decompress, end: bytes) -> bool:
    """Return whether a stream goes on behind these bytes: zlib must read a final block there, and nothing else."""
    probe = inflater.copy()
    try:
        return not probe.decompress(end + _EMPTY_FINAL) and probe.eof and not probe.unused_data
    except zlib.error:
        return False
