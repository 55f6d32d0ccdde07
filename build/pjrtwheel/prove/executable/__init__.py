# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read which chip's machine code a serialized PJRT executable holds, from its bytes alone.

NVIDIA documents no e_flags; what is here was seen in the output of ptxas 12.9 and 13.5 for every chip they know.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from pjrtwheel.errors import ProofError
from pjrtwheel.gpucode import NvidiaTarget
from pjrtwheel.prove.executable.formats import find_field, read_payloads, read_varint

__all__ = ["find_code"]

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
