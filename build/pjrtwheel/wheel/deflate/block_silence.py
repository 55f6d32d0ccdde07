# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the last block of a deflate stream by what zlib emits: nothing, while it reads the code tables of a block."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from pjrtwheel.wheel.deflate.block_ends import RAW, clear_bit, find_alignment

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


def open_by_silence(stream: bytes, chunk: memoryview) -> bytes | None:
    """Clear the final bit of the last block, and align the end; None when the block is not found.

    A few dozen bit positions are near the beginning of each silence, and each is tried: a part is returned only when
    zlib inflates it to the very end of the chunk. Thus the search may miss, but never lie.

    Args:
        stream: A complete deflate stream.
        chunk: What it inflates to.
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
        if glance[index] & mask and _agrees(start, clear_bit(glance, index, mask), chunk):
            tail = clear_bit(view[start.position :], index, mask)
            end = _close(start, tail, bytes(chunk[start.inflated :]))
            if end is not None:
                return b"".join((view[: start.position], tail, end))
    return None


def _agrees(start: _Checkpoint, glance: bytes, chunk: memoryview) -> bool:
    """Tell whether a few bytes inflate as they should; a wrong bit mostly shows at once."""
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
    return find_alignment(inflater)
