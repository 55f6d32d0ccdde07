# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the extension's host-callback handlers need from Python: NumPy types, and the text of an exception."""

from __future__ import annotations

from types import FrameType, TracebackType
from typing import Any

# XLA_FFI_DataType (xla/ffi/api/c_api.h) by the name of its NumPy type; those NumPy lacks come from ml_dtypes.
ELEMENT_TYPES = {
    1: "bool",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "uint8",
    7: "uint16",
    8: "uint32",
    9: "uint64",
    10: "float16",
    11: "float32",
    12: "float64",
    15: "complex64",
    16: "bfloat16",
    18: "complex128",
    19: "float8_e5m2",
    20: "float8_e4m3fn",
    21: "int4",
    22: "uint4",
    23: "float8_e4m3b11fnuz",
    24: "float8_e5m2fnuz",
    25: "float8_e4m3fnuz",
    26: "int2",
    27: "uint2",
    28: "float8_e4m3",
    29: "float8_e3m4",
    30: "int1",
    31: "uint1",
    32: "float4_e2m1fn",
    33: "float8_e8m0fnu",
}


def element_dtypes() -> dict[int, Any]:
    """Return the NumPy type of each XLA element type that the installed NumPy and ml_dtypes know."""
    import ml_dtypes
    import numpy as np

    known = {
        number: getattr(np, name, None) or getattr(ml_dtypes, name, None) for number, name in ELEMENT_TYPES.items()
    }
    return {number: np.dtype(kind) for number, kind in known.items() if kind is not None}


def describe_exception(error: BaseException) -> str:
    """Return the message under which a callback's exception reaches the caller of a JAX function.

    It has the form of jaxlib's own CPU client, on which users and JAX's tests rely: all frames from the bottom of the
    thread's stack up to the one that raised, then the type and the text.
    """
    lines = ["CpuCallback error calling callback: "]
    if error.__traceback__ is not None:
        lines[0] += "Traceback (most recent call last):"
        lines += [_describe_frame(frame, line) for frame, line in _frames(error.__traceback__)]
        lines.append(f"{type(error).__name__}: {error}")
    else:
        lines[0] += f"{type(error).__name__}: {error}"
    return "\n".join(lines)


def _describe_frame(frame: FrameType, line: int) -> str:
    return f'  File "{frame.f_code.co_filename}", line {line}, in {frame.f_code.co_name}'


def _frames(traceback: TracebackType) -> list[tuple[FrameType, int]]:
    frames: list[tuple[FrameType, int]] = []
    outer = traceback.tb_frame.f_back
    while outer is not None:
        frames.insert(0, (outer, outer.f_lineno))
        outer = outer.f_back
    at: TracebackType | None = traceback
    while at is not None:
        frames.append((at.tb_frame, at.tb_lineno))
        at = at.tb_next
    return frames
