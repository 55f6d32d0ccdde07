# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Messages as protocol buffers write them: https://protobuf.dev/programming-guides/encoding/."""


def make_varint(value: int) -> bytes:
    """Return a number."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + make_varint(rest) if rest else bytes([low])


def make_field(number: int, data: bytes) -> bytes:
    """Return a field of bytes."""
    return make_varint(number << 3 | 2) + make_varint(len(data)) + data
