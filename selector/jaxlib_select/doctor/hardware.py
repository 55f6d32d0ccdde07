# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which of JAX's platforms have hardware on a machine, as far as the machine's description says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Callable

from jaxlib_select.doctor.environment import Environment
from jaxlib_select.machine import Machine, format_version

# The device nodes by which JAX decides whether to try `cuda` (`jax._src.hardware_utils`).
NVIDIA_NODES = ("dev/nvidia0", "dev/nvidiactl", "dev/dxg")

# Google's network card in the cloud, which is no accelerator.
_NETWORK_CARD = "1ae0:0042"


def missing_hardware(machine: Machine) -> dict[str, str]:
    """Return for each platform without hardware why there is none; platforms with hardware are missing."""
    reasons = {platform: explain(machine) for platform, explain in _EXPLAIN.items()}
    return {platform: reason for platform, reason in reasons.items() if reason}


def describe_hardware(machine: Machine) -> tuple[str, ...]:
    """Return one line for each kind of accelerator that was seen."""
    lines = [_describe_nvidia(gpu.name, gpu.compute_capability) for gpu in machine.nvidia.gpus]
    lines += [f"AMD GPU {architecture}" for architecture in machine.amd.gpus]
    lines += [f"Intel display device {device}" for device in machine.intel.pci]
    lines += [f"Google device {device}" for device in machine.tpu.pci if device != _NETWORK_CARD]
    return tuple(line if count == 1 else f"{count} x {line}" for line, count in Counter(lines).items())


def has_nvidia_node(root: Path) -> bool:
    """Return whether JAX takes this for a machine with an NVIDIA GPU."""
    return any((root / node).exists() for node in NVIDIA_NODES)


def find_libtpu(environment: Environment, variables: Mapping[str, str]) -> Path | None:
    """Return the libtpu that JAX would open: the one of `TPU_LIBRARY_PATH`, else that of the package `libtpu`."""
    named = variables.get("TPU_LIBRARY_PATH")
    if named is not None and Path(named).is_file():
        return Path(named)
    return environment.find("libtpu/libtpu.so")


def _describe_nvidia(name: str | None, capability: tuple[int, int] | None) -> str:
    suffix = f", compute capability {format_version(capability)}" if capability is not None else ""
    return f"{name or 'NVIDIA GPU'}{suffix}"


def _no_nvidia(machine: Machine) -> str:
    if machine.nvidia.gpus and machine.nvidia.cuinit in (None, 0):
        return ""
    if machine.nvidia.gpus:
        return f"NVIDIA's driver does not start: cuInit failed with status {machine.nvidia.cuinit}"
    return "no NVIDIA GPU that a program can use was found"


def _no_amd(machine: Machine) -> str:
    if machine.amd.gpus and machine.amd.accessible is False:
        return "the AMD GPU may not be opened by this user (groups render and video)"
    return "" if machine.amd.gpus else "no AMD GPU was found"


def _no_intel(machine: Machine) -> str:
    if machine.intel.pci and not machine.intel.level_zero:
        return "an Intel GPU is there, but not Level Zero (libze_loader.so.1)"
    return "" if machine.intel.pci else "no Intel GPU was found"


def _no_tpu(machine: Machine) -> str:
    chips = [device for device in machine.tpu.pci if device != _NETWORK_CARD]
    return "" if chips else "no TPU was found"


_EXPLAIN: Mapping[str, Callable[[Machine], str]] = {
    "cuda": _no_nvidia,
    "rocm": _no_amd,
    "oneapi": _no_intel,
    "tpu": _no_tpu,
}
