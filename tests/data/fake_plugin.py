# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the handlers that `_pjrt` registers with fake_plugin.c, from the Python that has the wheels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib_cpu.pjrt import _pjrt, callbacks

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

_HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

TOKEN = 17
NUMBER_OF = {str(dtype): number for number, dtype in callbacks.element_dtypes().items()}


class Buffer(ctypes.Structure):
    """XLA_FFI_Buffer."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    )


def claim(*dims: int, rank: int | None = None) -> Buffer:
    """Return a buffer of bytes with any dimensions, whether or not there can be such a one."""
    buffer = Buffer(dtype=NUMBER_OF["int8"], rank=len(dims) if rank is None else rank)
    buffer.dims = (ctypes.c_int64 * len(dims))(*dims)
    return buffer


class FakePlugin:
    """An opened fake plugin with the host-callback handler registered under the name `call`."""

    def __init__(self, path: str) -> None:
        """Open the library through the extension, and once more to reach what is for tests only."""
        self.path = path
        self.api = _pjrt.load(path)
        self.library = ctypes.CDLL(path)
        self.library.fake_call.argtypes = (
            *(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int64, ctypes.POINTER(Buffer)),
            *(ctypes.c_int64, ctypes.POINTER(Buffer), ctypes.c_char_p),
        )
        self.dtypes, self.describe = callbacks.element_dtypes(), callbacks.describe_exception
        self._kept: list[Any] = []  # functions that capsules are around
        self.type_id = self.bind("fake_jaxlib_handler")

    def capsule(self, function: str) -> Any:
        """Return a capsule around one of the library's functions, as `jax.ffi.pycapsule` makes it."""
        return _new_capsule(ctypes.cast(getattr(self.library, function), ctypes.c_void_p), None, None)

    def newer_handler(self) -> Any:
        """Return a capsule around a function of its own address that passes its calls on to `fake_newer_handler`."""
        function = _HANDLER(_HANDLER(("fake_newer_handler", self.library)))
        self._kept.append(function)
        return _new_capsule(ctypes.cast(function, ctypes.c_void_p), None, None)

    def bind(self, probe: str, **changes: Any) -> int:
        """Register the host-callback handlers, with other values for the arguments that `changes` names."""
        arguments = {"names": ("call",), "dtypes": self.dtypes, "describe": self.describe} | changes
        names, dtypes, describe = arguments["names"], arguments["dtypes"], arguments["describe"]
        return _pjrt.register_host_callbacks(self.api, names, "Host", self.capsule(probe), dtypes, describe)

    def call(
        self,
        function: Callable[..., Any] | None,
        arguments: Sequence[np.ndarray | Buffer | None],
        results: Sequence[np.ndarray | Buffer | None],
        index: int = 0,
    ) -> str:
        """Run the handler on buffers of arrays (None is a token) and return the error's text."""
        message = ctypes.create_string_buffer(4000)
        callable_ = ctypes.c_void_p(id(function)) if function is not None else None
        args, rets = self._buffers(arguments), self._buffers(results)
        self.library.fake_call(b"call", callable_, index, len(arguments), args, len(results), rets, message)
        return message.value.decode()

    @staticmethod
    def _buffers(arrays: Sequence[np.ndarray | Buffer | None]) -> Any:
        buffers = (Buffer * 8)()
        for i, array in enumerate(arrays):
            buffer = buffers[i]
            if isinstance(array, Buffer):
                buffers[i] = array
                continue
            if array is None:
                buffer.dtype = TOKEN
                continue
            buffer.dtype = NUMBER_OF[str(array.dtype)]
            buffer.data = array.ctypes.data
            buffer.rank = array.ndim
            buffer.dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        return buffers
