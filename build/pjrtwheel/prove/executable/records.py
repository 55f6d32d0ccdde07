# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Riegeli's record files, in which XLA serializes executables: one file may lie inside a record of another.

Source: google/riegeli, doc/riegeli_records_file_format.md. Hashes are not looked at: the bytes come straight from the
process that made them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pjrtwheel.errors import ProofError
from pjrtwheel.prove.executable import snappy
from pjrtwheel.prove.executable.wire import read_varint

# A block header for a first chunk of 64 bytes: hash of the header, previous chunk (0), next chunk (64).
SIGNATURE = bytes.fromhex("83af70d10d884a3f") + bytes(8) + bytes([64]) + bytes(7)
_BLOCK = 1 << 16
_BLOCK_HEADER = 24
_CHUNK_HEADER = struct.Struct("<8xQ8xQQ")  # size of the data, kind and number of records, decoded size
_KINDS = b"smprt"
_SIMPLE, _TRANSPOSED = ord("r"), ord("t")
_UNCOMPRESSED, _SNAPPY = 0, ord("s")


def read_payloads(data: bytes) -> Iterator[bytes]:
    """Yield the records of each file that lies in some bytes, those of a chunk together, and what lies before it.

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
            return  # the file lies inside a message, which goes on behind it
        if kind == _TRANSPOSED:
            raise ProofError("the executable has transposed records, which cannot be read here")
        if kind == _SIMPLE:
            yield _read_values(chunks[position : position + size])
        position += max(size, count - _CHUNK_HEADER.size)  # a chunk takes at least a byte for each record


def _read_values(chunk: bytes) -> bytes:
    """Return the values of a simple chunk: compression, length of the compressed sizes, these, values.

    Raises:
        ProofError: The compression is not known here.
    """
    length, position = read_varint(chunk, 1)
    values = chunk[position + length :]
    if chunk[0] == _UNCOMPRESSED:
        return values
    if chunk[0] == _SNAPPY:
        return snappy.decompress(values[read_varint(values, 0)[1] :])  # the size stands before the stream, too
    raise ProofError(f"the executable is compressed in a way that cannot be read here: {chunk[:1]!r}")
