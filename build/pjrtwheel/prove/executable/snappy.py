# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decompress Snappy's raw format, which XLA packs its executables with.

Source: google/snappy, format_description.txt.
"""

from __future__ import annotations

from pjrtwheel.errors import ProofError
from pjrtwheel.prove.executable.wire import read_varint

_LITERAL = 0


def decompress(data: bytes) -> bytes:
    r"""Return the bytes that were compressed.

    >>> decompress(b"\x0a\x08abc\x0d\x03")  # 'abc', then seven bytes from three back
    b'abcabcabca'

    Raises:
        ProofError: The stream is damaged.
    """
    size, position = read_varint(data, 0)
    output = bytearray()
    while position < len(data):
        tag = data[position]
        if tag & 3 == _LITERAL:
            length, position = _literal_length(data, position)
            output += data[position : position + length]
            position += length
        else:
            length, distance, position = _copy(data, position)
            _repeat(output, length, distance)
        if len(output) > size:
            break
    if len(output) != size:
        raise ProofError(f"a Snappy stream holds {len(output)} bytes or more, its head says {size}")
    return bytes(output)


def _literal_length(data: bytes, position: int) -> tuple[int, int]:
    """Return the length of a literal and where it begins."""
    length = data[position] >> 2
    extra = max(0, length - 59)  # 60 to 63 say that the length stands in one to four bytes
    if extra:
        length = int.from_bytes(data[position + 1 : position + 1 + extra], "little")
    return length + 1, position + 1 + extra


def _copy(data: bytes, position: int) -> tuple[int, int, int]:
    """Return length and distance of a copy, and the position behind it."""
    tag = data[position]
    extra = (0, 1, 2, 4)[tag & 3]
    offset = int.from_bytes(data[position + 1 : position + 1 + extra], "little")
    if extra == 1:
        return 4 + (tag >> 2 & 7), (tag >> 5) << 8 | offset, position + 2
    return 1 + (tag >> 2), offset, position + 1 + extra


def _repeat(output: bytearray, length: int, distance: int) -> None:
    """Append bytes from further back; the two ranges may overlap, which repeats them.

    Raises:
        ProofError: They lie before the beginning.
    """
    if not 0 < distance <= len(output):
        raise ProofError(f"a Snappy stream refers {distance} bytes back, where there are {len(output)}")
    start = len(output) - distance
    pattern = output[start : start + length]
    output += (pattern * (length // len(pattern) + 1))[:length]
