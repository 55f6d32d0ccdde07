# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jax.dlpack.from_dlpack` where a copy is needed.

XLA:CPU takes over memory that is aligned to 64 bytes, and NumPy and PyTorch do not always give that. jaxlib then makes
a copy in a way that its client for plugins refuses, so the copy is made here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .pjrt import private


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
    """Return jaxlib's `dlpack_managed_tensor_to_buffer` with the copies it leaves out.

    Args:
        builtin: jaxlib's own function.
    """
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
