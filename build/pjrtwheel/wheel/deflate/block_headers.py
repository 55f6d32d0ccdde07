# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the last block of a deflate stream by the look of its header, from the end backwards.

A block of machine code uses codes of its own for nearly all distances and for most code lengths, so 8 of the first 17
bits of a final block are known. Where they match, zlib is asked to inflate from there. To do so at any bit position,
it is first given a few empty blocks that end at the same bit of a byte.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Iterator

from pjrtwheel.wheel.deflate.block_ends import RAW, clear_bit, find_alignment

# BFINAL 1; BTYPE 2; HLIT any; HDIST 28 or 29; HCLEN 8 or more: least significant bits first (RFC 1951, 3.2.7).
_HEADER = "101......0111...1"
_WINDOWS = (12_000, 24_000, 48_000)  # bytes; half of all last blocks are in the first
_GLANCE = 512
_HISTORY = 1 << 15
# A false header would have to inflate to as many right bytes by chance, and to end with the stream.
_PROOF = 1024

# Two blocks that hold nothing, bit by bit: one with fixed codes (RFC 1951, 3.2.6) of 10 bits, and one of 93 bits whose
# codes are: end of block 0; for their lengths, 1 is 0, 0 is 10, and 18 is 11, twice, for 138 and 118 zeros (3.2.7).
_EVEN = "0100000000"
_ODD = "00100000000000111" + "000" * 2 + "010" * 2 + "000" * 13 + "1001111111111111010110100"
_LEADS = ("", _ODD + _EVEN * 2, _EVEN, _ODD + _EVEN * 3, _EVEN * 2, _ODD, _EVEN * 3, _ODD + _EVEN)


def open_by_header(stream: bytes, chunk: memoryview) -> bytes | None:
    """Clear the final bit of the last block, and align the end; None when the block is not found.

    Args:
        stream: A complete deflate stream.
        chunk: What it inflates to.
    """
    history = bytes(chunk[-_HISTORY:])
    for index, bit in _candidates(stream):
        size = _block_size(stream, index, bit, history)
        if size is not None and _PROOF <= size <= len(chunk):
            before = max(0, len(chunk) - size - _HISTORY)
            tail = clear_bit(memoryview(stream)[index:], 0, 1 << bit)
            inflater = zlib.decompressobj(RAW, zdict=chunk[before : len(chunk) - size])
            inflated = inflater.decompress(_lead_in(tail, bit))
            end = find_alignment(inflater) if inflated == bytes(chunk[len(chunk) - size :]) else None
            if end is not None:
                return b"".join((memoryview(stream)[:index], tail, end))
    return None


def _candidates(stream: bytes) -> Iterator[tuple[int, int]]:
    """Yield each byte and bit where a header may start, those near the end first."""
    end = len(stream)
    for window in _WINDOWS:
        start = max(0, end - window)
        for bit in range(8):
            for match in _pattern(bit).finditer(stream, start, end):
                yield match.start(), bit
        end = start


def _block_size(stream: bytes, index: int, bit: int, history: bytes) -> int | None:
    """Return what a block that starts here inflates to in length; None when it is no block, or not the last.

    Lengths do not depend on history, which is not known before the size is.
    """
    inflater = zlib.decompressobj(RAW, zdict=history)
    try:
        # Most candidates fail at once, so do not copy the rest of the stream for them.
        size = len(inflater.decompress(_lead_in(stream[index : index + _GLANCE], bit)))
        size += len(inflater.decompress(stream[index + _GLANCE :]))
    except zlib.error:
        return None
    return size if inflater.eof and not inflater.unused_data else None


def _lead_in(data: bytes, bit: int) -> bytes:
    """Put empty blocks in front of data, so that zlib reads it from one bit of its first byte on."""
    start, rest = _lead(bit)
    return start + bytes((rest | data[0] >> bit << bit,)) + data[1:]


@functools.cache
def _lead(bit: int) -> tuple[bytes, int]:
    """Return empty blocks that end at this bit of a byte: their whole bytes, and the bits of the last one."""
    bits = _LEADS[bit]
    data = int("0" + bits[::-1], 2).to_bytes(len(bits) // 8 + 1, "little")
    return data[:-1], data[-1]


@functools.cache
def _pattern(bit: int) -> re.Pattern[bytes]:
    """Return an expression for the known bits of a header that starts at this bit of a byte."""
    bits = "." * bit + _HEADER
    first, *others = (_byte_class(bits[at : at + 8]) for at in range(0, len(bits), 8))
    return re.compile(first + b"(?=" + b"".join(others) + b")", re.DOTALL)


def _byte_class(bits: str) -> bytes:
    """Return an expression for the bytes that have these bits, least significant first, any where there is a point."""
    fitting = (byte for byte in range(256) if re.match(bits, f"{byte:08b}"[::-1]))
    return b"[" + b"".join(b"\\x%02x" % byte for byte in fitting) + b"]"
