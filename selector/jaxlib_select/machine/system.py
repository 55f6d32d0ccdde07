# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the operating system says: processor, WSL2, Tegra, containers, libraries, and devices on the PCI bus."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlib_select.machine.host import Host

_ARCHES = {"amd64": "x86_64", "x64": "x86_64"}
_CGROUPS = {"docker": "docker", "kubepods": "kubernetes", "containerd": "containerd", "libpod": "podman", "lxc": "lxc"}
# The linker's own folders, those of distributions, and where WSL2, NixOS and Tegra keep what they hand in.
_FOLDERS = (
    "/lib64",
    "/usr/lib64",
    "/lib/{arch}-linux-gnu",
    "/usr/lib/{arch}-linux-gnu",
    "/usr/lib/{arch}-linux-gnu/nvidia",
    "/usr/lib/{arch}-linux-gnu/tegra",
    "/lib",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)
_DEVICES = "/sys/bus/pci/devices"


def arch(host: Host) -> str:
    """Return the processor; 64-bit ARM is `arm64` on macOS and Windows, `aarch64` on Linux."""
    name = _ARCHES.get(host.machine.lower(), host.machine.lower())
    if name in {"arm64", "aarch64"}:
        return "aarch64" if host.system == "linux" else "arm64"
    return name


def is_wsl(host: Host) -> bool:
    """Return whether this is Linux on Windows (WSL2)."""
    if host.system != "linux":
        return False
    return "microsoft" in host.kernel.lower() or (host.exists("/dev/dxg") and host.exists("/usr/lib/wsl/lib"))


def is_tegra(host: Host) -> bool:
    """Return whether the kernel, NVIDIA's release file or the device tree says that this is a Tegra chip."""
    if host.system != "linux":
        return False
    if "-tegra" in host.kernel or host.exists("/etc/nv_tegra_release"):
        return True
    return "nvidia,tegra" in (host.read("/proc/device-tree/compatible") or "")


def container(host: Host) -> str | None:
    """Return what runs this container; nothing outside of containers."""
    if host.system != "linux":
        return None
    if host.exists("/.dockerenv"):
        return "docker"
    if host.exists("/run/.containerenv"):
        return "podman"
    if host.environ.get("APPTAINER_CONTAINER") or host.environ.get("SINGULARITY_CONTAINER"):
        return "apptainer"
    if host.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    groups = host.read("/proc/1/cgroup") or ""
    return next((name for sign, name in _CGROUPS.items() if sign in groups), None)


def find_library(host: Host, name: str) -> str | None:
    """Return a file that the dynamic linker may take for a library, without loading it; nothing if it is nowhere."""
    own = [folder for folder in host.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":") if folder]
    for folder in (*own, *(folder.format(arch=host.machine) for folder in _FOLDERS)):
        if host.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    cached = b"\0" + (host.read_bytes("/etc/ld.so.cache") or b"")  # names in it are strings that end with a zero byte
    return name if b"\0" + name.encode() + b"\0" in cached else None


def list_devices(host: Host, vendor: str, classes: Iterable[str] = ("",)) -> list[str]:
    """Return `vendor:device` of each device of a vendor whose class begins so (`03`: display), in order of address."""
    found = []
    for address in host.names(_DEVICES):
        folder = f"{_DEVICES}/{address}"
        if _hexadecimal(host, f"{folder}/vendor") != vendor:
            continue
        kind = _hexadecimal(host, f"{folder}/class") or ""
        device = _hexadecimal(host, f"{folder}/device")
        if device and any(kind.startswith(start) for start in classes):
            found.append(f"{vendor}:{device}")
    return found


def _hexadecimal(host: Host, path: str) -> str | None:
    """Return the digits after `0x`, if that is what the file says."""
    text = (host.read(path) or "").strip().lower()
    digits = text[2:] if text.startswith("0x") else ""
    return digits if digits and all(digit in "0123456789abcdef" for digit in digits) else None
