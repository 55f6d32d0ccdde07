# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask NVIDIA's driver for its version and its GPUs, and explain why it does not answer."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from pathlib import Path

from ..pjrt.errors import DriverError, NoDeviceError
from ..pjrt.preload import Wanted, candidates, places

LIBRARY = Wanted("libcuda.so.1", (), (Path("/usr/lib/wsl/lib"), Path("/usr/local/nvidia/lib64")))

# CUdevice_attribute
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76

NO_DEVICE = 100


@dataclass(frozen=True, slots=True)
class Driver:
    """What the driver says.

    Attributes:
        version: The newest CUDA it can run, such as 13000.
        capabilities: Compute capability of each visible GPU: ten times the major version plus the minor one.
    """

    version: int
    capabilities: tuple[int, ...]


def explain(status: int, visible: str | None) -> DriverError | NoDeviceError:
    """Return the error for a driver that does not start."""
    if status == NO_DEVICE:
        hidden = f" (CUDA_VISIBLE_DEVICES is {visible!r})" if visible is not None else ""
        remedy = "unset CUDA_VISIBLE_DEVICES" if visible is not None else "see whether nvidia-smi lists a GPU"
        return NoDeviceError(f"NVIDIA's driver sees no GPU{hidden}", remedy=remedy, hidden=True)
    # CUresult of cuInit → what it means, and what to do; the selector has the same file.
    known = json.loads(Path(__file__).with_name("cuda_failures.json").read_text("utf-8"))
    said = known.get(str(status), {"cause": "", "remedy": "see whether nvidia-smi works"})
    return DriverError(f"NVIDIA's driver does not start: cuInit failed with status {status}", **said)


def ask_driver(wanted: Wanted, visible: str | None) -> Driver:
    """Open the driver's library and ask it.

    Raises:
        NoDeviceError: There is no driver, or it sees no GPU.
        DriverError: It does not start.
    """
    library = _open(wanted)
    status = library.cuInit(0)
    if status != 0:
        raise explain(status, visible)
    return Driver(_read(library.cuDriverGetVersion), _capabilities(library))


def _open(wanted: Wanted) -> ctypes.CDLL:
    reasons = []
    for name in candidates(wanted):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
    looked = places(wanted.first, wanted.last)
    raise NoDeviceError(
        f"NVIDIA's driver library {wanted.soname} cannot be opened (looked in {looked})",
        cause="; ".join(reasons),
        remedy="install NVIDIA's driver; in Docker: --gpus all",
        hidden=True,
    )


def _read(function: ctypes._NamedFuncPointer, *arguments: int) -> int:
    value = ctypes.c_int()
    status = function(ctypes.byref(value), *arguments)
    if status != 0:
        raise DriverError(f"NVIDIA's driver does not answer: {function.__name__} failed with status {status}")
    return value.value


def _capabilities(library: ctypes.CDLL) -> tuple[int, ...]:
    attribute = library.cuDeviceGetAttribute
    devices = range(_read(library.cuDeviceGetCount))
    return tuple(
        _read(attribute, _CAPABILITY_MAJOR, device) * 10 + _read(attribute, _CAPABILITY_MINOR, device)
        for device in devices
    )
