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

ELF = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_HEADER_SIZE = 64
EM_CUDA = 190

_HEADER = struct.Struct("<8xB9xH28xI")  # ABI version, e_machine, e_flags
_OLD_ABI = 7
_OLD_ACCELERATED, _ACCELERATED = 0x800, 0x8
# ptxas 13 says in a note how it was called, and no longer marks sm_90a and its like in e_flags.
_CALLED = re.compile(rb"-arch[ =]sm_(\d+)([af]?)\b")

_PTX = re.compile(rb"^\.target\s+sm_(\d+[af]?)\b", re.MULTILINE)
# Of messages as protocol buffers write them, each field after its tag and its length. In the head, the client's own
# words, the message of this name has the chip in its field 2; the executable itself repeats the chip in its field 31.
_TPU_ABI = b"xla::TpuXlaExecutableAbiVersion"
_ABI_CHIP = b"\x12"
# Fields of a chip: 1 is its number, 2 the variant.
_OWN_CHIP = re.compile(rb"\xfa\x01(.)(?=\x08(.)\x12(.))", re.DOTALL)

# A block header for a first chunk of 64 bytes: hash of the header, previous chunk (0), next chunk (64).
SIGNATURE = bytes.fromhex("83af70d10d884a3f") + bytes(8) + bytes([64]) + bytes(7)
_BLOCK = 1 << 16
_BLOCK_HEADER = 24
_CHUNK_HEADER = struct.Struct("<8xQ8xQQ")  # size of the data, kind and number of records, decoded size
_KINDS = b"smprt"
_SIMPLE, _TRANSPOSED = ord("r"), ord("t")
_UNCOMPRESSED, _SNAPPY = 0, ord("s")


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
        yield f"compute_{match[1].decode()}"


def _tpu_code(head: bytes, body: list[bytes]) -> Iterator[str]:
    """Yield the chip of a TPU's executable, which the head and the executable itself must agree on.

    It is libtpu's own number of a chip and its variant: what is sold as v5e is 4, lite.
    """
    _, is_tpu, abi = head.partition(_TPU_ABI)
    if not is_tpu:
        return
    for part in body:
        for match in _OWN_CHIP.finditer(part):
            size, number, variant_size = (group[0] for group in match.groups())
            chip = part[match.end() : match.end() + size]
            if _ABI_CHIP + match[1] + chip in abi:
                variant = chip[4 : 4 + variant_size].decode()
                yield f"tpu{number}-{variant}" if variant else f"tpu{number}"
                return
    raise ProofError("the head of a TPU's executable names no chip, or another one than the executable itself")


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
    return f"sm_{number}{suffix}"


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
        try:
            stream = values[read_varint(values, 0)[1] :]  # the size is before the stream, too
            return bytes(cramjam.snappy.decompress_raw(stream))
        except cramjam.DecompressionError as error:
            raise ProofError("the executable is damaged: not a Snappy stream", cause=str(error)) from error
    raise ProofError(f"the executable is compressed in a way that cannot be read here: {chunk[:1]!r}")


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
