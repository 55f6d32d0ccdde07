# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which NVIDIA GPU runs which code, whether its driver works, and what to do if not.

The rules for code are those of the CUDA C++ Programming Guide, "Application Compatibility".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.machine.model import NO_DEVICE, STUB, Machine, Version, format_version
from jaxlib_select.versions import at_least

Capability = tuple[int, int]

# Compute capabilities that exist in Tegra chips only: Erista, Parker, Xavier, Orin, and Thor under CUDA 12 and 13.
TEGRA = frozenset({(5, 3), (6, 2), (7, 2), (8, 7), (10, 1), (11, 0)})

_CODE = re.compile(r"(sm|compute)_(\d{1,2})(\d)([af]?)")

# CUDA major version → driver branches on Linux (CUDA release notes, table 3; JAX's installation guide). No driver after
# 580 serves the GPUs that CUDA 13 does not.
_BRANCHES = {12: "a version from 525 to 580", 13: "580 or newer"}
_CONTAINER = "start the container with its GPUs (docker run --gpus all, and NVIDIA_DRIVER_CAPABILITIES=compute,utility)"


def is_tegra(capability: Capability | None, *, tegra: bool) -> bool:
    """Return whether a GPU is part of a Tegra chip, as far as the system or its compute capability says."""
    return tegra or capability in TEGRA


def runs(
    capability: Capability,
    code: Iterable[str],
    *,
    tegra: bool,
    cuda: Version | None,
    driver: Version | None,
    toolkit: Version | None,
    oldest: Version | None = None,
) -> bool:
    """Return whether a GPU runs any of the code in a wheel, such as `sm_90`, `sm_90a` or `compute_120`.

    `driver` is the oldest one that the wheel works with; an older one is a problem of its own. `toolkit` made the PTX;
    if it is unknown, no driver is sure to compile that. Below `oldest`, whoever made the wheel does not let it run.
    """
    if oldest and not at_least(capability, oldest):
        return False
    if is_tegra(capability, tegra=tegra):
        return any(found == ("sm", capability, "") for found in map(_parse, code))
    # What a driver update would bring must not be called missing code.
    reached = max(cuda or (0,), driver or (0,))
    compiles = toolkit is not None and at_least(reached, toolkit)
    return any(_fits(capability, name, compiles=compiles) for name in code)


def _parse(name: str) -> tuple[str, Capability, str] | None:
    """Split the name of a target; None for another vendor's."""
    found = _CODE.fullmatch(name)
    if found is None:
        return None
    return found.group(1), (int(found.group(2)), int(found.group(3))), found.group(4)


def _fits(capability: Capability, name: str, *, compiles: bool) -> bool:
    """Return whether a GPU that is no Tegra runs code of one target."""
    parsed = _parse(name)
    if parsed is None:
        return False
    kind, target, suffix = parsed
    # There is no binary compatibility between Tegra and the others, in neither direction.
    if (kind == "sm" and target in TEGRA) or (kind == "compute" and not compiles):
        return False
    if suffix == "a":
        return capability == target  # architecture-specific: that one only
    if kind == "sm" or suffix == "f":
        return capability[0] == target[0] and capability[1] >= target[1]
    return capability >= target


@dataclass(frozen=True)
class DriverProblem:
    """Why no CUDA program works here.

    Attributes:
        hardware: Whether it proves that there is a GPU.
        doubtful: Whether a CUDA program may work all the same.
    """

    reason: str
    advice: str = ""
    hardware: bool = False
    doubtful: bool = False


def driver_problem(machine: Machine) -> DriverProblem | None:
    """Return why no CUDA program works on a machine, or None if nothing speaks against it."""
    nvidia = machine.nvidia
    seen = bool(nvidia.gpus or nvidia.pci)
    if nvidia.libcuda in {"hung", "crashed", "odd"}:
        said = _read("libcuda_failures.json")[nvidia.libcuda]
        return DriverProblem(said["cause"], said["remedy"], hardware=True, doubtful=nvidia.libcuda == "hung")
    if nvidia.libcuda == "absent" or nvidia.cuinit == STUB:
        return _no_library(machine) if seen else DriverProblem("no NVIDIA GPU was found")
    if nvidia.cuinit not in {None, 0, NO_DEVICE}:
        # CUresult of cuInit → what it means, and what to do; the loaders of the wheels have the same file.
        known = _read("cuda_failures.json")
        unknown = {"cause": "it refuses to start", "remedy": "run 'nvidia-smi' and look at its message"}
        said = known.get(str(nvidia.cuinit), unknown)
        reason = f"an NVIDIA driver is here, but {said['cause']} (cuInit {nvidia.cuinit})"
        return DriverProblem(reason, said["remedy"], hardware=True)
    if not nvidia.gpus:
        return _no_gpu(machine)
    if nvidia.cuda is None:
        return DriverProblem("the driver does not say which CUDA version it serves", "update the NVIDIA driver")
    return None


def _read(name: str) -> dict[str, dict[str, str]]:
    """Return what a state of the driver means, and what to do about it, by its name or number."""
    known: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name(name).read_text("utf-8"))
    return known


def driver_advice(oldest: Version) -> str:
    """Return which driver to install for a version of CUDA."""
    branch = _BRANCHES.get(oldest[0])
    return f"update the NVIDIA driver to {branch or f'CUDA {format_version(oldest)}'}"


def _no_library(machine: Machine) -> DriverProblem:
    advice = _CONTAINER if machine.container else "install the NVIDIA driver with its CUDA library"
    return DriverProblem("an NVIDIA GPU is here, but not the driver's library libcuda", advice, hardware=True)


def _no_gpu(machine: Machine) -> DriverProblem:
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        value = machine.visible.get(name)
        if value in {"", "-1", "none", "void", "NoDevFiles"}:
            return DriverProblem(f"{name}={value} hides every NVIDIA GPU", f"unset {name} if that is not meant")
    if machine.nvidia.cuinit is not None or machine.nvidia.cuda is not None:
        check = "check 'nvidia-smi -L' (in MIG mode it must list an instance), CUDA_VISIBLE_DEVICES and 'dmesg'"
        return DriverProblem("the NVIDIA driver shows no GPU", _CONTAINER if machine.container else check)
    if machine.nvidia.pci:
        return _no_library(machine)
    return DriverProblem("no NVIDIA GPU was found")
