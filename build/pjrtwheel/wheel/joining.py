# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Turn complete deflate streams into parts of a longer one (RFC 1951).

libdeflate compresses whole streams only, while a zip member is a single stream. To compress a member in parallel, each
chunk becomes a stream of its own, and the streams are joined: the last block of each but the last stream is marked as
not final, and an empty stored block behind it brings the next stream to a byte boundary.

The format does not say where the last block starts. Inflating the end of the stream in small steps shows it: while
zlib reads the code tables at the start of a block it emits nothing. That leaves a few dozen bit positions, and each is
tried: a part is accepted only when zlib inflates it, joined to another block, back to the chunk it was made from. Thus
the search may miss, but never lie; after a miss zlib compresses the chunk itself, because zlib can end a part by rule.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

RAW = -15  # a raw deflate stream with the largest window, as zlib counts window sizes
_STEPS = (32, 8)  # bytes; code tables take 60 or more in blocks of machine code, fewer in very regular data
_LONGEST_CODE = 15  # bits of the end-of-block symbol
_LONGEST_BLOCK = 320_000  # bytes of input; libdeflate ends a block after 300 000, or a little later at the very end
_GLANCE = 1024
_ALIGNMENTS = (b"\0\0\xff\xff", b"\0\0\0\xff\xff")  # an empty stored block, without and with a first byte of its own
_EMPTY_FINAL = b"\x03\0"  # a final block with fixed codes and nothing in it


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """zlib's state some bytes before the end of a stream."""

    position: int
    inflated: int
    inflater: zlib._Decompress


def open_end(stream: bytes, chunk: memoryview) -> bytes:
    """Return a part that another deflate stream may follow.

    Args:
        stream: A complete deflate stream.
        chunk: What it inflates to.
    """
    part = _join_form(stream, chunk)
    return part if part is not None else _deflate_by_rule(chunk)


def _deflate_by_rule(chunk: memoryview) -> bytes:
    """Compress with zlib, which ends a part on request (Z_SYNC_FLUSH)."""
    deflater = zlib.compressobj(6, zlib.DEFLATED, RAW)
    return deflater.compress(chunk) + deflater.flush(zlib.Z_SYNC_FLUSH)


def _join_form(stream: bytes, chunk: memoryview) -> bytes | None:
    """Clear the final bit of the last block, wherever it is, and align the end; None when it is not found."""
    tail = _start_of_tail(stream, len(chunk))
    places = (place for step in _STEPS for place in _silent_places(stream, tail, step))
    for checkpoint, bits in places:
        expected = bytes(chunk[checkpoint.inflated :])
        for bit in bits:
            index, mask = bit // 8, 1 << bit % 8
            if stream[index] & mask:
                opened = bytearray(memoryview(stream)[checkpoint.position :])
                opened[index - checkpoint.position] ^= mask
                end = _find_alignment(checkpoint.inflater, bytes(opened), expected)
                if end is not None:
                    return b"".join((memoryview(stream)[: checkpoint.position], opened, end))
    return None


def _find_alignment(start: zlib._Decompress, tail: bytes, expected: bytes) -> bytes | None:
    """Return what aligns the end of a part to a byte, or None when the tail does not inflate to what is expected.

    An empty stored block begins with 3 header bits, for which the padding of the last byte may or may not have room.
    """
    inflater = start.copy()
    try:
        # A wrong bit shows soon, so look at a little before inflating all of it.
        begin = inflater.decompress(tail[:_GLANCE], len(expected) + 1)
        if not expected.startswith(begin) or inflater.unconsumed_tail:
            return None
        if begin + inflater.decompress(tail[_GLANCE:], len(expected) + 1) != expected:
            return None
    except zlib.error:
        return None
    return next((end for end in _ALIGNMENTS if _is_open(inflater, end)), None)


def _is_open(inflater: zlib._Decompress, end: bytes) -> bool:
    """Tell whether a stream goes on behind these bytes: zlib must read a final block there, and nothing else."""
    probe = inflater.copy()
    try:
        return not probe.decompress(end + _EMPTY_FINAL) and probe.eof and not probe.unused_data
    except zlib.error:
        return False


def _start_of_tail(stream: bytes, size: int) -> _Checkpoint:
    """Inflate all but the last bytes of a stream that inflates to `size` bytes."""
    inflater = zlib.decompressobj(RAW)
    if size <= _LONGEST_BLOCK:
        return _Checkpoint(0, 0, inflater)
    inflated = inflater.decompress(stream, size - _LONGEST_BLOCK)
    return _Checkpoint(len(stream) - len(inflater.unconsumed_tail), len(inflated), inflater)


def _silent_places(stream: bytes, tail: _Checkpoint, step: int) -> Iterator[tuple[_Checkpoint, range]]:
    """Yield the bit ranges where a block may start, the last one first, each with the state before it."""
    inflater, position, inflated = tail.inflater.copy(), tail.position, tail.inflated
    # The first block of all starts at the first bit, with nothing emitted before it.
    places = [(tail, range(1))] if position == 0 else []
    before, silent = tail, False
    for start in range(position, len(stream), step):
        here = _Checkpoint(start, inflated, inflater.copy())
        count = len(inflater.decompress(stream[start : start + step]))
        if count == 0 and not silent:
            # The header starts in the step before the silent one, or in the first bits of this.
            places.append((before, range(before.position * 8, min(start * 8 + _LONGEST_CODE + 1, len(stream) * 8))))
        silent = count == 0
        before = here
        inflated += count
    return reversed(places)
