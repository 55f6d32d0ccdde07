# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""For which chips an executable holds code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pjrtwheel.errors import ProofError
from pjrtwheel.gpucode import NvidiaTarget
from pjrtwheel.prove.executable import cubin
from pjrtwheel.prove.executable.records import read_payloads
from pjrtwheel.prove.executable.wire import find_field, read_varint

_PTX = re.compile(rb"^\.target\s+sm_(\d+)(\d)([af]?)\b", re.MULTILINE)
# Of the head that the client writes: field 9, the executable's ABI; in it 3, a message of any kind: its name and bytes.
_ABI_FIELD, _ANY_FIELD, _MESSAGE_FIELD = 9, 3, 2
_TPU_ABI = b"xla::TpuXlaExecutableAbiVersion"
_CHIP_FIELD = 2
# The executable itself repeats the chip in its field 31: tag and length stand before it.
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
    position = part.find(cubin.ELF)
    while position >= 0:
        chip = cubin.read_chip(part, position)
        if chip:
            yield chip
        position = part.find(cubin.ELF, position + 1)
    for match in _PTX.finditer(part):
        yield str(NvidiaTarget("compute", int(match[1]), int(match[2]), match[3].decode()))


def _tpu_code(head: bytes, body: list[bytes]) -> Iterator[str]:
    """Yield the chip of a TPU's executable, if the head and the executable itself say the same.

    Raises:
        ProofError: They do not.
    """
    if _TPU_ABI not in head:
        return
    chip = find_field(head, _ABI_FIELD, _ANY_FIELD, _MESSAGE_FIELD, _CHIP_FIELD)
    if not chip or not any(_OWN_CHIP + bytes([len(chip)]) + chip in part for part in body):
        raise ProofError("the head of a TPU's executable names no chip, or another one than the executable itself")
    yield describe_tpu(chip)


def describe_tpu(chip: bytes) -> str:
    r"""Return libtpu's own number of a chip and its variant: what is sold as v5e is 4, lite.

    >>> describe_tpu(b"\x08\x04\x12\x04lite\x1a\x07default")
    'tpu4-lite'
    >>> describe_tpu(b"\x08\x05\x12\x00\x1a\x07default")
    'tpu5'
    """
    number, _ = read_varint(chip, 1)
    variant = find_field(chip, 2).decode()
    return f"tpu{number}" + (f"-{variant}" if variant else "")
