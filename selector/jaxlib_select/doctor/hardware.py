# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which of JAX's platforms have hardware on a machine: what the vendors' rules say, as the doctor needs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from jaxlib_select.choose.policy import CPU
from jaxlib_select.choose.rules import Fit, matching
from jaxlib_select.choose.vendors import find_judge, judge
from jaxlib_select.doctor.predict import BUILT_IN
from jaxlib_select.facts import Backend
from jaxlib_select.installed.environment import Environment
from jaxlib_select.machine.model import NO_DEVICE, STUB, Machine, format_version

# The device nodes by which JAX decides whether to try `cuda` (`jax._src.hardware_utils`).
_NVIDIA_NODES = ("dev/nvidia0", "dev/nvidiactl", "dev/dxg")


def missing_hardware(machine: Machine, backends: Sequence[Backend]) -> dict[str, str]:
    """Return for each platform without hardware why there is none; platforms with hardware are missing."""
    reasons: dict[str, str] = {}
    there = {CPU}
    for backend in backends:
        vendor = backend.select.vendor if backend.select is not None else ""
        if (judge_vendor := find_judge(vendor)) is not None:
            verdict = judge_vendor(machine, backend)
            reasons[backend.family] = verdict.reason
            there |= {backend.family} if verdict.present or verdict.fit is not Fit.NONE else set()
    return {platform: reason for platform, reason in reasons.items() if platform not in there}


def unfit_packages(machine: Machine, backends: Sequence[Backend]) -> dict[str, str]:
    """Return for each distribution whose vendor's hardware is here why its programs do not run on it.

    A platform for which JAX needs no plugin has its own name here.
    """
    verdicts = [(backend, judge(machine, backend)) for backend in backends]
    return {
        name: verdict.reason
        for backend, verdict in verdicts
        if verdict.present and verdict.fit is Fit.NONE
        for name in (backend.distribution, upstream_name(backend.name), backend.family)
        if name != backend.family or name in BUILT_IN
    }


def upstream_name(backend: str) -> str:
    """Return the distribution by which JAX itself publishes a backend.

    >>> upstream_name("cuda12")
    'jax-cuda12-pjrt'
    """
    return f"jax-{backend}-pjrt"


def describe_hardware(machine: Machine, backends: Sequence[Backend]) -> tuple[str, ...]:
    """Return one line for each kind of accelerator that was seen; which devices are accelerators, packages say."""
    devices = _served_devices(backends)
    lines = [_describe_nvidia(gpu.name, gpu.compute_capability) for gpu in machine.nvidia.gpus]
    lines += [f"AMD GPU {architecture}" for architecture in machine.amd.gpus]
    lines += [f"Intel GPU {device}" for device in matching(machine.intel.pci, devices)]
    lines += [f"TPU {device}" for device in matching(machine.tpu.pci, devices)]
    lines += other_devices(machine, backends)
    return tuple(line if count == 1 else f"{count} x {line}" for line, count in Counter(lines).items())


def other_devices(machine: Machine, backends: Sequence[Backend]) -> list[str]:
    """Return the accelerators in `Machine.others`, each after the key of its detector."""
    devices = _served_devices(backends)
    return [f"{key} {device}" for key, found in machine.others.items() for device in matching(found.pci, devices)]


def _served_devices(backends: Sequence[Backend]) -> list[str]:
    return [entry for backend in backends if backend.select is not None for entry in backend.select.devices]


def has_nvidia_node(root: Path) -> bool:
    """Return whether JAX takes this for a machine with an NVIDIA GPU."""
    return any((root / node).exists() for node in _NVIDIA_NODES)


def has_nvidia_driver(machine: Machine) -> bool:
    """Return whether NVIDIA's driver is there and shows a GPU; without one, plugins let JAX continue on the CPU."""
    return machine.nvidia.libcuda != "absent" and machine.nvidia.cuinit not in {NO_DEVICE, STUB}


def find_libtpu(environment: Environment, variables: Mapping[str, str]) -> Path | None:
    """Return the libtpu that JAX would open: the one of `TPU_LIBRARY_PATH`, else that of the package `libtpu`."""
    named = variables.get("TPU_LIBRARY_PATH")
    if named is not None and Path(named).is_file():
        return Path(named)
    return environment.find("libtpu/libtpu.so")


def _describe_nvidia(name: str | None, capability: tuple[int, int] | None) -> str:
    suffix = f", compute capability {format_version(capability)}" if capability is not None else ""
    return f"{name or 'NVIDIA GPU'}{suffix}"
