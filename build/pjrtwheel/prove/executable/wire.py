# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wire format of protocol buffers, as far as it can be read without a schema."""

from __future__ import annotations

from collections.abc import Iterator

from pjrtwheel.errors import ProofError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    r"""Return a number and the position behind it.

    >>> read_varint(b"\xac\x02", 0)
    (300, 2)

    Raises:
        ProofError: The number does not end.
    """
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ProofError(f"a number at {position} of the executable does not end")


def read_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    r"""Yield number and value of each field of a message, in their order.

    >>> list(read_fields(b"\x08\x04\x12\x04lite"))
    [(1, 4), (2, b'lite')]

    Raises:
        ProofError: The bytes are no message.
    """
    position = 0
    while position < len(data):
        tag, position = read_varint(data, position)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, position = read_varint(data, position)
            yield number, value
            continue
        size, position = read_varint(data, position) if kind == _BYTES else (_SIZES.get(kind, -1), position)
        if size < 0 or position + size > len(data):
            raise ProofError(f"field {number} at {position} of a message reaches beyond its end, or has no known kind")
        yield number, data[position : position + size]
        position += size


def find_field(data: bytes, *path: int) -> bytes:
    """Return the bytes at the end of a path of field numbers; nothing where a message on the way lacks the field."""
    for number in path:
        data = next((value for found, value in read_fields(data) if found == number and isinstance(value, bytes)), b"")
    return data
