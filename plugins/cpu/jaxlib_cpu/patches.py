# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What jaxlib's client for plugins leaves out and its built-in CPU client has, put in the place of jaxlib's functions.

`cost_analysis()` of compiled functions reads the optimized program and no device, and jaxlib holds the same code. It
only needs a client of its own: one of jaxlib's is made when the first analysis is asked for.

`jax.dlpack.from_dlpack` makes a copy where memory is not aligned to 64 bytes, as XLA:CPU needs it and NumPy and PyTorch
do not always give it. jaxlib does that in a way that its client for plugins refuses, so the copy is made here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .pjrt import private


def analyse_costs(builtin: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return `LoadedExecutable.cost_analysis` for executables of any client."""
    xla_client = private.jaxlib("xla_client")

    def cost_analysis(executable: Any) -> Any:
        try:
            return builtin(executable)
        except xla_client.XlaRuntimeError as error:
            if executable.client.platform != "cpu" or "UNIMPLEMENTED" not in str(error):
                raise
            modules = executable.hlo_modules()
            if len(modules) != 1:
                raise
            return private.analyse_costs(modules[0])

    return cost_analysis


class _Exporter:
    """An object that exports one DLPack capsule of the host."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        """Return the capsule, whatever was asked for."""
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the host, kDLCPU."""
        return 1, 0


def import_tensor(builtin: Callable[..., Any]) -> Callable[..., Any]:
    """Return jaxlib's `dlpack_managed_tensor_to_buffer` with the copies it leaves out."""
    import numpy as np

    runtime_error = private.jaxlib("xla_client").XlaRuntimeError

    def import_or_copy(capsule: Any, device: Any, stream: Any, copy: bool | None, *rest: Any) -> Any:  # noqa: FBT001
        import jax

        if device.platform != "cpu" or copy is False:
            return builtin(capsule, device, stream, copy, *rest)
        try:
            array = builtin(capsule, device, stream, None, *rest)
        except runtime_error as error:
            if "HostBufferSemantics" not in str(error):
                raise
            try:
                # NumPy's array is a view of the exporter's memory, and device_put may take over what it is given.
                return jax.device_put(np.array(np.from_dlpack(_Exporter(capsule)), order="C", copy=True), device)
            except BufferError:  # a type that NumPy has not, such as bfloat16
                raise error from None
        return jax.numpy.array(array, copy=True) if copy else array

    return import_or_copy
