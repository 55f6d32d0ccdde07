# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What both searches for the last block of a deflate stream need: bits cleared, and ends brought to a byte boundary."""

from __future__ import annotations

import zlib

RAW = -15  # a raw deflate stream with the largest window, as zlib counts window sizes
_ALIGNMENTS = (b"\0\0\xff\xff", b"\0\0\0\xff\xff")  # an empty stored block, without and with a first byte of its own
_EMPTY_FINAL = b"\x03\0"  # a final block with fixed codes and nothing in it


def clear_bit(data: bytes | memoryview, index: int, mask: int) -> bytes:
    """Return data with one bit of the byte at `index` cleared."""
    changed = bytearray(data)
    changed[index] &= ~mask
    return bytes(changed)


def find_alignment(inflater: zlib._Decompress) -> bytes | None:
    """Return what brings a stream to a byte boundary, or None when it does not end behind a block.

    An empty stored block begins with 3 header bits, for which the padding of the last byte may or may not have room.

    Args:
        inflater: zlib's state at the end of the stream, which has no final block.
    """
    return next((end for end in _ALIGNMENTS if _is_open(inflater, end)), None)


def _is_open(inflater: zlib._Decompress, end: bytes) -> bool:
    """Tell whether a stream goes on behind these bytes: zlib must read a final block there, and nothing else."""
    probe = inflater.copy()
    try:
        return not probe.decompress(end + _EMPTY_FINAL) and probe.eof and not probe.unused_data
    except zlib.error:
        return False
