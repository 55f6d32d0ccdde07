# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The formats in which XLA serializes executables: Riegeli's record files, Snappy, and protocol buffers.

Sources: google/riegeli, doc/riegeli_records_file_format.md; google/snappy, format_description.txt. One record file may
be inside a record of another. Hashes are not looked at: the bytes come straight from the process that made them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pjrtwheel.errors import ProofError

# A block header for a first chunk of 64 bytes: hash of the header, previous chunk (0), next chunk (64).
SIGNATURE = bytes.fromhex("83af70d10d884a3f") + bytes(8) + bytes([64]) + bytes(7)
_BLOCK = 1 << 16
_BLOCK_HEADER = 24
_CHUNK_HEADER = struct.Struct("<8xQ8xQQ")  # size of the data, kind and number of records, decoded size
_KINDS = b"smprt"
_SIMPLE, _TRANSPOSED = ord("r"), ord("t")
_UNCOMPRESSED, _SNAPPY = 0, ord("s")

# Snappy.
_LITERAL = 0

# Protocol buffers.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}


def read_payloads(data: bytes) -> Iterator[bytes]:
    """Yield the records of each file in some bytes, those of a chunk together, and what is before it.

    A record that is or holds a file itself is replaced by what is in that one.

    Raises:
        ProofError: The file uses a compression that is not known here, or is damaged.
    """
    start = data.find(SIGNATURE)
    if start < 0:
        yield data
        return
    yield data[:start]
    for values in _read_chunks(_without_block_headers(data[start:])):
        yield from read_payloads(values)


def _without_block_headers(file: bytes) -> bytes:
    """Return the chunks in one piece; at each multiple of 64 KiB a header interrupts them."""
    return b"".join(file[block + _BLOCK_HEADER : block + _BLOCK] for block in range(0, len(file), _BLOCK))


def _read_chunks(chunks: bytes) -> Iterator[bytes]:
    """Yield the values of each chunk of records, up to the end of the file or to bytes that belong to no chunk."""
    position = 0
    while position + _CHUNK_HEADER.size <= len(chunks):
        size, kind_and_count, _ = _CHUNK_HEADER.unpack_from(chunks, position)
        kind, count = kind_and_count & 0xFF, kind_and_count >> 8
        position += _CHUNK_HEADER.size
        if kind not in _KINDS or position + size > len(chunks):
            return  # the file is inside a message, which goes on behind it
        if kind == _TRANSPOSED:
            raise ProofError("the executable has transposed records, which cannot be read here")
        if kind == _SIMPLE:
            yield _read_values(chunks[position : position + size])
        position += max(size, count - _CHUNK_HEADER.size)  # a chunk takes at least a byte for each record


def _read_values(chunk: bytes) -> bytes:
    """Return the values of a simple chunk: compression, length of the compressed sizes, these, values."""
    length, position = read_varint(chunk, 1)
    values = chunk[position + length :]
    if chunk[0] == _UNCOMPRESSED:
        return values
    if chunk[0] == _SNAPPY:
        return decompress_snappy(values[read_varint(values, 0)[1] :])  # the size is before the stream, too
    raise ProofError(f"the executable is compressed in a way that cannot be read here: {chunk[:1]!r}")


def decompress_snappy(data: bytes) -> bytes:
    r"""Return the bytes that were compressed in Snappy's raw format.

    >>> decompress_snappy(b"\x0a\x08abc\x0d\x03")  # 'abc', then seven bytes from three back
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
    length = data[position] >> 2
    extra = max(0, length - 59)  # 60 to 63 say that the length is in one to four bytes
    if extra:
        length = int.from_bytes(data[position + 1 : position + 1 + extra], "little")
    return length + 1, position + 1 + extra


def _copy(data: bytes, position: int) -> tuple[int, int, int]:
    tag = data[position]
    extra = (0, 1, 2, 4)[tag & 3]
    offset = int.from_bytes(data[position + 1 : position + 1 + extra], "little")
    if extra == 1:
        return 4 + (tag >> 2 & 7), (tag >> 5) << 8 | offset, position + 2
    return 1 + (tag >> 2), offset, position + 1 + extra


def _repeat(output: bytearray, length: int, distance: int) -> None:
    """Append bytes from further back; the two ranges may overlap, which repeats them."""
    if not 0 < distance <= len(output):
        raise ProofError(f"a Snappy stream refers {distance} bytes back, where there are {len(output)}")
    start = len(output) - distance
    pattern = output[start : start + length]
    output += (pattern * (length // len(pattern) + 1))[:length]


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
