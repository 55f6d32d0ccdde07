# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out whether the accelerator is here and the plugin library opens, and which level of proof that allows.

JAX is asked, or the plugin's own loader, and not the machine. A level is claimed only when a program that shows it has
run: nothing is inferred from another wheel or machine.
"""

import json
import platform
import re
from dataclasses import dataclass, replace
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.processes import run_process
from pjrtwheel.errors import ProofError
from pjrtwheel.probe.plugin import ProbeOutcome, ProbeResult
from pjrtwheel.prove.inside import devices as inside
from pjrtwheel.record.proofs import Level, ProofMachine

_INSIDE = Path(inside.__file__)

# Classes of the plugins' loaders (plugins/pjrt/loader/errors.py).
NO_DEVICE = "NoDeviceError"
_NO_DRIVER = "DriverError"
_NO_CODE = "GpuCodeError"
_NO_VENDOR_LIBRARY = "VendorLibraryError"

# No fault of a wheel: there is no accelerator, it is one that the wheel has no code for, or its driver is too old.
_MACHINE = (NO_DEVICE, _NO_DRIVER, _NO_CODE)

# What a loader may say, or not, of a platform that JAX does not try.
_UNTRIED = ("", _NO_VENDOR_LIBRARY)
_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Devices:
    """What JAX has for a plugin.

    Attributes:
        kind: What the first device calls itself.
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
    def excused(self) -> bool:
        """Whether hardware or driver of this machine is why there are none; a crash or another refusal is not."""
        return not self.count and (self.error in _MACHINE or (not self.tried and self.error in _UNTRIED))

    @property
    def lacks_vendor_library(self) -> bool:
        """Whether there is a device, and only the vendor's libraries are missing that come as wheels."""
        return self.tried and self.error == _NO_VENDOR_LIBRARY


def find_devices(python: Path, backend: Backend | None) -> Devices:
    """Ask JAX in the environment of `python` for devices under the name of the plugin; bindings alone have none.

    The host's are taken for granted: a plugin for it that does not work must fail its programs, not be passed over.
    """
    if backend is None:
        return Devices(0)
    if backend.is_cpu:
        return Devices(1, backend.pjrt_name)
    command = [str(python), "-I", str(_INSIDE), backend.pjrt_name]
    end = run_process(command, _SECONDS, variables={"JAX_LOGGING_LEVEL": "WARNING"})
    if end.status != 0:
        return Devices(0, reason=f"JAX does not start: {end.describe()}")
    return parse_answer(end.output, backend.distribution)


def parse_answer(output: str, distribution: str) -> Devices:
    r"""Return what JAX answered; a reason that the wheel's own loader gives is better than JAX's.

    >>> answer = '{"count": 0, "kind": "", "reason": "Unknown backend cuda"}'
    >>> parse_answer("jaxlib-cuda-13: no NVIDIA GPU found; JAX goes on without it\n" + answer, "jaxlib-cuda-13").reason
    'no NVIDIA GPU found'
    """
    *talk, answer = output.strip().splitlines()
    devices = Devices(**json.loads(answer))
    # Behind the reason the loader says what that means for JAX.
    own = [line.partition(": ")[2].partition("; JAX ")[0] for line in talk if line.startswith(f"{distribution}: ")]
    return replace(devices, reason=own[0]) if own and not devices.count else devices


_CPUINFO = Path("/proc/cpuinfo")


def find_machine(python: Path, backend: Backend | None, devices: Devices) -> ProofMachine:
    """Describe this machine, and the devices that JAX has there; the plugin's loader is asked for their driver."""
    here = ProofMachine(platform.platform(), find_processor(_CPUINFO))
    if backend is None or not devices.count:
        return here
    driver = "" if backend.is_cpu else ask_driver(python, backend)
    return ProofMachine(here.system, here.processor, devices.kind, devices.count, driver)


def find_processor(cpuinfo: Path) -> str:
    """Return what the processor calls itself in the kernel's list (proc(5)), or else its architecture."""
    text = cpuinfo.read_text("utf-8", "replace") if cpuinfo.is_file() else ""
    match = re.search(r"^model name\s*:\s*(\S.*)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def ask_driver(python: Path, backend: Backend) -> str:
    """Return what `python -m <package> --json` says of the driver; nothing where it does not answer."""
    command = [str(python), "-I", "-m", backend.package, "--json"]
    end = run_process(command, _SECONDS)
    start = re.search(r"^\{", end.output, re.MULTILINE)  # warnings may surround the answer
    try:
        document, _ = json.JSONDecoder().raw_decode(end.output, start.start() if start else 0)
        return str(document["vendor"]["driver"] or "")
    except (ValueError, KeyError, TypeError):
        return ""


# The dynamic linker's words for a library that another one needs; of the plugin itself it would give the path.
_MISSING = re.compile(r"lib[^/\s]+: cannot open shared object file")


# Of a wheel without a library.
NOTHING_OPENED = ProbeResult(ProbeOutcome.NOT_OPENED)


@dataclass(frozen=True, slots=True)
class ProofPlan:
    """How far the evidence can go here.

    Attributes:
        level: The highest level that can be shown.
        missed: Why each higher one cannot.
        failure: What is wrong, where the machine does not excuse it; empty otherwise.
    """

    level: Level
    missed: tuple[str, ...] = ()
    failure: str = ""


def choose_level(name: str, devices: Devices, opened: ProbeResult, *, targets: bool) -> ProofPlan:
    """Return how a plugin is to be proven: on a device, else ahead of time, else by opening the library.

    Only hardware or a driver that is not here, or cannot run it, excuses that there is no device, and only a library of
    the vendor's that is not here that the plugin does not open.
    """
    if devices.count:
        return ProofPlan(Level.DEVICE)
    missed: tuple[str, ...] = (f"{Level.DEVICE}: {devices.reason}",)
    if not devices.excused:
        return ProofPlan(Level.STATIC, missed, failure=devices.reason)
    if targets:
        return ProofPlan(Level.AOT, missed)
    missed += (f"{Level.AOT}: {name} has no targets that could be compiled for without the accelerator",)
    if opened.pjrt_api:
        return ProofPlan(Level.LOAD, missed)
    missed += (f"{Level.LOAD}: {opened.reason}",)
    return ProofPlan(Level.STATIC, missed, failure="" if _MISSING.match(opened.reason) else opened.reason)


def require_device(devices: Devices, backend: Backend, *, emulated: bool = False) -> None:
    """Refuse to call anything a proof on a device where there is none; an emulated machine never has one.

    Raises:
        ProofError: There is none.
    """
    if not devices.count and not emulated:
        raise ProofError(
            f"no {backend.pjrt_name} device on this machine",
            cause=devices.reason,
            remedy=f"run it where there is one; without, ./noxw build_{backend.name} shows what can be shown",
        )
