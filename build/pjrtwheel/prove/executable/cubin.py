# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The chip that an ELF file of a GPU is for, from its header.

NVIDIA documents no e_flags; what stands here was seen in the output of ptxas 12.9 and 13.5 for every chip they know.
"""

from __future__ import annotations

import re
import struct

from pjrtwheel.gpucode import NvidiaTarget

ELF = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
HEADER_SIZE = 64
EM_CUDA = 190

_HEADER = struct.Struct("<8xB9xH28xI")  # ABI version, e_machine, e_flags
_OLD_ABI = 7
_OLD_ACCELERATED, _ACCELERATED = 0x800, 0x8
# ptxas 13 says in a note how it was called, and no longer marks sm_90a and its like in e_flags.
_CALLED = re.compile(rb"-arch[ =]sm_(\d+)([af]?)\b")


def read_chip(data: bytes, position: int) -> str | None:
    """Return the chip of the ELF file at a position, such as `sm_90a`; nothing if it is no file for NVIDIA's.

    Args:
        data: Bytes that hold the file.
        position: Where its magic number stands.
    """
    header = data[position : position + HEADER_SIZE]
    if len(header) < HEADER_SIZE or not header.startswith(ELF):
        return None
    abi, machine, flags = _HEADER.unpack_from(header)
    if machine != EM_CUDA:
        return None
    old = abi <= _OLD_ABI
    number = flags & 0xFF if old else flags >> 8 & 0xFF
    suffix = "a" if flags & (_OLD_ACCELERATED if old else _ACCELERATED) else ""
    end = data.find(ELF, position + HEADER_SIZE)
    called = _CALLED.search(data, position, end if end >= 0 else len(data))
    if called and int(called[1]) == number:
        suffix = called[2].decode()
    return str(NvidiaTarget("sm", number // 10, number % 10, suffix))
