# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Operating system, processor, WSL2, Tegra, containers."""

from __future__ import annotations

from jaxlib_select.detect.printable import printable
from jaxlib_select.detect.world import World

_ARCHES = {"amd64": "x86_64", "x64": "x86_64"}
# Variables that hide devices from programs.
_VISIBLE = (
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
    "ONEAPI_DEVICE_SELECTOR",
    "TPU_VISIBLE_DEVICES",
    "TPU_VISIBLE_CHIPS",
)
_CGROUPS = {"docker": "docker", "kubepods": "kubernetes", "containerd": "containerd", "libpod": "podman", "lxc": "lxc"}


def arch(world: World) -> str:
    """Return the processor; 64-bit ARM is `arm64` on macOS and Windows, `aarch64` on Linux."""
    name = _ARCHES.get(world.machine.lower(), world.machine.lower())
    if name in {"arm64", "aarch64"}:
        return "aarch64" if world.system == "linux" else "arm64"
    return name


def is_wsl(world: World) -> bool:
    """Return whether this is Linux on Windows (WSL2)."""
    if world.system != "linux":
        return False
    return "microsoft" in world.kernel.lower() or (world.exists("/dev/dxg") and world.exists("/usr/lib/wsl/lib"))


def is_tegra(world: World) -> bool:
    """Return whether the kernel, NVIDIA's release file or the device tree says that this is a Tegra chip."""
    if world.system != "linux":
        return False
    if "-tegra" in world.kernel or world.exists("/etc/nv_tegra_release"):
        return True
    return "nvidia,tegra" in (world.read("/proc/device-tree/compatible") or "")


def container(world: World) -> str | None:
    """Return what runs this container; nothing outside of containers."""
    if world.system != "linux":
        return None
    if world.exists("/.dockerenv"):
        return "docker"
    if world.exists("/run/.containerenv"):
        return "podman"
    if world.environ.get("APPTAINER_CONTAINER") or world.environ.get("SINGULARITY_CONTAINER"):
        return "apptainer"
    if world.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    groups = world.read("/proc/1/cgroup") or ""
    return next((name for sign, name in _CGROUPS.items() if sign in groups), None)


def visible(world: World) -> dict[str, str]:
    """Return the variables that hide devices, as they are set."""
    return {name: printable(world.environ[name]) for name in _VISIBLE if name in world.environ}
