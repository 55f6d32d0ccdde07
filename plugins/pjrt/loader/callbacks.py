# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the extension's host-callback handlers need from Python: NumPy types, and the text of an exception."""

from __future__ import annotations

import traceback
from typing import Any

# XLA_FFI_DataType (xla/ffi/api/c_api.h) by the name of its NumPy type; those NumPy lacks come from ml_dtypes.
_ELEMENT_TYPES = {
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
        number: getattr(np, name, None) or getattr(ml_dtypes, name, None) for number, name in _ELEMENT_TYPES.items()
    }
    return {number: np.dtype(kind) for number, kind in known.items() if kind is not None}


def describe_exception(error: BaseException) -> str:
    """Return the message under which a callback's exception reaches the caller of a JAX function.

    It has the form of jaxlib's own CPU client, on which users and JAX's tests rely: all frames from the bottom of the
    thread's stack up to the one that raised, then the type and the text.
    """
    raised = f"{type(error).__name__}: {error}"
    prefix = "CpuCallback error calling callback: "
    if error.__traceback__ is None:
        return prefix + raised
    outer = error.__traceback__.tb_frame.f_back
    callers = list(traceback.walk_stack(outer)) if outer is not None else []
    frames = [*reversed(callers), *traceback.walk_tb(error.__traceback__)]
    places = [f'  File "{frame.f_code.co_filename}", line {line}, in {frame.f_code.co_name}' for frame, line in frames]
    return "\n".join([f"{prefix}Traceback (most recent call last):", *places, raised])
