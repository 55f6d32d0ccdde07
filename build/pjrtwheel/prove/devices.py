# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out whether the accelerator is at hand, by asking JAX and not the machine."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.prove import asking
from pjrtwheel.prove.process import describe_exit, run_process

SOURCE = Path(asking.__file__)
HOST = "cpu"  # JAX's name for the machine itself, which is always at hand

# Classes of the plugins' loaders (plugins/pjrt/loader/errors.py).
NO_DEVICE = "NoDeviceError"
NO_VENDOR_LIBRARY = "VendorLibraryError"

# What a loader may say, or not, of a platform that JAX does not try.
_UNTRIED = ("", "DriverError", NO_VENDOR_LIBRARY)
_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Devices:
    """What JAX has for a plugin.

    Attributes:
        count: Number of devices.
        kind: What the first one calls itself.
        reason: Why there are none.
        error: Class of the error behind the reason, such as `NoDeviceError` of the plugins' loaders.
        tried: Whether JAX tried the platform; it does not where it sees no device node.
    """

    count: int
    kind: str = ""
    reason: str = ""
    error: str = ""
    tried: bool = True

    @property
    def absent(self) -> bool:
        """Tell whether the hardware is not here, which is no fault of the wheel; a crash or another refusal is one."""
        return not self.count and (self.error == NO_DEVICE or (not self.tried and self.error in _UNTRIED))


def find_devices(python: Path, backend: Backend) -> Devices:
    """Ask JAX in the environment of `python` for devices under the name of the plugin.

    The host's are taken for granted: a plugin for it that does not serve must fail its programs, not be passed over.
    """
    if backend.pjrt_name == HOST:
        return Devices(1, HOST)
    with tempfile.TemporaryDirectory(prefix="ask-") as scratch:
        status, output = run_process(
            [str(python), "-I", str(SOURCE), backend.pjrt_name], Path(scratch), _SECONDS, JAX_LOGGING_LEVEL="WARNING"
        )
    if status != 0:
        return Devices(0, reason=f"JAX does not start: {describe_exit(status, _SECONDS)}")
    return parse_answer(output, backend.distribution)


def parse_answer(output: str, distribution: str) -> Devices:
    r"""Return what JAX answered; a reason that the wheel's own loader gives is better than JAX's.

    >>> answer = '{"count": 0, "kind": "", "reason": "Unknown backend cuda"}'
    >>> parse_answer("jaxlib-cuda-13: no NVIDIA GPU found\n" + answer, "jaxlib-cuda-13").reason
    'no NVIDIA GPU found'
    """
    *talk, answer = output.strip().splitlines()
    devices = Devices(**json.loads(answer))
    own = [line.partition(": ")[2] for line in talk if line.startswith(f"{distribution}: ")]
    return replace(devices, reason=own[0]) if own and not devices.count else devices
