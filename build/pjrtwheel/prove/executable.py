# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read which chip's machine code a serialized PJRT executable holds, from its bytes alone.

NVIDIA documents no e_flags; what is here was seen in the output of ptxas 12.9 and 13.5 for every chip they know.
XLA serializes executables as Riegeli's record files, compressed with Snappy, of protocol buffers. Source:
google/riegeli, doc/riegeli_records_file_format.md. One record file may be inside a record of another. Hashes are not
looked at: the bytes come straight from the process that made them.
"""

import re
import struct
from collections.abc import Iterator

import cramjam

from pjrtwheel.errors import ProofError
from pjrtwheel.gpucode import NvidiaTarget

ELF = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_HEADER_SIZE = 64
EM_CUDA = 190

_HEADER = struct.Struct("<8xB9xH28xI")  # ABI version, e_machine, e_flags
_OLD_ABI = 7
_OLD_ACCELERATED, _ACCELERATED = 0x800, 0x8
# ptxas 13 says in a note how it was called, and no longer marks sm_90a and its like in e_flags.
_CALLED = re.compile(rb"-arch[ =]sm_(\d+)([af]?)\b")

_PTX = re.compile(rb"^\.target\s+sm_(\d+)(\d)([af]?)\b", re.MULTILINE)
# Of the head that the client writes: field 9, the executable's ABI; in it 3, a message of any kind: its name and bytes.
_ABI_FIELD, _ANY_FIELD, _MESSAGE_FIELD = 9, 3, 2
_TPU_ABI = b"xla::TpuXlaExecutableAbiVersion"
_CHIP_FIELD = 2
# The executable itself repeats the chip in its field 31: tag and length are before it.
_OWN_CHIP = b"\xfa\x01"

# A block header for a first chunk of 64 bytes: hash of the header, previous chunk (0), next chunk (64).
SIGNATURE = bytes.fromhex("83af70d10d884a3f") + bytes(8) + bytes([64]) + bytes(7)
_BLOCK = 1 << 16
_BLOCK_HEADER = 24
_CHUNK_HEADER = struct.Struct("<8xQ8xQQ")  # size of the data, kind and number of records, decoded size
_KINDS = b"smprt"
_SIMPLE, _TRANSPOSED = ord("r"), ord("t")
_UNCOMPRESSED, _SNAPPY = 0, ord("s")

# Protocol buffers.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}


def find_code(executable: bytes) -> tuple[str, ...]:
    """Return the chips whose code is in a serialized executable, such as `sm_90a`, `compute_90` or `tpu5`.

    Raises:
        ProofError: The bytes are not laid out as XLA's executables are.
    """
    size, start = read_varint(executable, 0)
    head, body = executable[start : start + size], list(read_payloads(executable[start + size :]))
    return tuple(sorted({name for part in body for name in _gpu_code(part)} | set(_tpu_code(head, body))))


def _gpu_code(part: bytes) -> Iterator[str]:
    """Yield a name for each ELF file and each PTX text for NVIDIA's chips."""
    position = part.find(ELF)
    while position >= 0:
        chip = read_chip(part, position)
        if chip:
            yield chip
        position = part.find(ELF, position + 1)
    for match in _PTX.finditer(part):
        yield str(NvidiaTarget("compute", int(match[1]), int(match[2]), match[3].decode()))


def _tpu_code(head: bytes, body: list[bytes]) -> Iterator[str]:
    """Yield the chip of a TPU's executable, which the head and the executable itself must agree on."""
    if _TPU_ABI not in head:
        return
    chip = find_field(head, _ABI_FIELD, _ANY_FIELD, _MESSAGE_FIELD, _CHIP_FIELD)
    if not chip or not any(_OWN_CHIP + bytes([len(chip)]) + chip in part for part in body):
        raise ProofError("the head of a TPU's executable names no chip, or another one than the executable itself")
    yield _describe_tpu(chip)


def _describe_tpu(chip: bytes) -> str:
    r"""Return libtpu's own number of a chip and its variant: what is sold as v5e is 4, lite.

    >>> _describe_tpu(b"\x08\x04\x12\x04lite\x1a\x07default")
    'tpu4-lite'
    >>> _describe_tpu(b"\x08\x05\x12\x00\x1a\x07default")
    'tpu5'
    """
    number, _ = read_varint(chip, 1)
    variant = find_field(chip, 2).decode()
    return f"tpu{number}" + (f"-{variant}" if variant else "")


def read_chip(data: bytes, position: int) -> str | None:
    """Return the chip of the ELF file at a position, such as `sm_90a`; nothing if it is no file for NVIDIA's."""
    header = data[position : position + _HEADER_SIZE]
    if len(header) < _HEADER_SIZE or not header.startswith(ELF):
        return None
    abi, machine, flags = _HEADER.unpack_from(header)
    if machine != EM_CUDA:
        return None
    old = abi <= _OLD_ABI
    number = flags & 0xFF if old else flags >> 8 & 0xFF
    suffix = "a" if flags & (_OLD_ACCELERATED if old else _ACCELERATED) else ""
    end = data.find(ELF, position + _HEADER_SIZE)
    called = _CALLED.search(data, position, end if end >= 0 else len(data))
    if called and int(called[1]) == number:
        suffix = called[2].decode()
    return str(NvidiaTarget("sm", number // 10, number % 10, suffix))


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
        return _decompress(values[read_varint(values, 0)[1] :])  # the size is before the stream, too
    raise ProofError(f"the executable is compressed in a way that cannot be read here: {chunk[:1]!r}")


def _decompress(stream: bytes) -> bytes:
    try:
        return bytes(cramjam.snappy.decompress_raw(stream))
    except cramjam.DecompressionError as error:
        raise ProofError("the executable is damaged: not a Snappy stream", cause=str(error)) from error


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
