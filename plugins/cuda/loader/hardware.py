# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's GPUs: whether there is one, as far as files show it, whether JAX looks for it, and which code they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..pjrt import private
from ..pjrt.errors import NoDeviceError
from ..pjrt.vendor import read_attribute

# The same that JAX looks for; without any of them it does not try CUDA.
DEVICE_NODES = ("dev/nvidia0", "dev/nvidiactl", "dev/dxg")

# Display controllers on the PCI bus have a class that begins with 03.
_PCI_DEVICES = "sys/bus/pci/devices"
_NVIDIA, _DISPLAY = "0x10de", "0x03"

_CODE = re.compile(r"(sm|compute)_(\d+)([af]?)")

# Compute capabilities of Tegra chips, which run no code but that made for exactly them.
_TEGRA = (53, 62, 72, 87, 101, 110)


def insist(condition: Callable[[], bool]) -> None:
    """Let JAX ask for a client of `cuda` where it sees no device node, for as long as a condition holds.

    JAX leaves `cuda` out then even if the user named nothing else, and ends in an AssertionError without a word.
    """
    private.wrap("hardware_utils", "has_visible_nvidia_gpu", lambda sees_gpu: lambda: sees_gpu() or condition())


def describe_absence(root: Path, driver: int) -> NoDeviceError:
    """Return that there is no GPU to use, or that there is one of which no device is to be seen."""
    looked = f"looked for {', '.join(f'/{node}' for node in DEVICE_NODES)}"
    if not _is_on_bus(root):
        return NoDeviceError(f"no NVIDIA GPU found ({looked})")
    return NoDeviceError(
        f"there is an NVIDIA GPU on the PCI bus, but no device of its driver ({looked})",
        cause="NVIDIA's driver is not installed, or the devices were not given to this container",
        remedy=f"install NVIDIA's driver {driver} or newer; in Docker: --gpus all",
        hidden=True,
    )


def _is_on_bus(root: Path) -> bool:
    """Return whether there is a GPU of NVIDIA's on the PCI bus, which containers see as well."""
    vendors = [path for path in (root / _PCI_DEVICES).glob("*/vendor") if read_attribute(path) == _NVIDIA]
    return any(read_attribute(vendor.parent / "class").startswith(_DISPLAY) for vendor in vendors)


def device_nodes(root: Path) -> list[str]:
    """Return the devices of NVIDIA's kernel module, or of Windows below WSL, that exist."""
    return [f"/{node}" for node in DEVICE_NODES if (root / node).exists()]


def _runs_on(code: str, capability: int) -> bool:
    """Return whether a GPU of some compute capability can run code, at once or after translation by the driver.

    Machine code runs on its own and later minor versions of one major version, but never across Tegra chips and the
    others; code for the driver (PTX) on everything newer that is no Tegra chip.
    With the suffix `a` it runs on that very version only, with `f` on its family. Of a capability, the major version is
    counted in tens.

    >>> [_runs_on(code, 86) for code in ("sm_80", "sm_90", "compute_75", "sm_86a", "sm_80a")]
    [True, False, True, True, False]
    """
    match = _CODE.fullmatch(code)
    if match is None:
        return False
    kind, target, suffix = match[1], int(match[2]), match[3]
    if capability in _TEGRA or (kind == "sm" and target in _TEGRA):
        return code == f"sm_{capability}"
    if suffix == "a":
        return capability == target
    within = capability // 10 == target // 10
    return capability >= target and (within or (kind == "compute" and not suffix))


def uncovered(code: Iterable[str], capabilities: Sequence[int]) -> list[int]:
    """Return the compute capabilities for which there is no code; none if it is not known what there is."""
    names = [name for name in code if _CODE.fullmatch(name)]
    missing = {capability for capability in capabilities if not any(_runs_on(name, capability) for name in names)}
    return sorted(missing) if names else []
