# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""For which chips an executable holds code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pjrtwheel.errors import ProofError
from pjrtwheel.prove.executable import cubin
from pjrtwheel.prove.executable.records import read_payloads
from pjrtwheel.prove.executable.wire import find_field, read_varint

_PTX = re.compile(rb"^\.target\s+sm_(\d+[af]?)\b", re.MULTILINE)
_TPU_ABI = b"xla::TpuXlaExecutableAbiVersion"
# Of the head that the client writes: field 9, the executable's ABI; in it 3, a message of any kind: its name and bytes.
_ABI_FIELD, _ANY_FIELD, _NAME_FIELD, _MESSAGE_FIELD = 9, 3, 1, 2
_CHIP_FIELD = 2
_TPU_EXECUTABLE = b"xla.TpuExecutableProto"


def find_code(executable: bytes) -> tuple[str, ...]:
    """Return the chips whose code is in a serialized executable, such as `sm_90a`, `compute_90` or `tpu5`.

    Raises:
        ProofError: The bytes are not laid out as XLA's executables are.
    """
    payloads = list(read_payloads(executable))
    return tuple(sorted({name for payload in payloads for name in _gpu_code(payload)} | set(_tpu_code(payloads))))


def _gpu_code(payload: bytes) -> Iterator[str]:
    """Yield a name for each ELF file and each PTX text for NVIDIA's chips."""
    position = payload.find(cubin.ELF)
    while position >= 0:
        chip = cubin.read_chip(payload, position)
        if chip:
            yield chip
        position = payload.find(cubin.ELF, position + 1)
    for match in _PTX.finditer(payload):
        yield f"compute_{match[1].decode()}"


def _tpu_code(payloads: list[bytes]) -> Iterator[str]:
    """Yield the chip of a TPU's executable, if the head and the executable itself say the same.

    Raises:
        ProofError: They do not.
    """
    head = payloads[0]
    size, start = read_varint(head, 0)
    if _TPU_ABI not in head or start + size != len(head):
        return
    abi = find_field(head[start:], _ABI_FIELD, _ANY_FIELD)
    chip = find_field(abi, _MESSAGE_FIELD, _CHIP_FIELD)
    bodies = payloads[1:]
    if find_field(abi, _NAME_FIELD) != _TPU_ABI or not chip or not any(_TPU_EXECUTABLE in body for body in bodies):
        raise ProofError("the head of a TPU's executable names no chip, or no executable follows it")
    if not any(chip in body for body in bodies):
        raise ProofError("the head of a TPU's executable names another chip than the executable itself")
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
