# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the extension's host-callback handlers need from Python: NumPy types, and the text of an exception."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any


def element_dtypes() -> dict[int, Any]:
    """Return the NumPy type of each XLA element type that the installed NumPy and ml_dtypes know.

    The file has XLA_FFI_DataType (xla/ffi/api/c_api.h) by the name of its NumPy type.
    """
    import ml_dtypes
    import numpy as np

    names = json.loads(Path(__file__).with_name("element_types.json").read_text("utf-8"))
    known = {int(number): getattr(np, name, None) or getattr(ml_dtypes, name, None) for number, name in names.items()}
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
