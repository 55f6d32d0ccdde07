# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The host as detection sees it: files below a root, an environment, a way to run programs, and what the system says.

That is the processor, WSL2, Tegra, containers, libraries, and devices on the PCI bus.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlib_select import variables

_LARGEST = 1 << 20  # bytes of a file that are looked at


@dataclass(frozen=True)
class ProcessResult:
    """What became of a program.

    Attributes:
        status: Exit status, negative for a signal; None if it was not started or was killed for being slow.
        output: What it printed, with replacements for what is no UTF-8.
    """

    status: int | None
    output: str = ""
    timed_out: bool = False


Runner = Callable[[Sequence[str], Mapping[str, str], float], ProcessResult]


def _run(*arguments: object) -> ProcessResult:
    """Run a program by the module that can; importing it takes long, and is seldom needed."""
    from jaxlib_select.machine.process import run

    return run(*arguments)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Host:
    """Where detection looks.

    Attributes:
        root: Folder that stands for `/`.
        system: `linux`, `darwin`, `windows`, or another system's own name.
        machine: Processor, as the system calls it.
        kernel: Release of the kernel, such as `6.8.0-1008-tegra`.
        python_path: Folders in which packages are installed that may bring libraries.
        can_open: Whether a device can be opened for reading and writing.
        timeout: Seconds that a program may take.
    """

    root: str = "/"
    environ: Mapping[str, str] = field(default_factory=dict)
    run: Runner = _run
    system: str = "linux"
    machine: str = "x86_64"
    kernel: str = ""
    libc: str | None = None
    python_path: tuple[str, ...] = ()
    can_open: Callable[[str], bool] = lambda path: os.access(path, os.R_OK | os.W_OK)
    timeout: float = 10.0

    def path(self, path: str) -> str:
        """Return where a file of the host really is."""
        return os.path.join(self.root, path.lstrip("/"))

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""
        return os.path.exists(self.path(path))

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None if it cannot be read."""
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def read_bytes(self, path: str) -> bytes | None:
        """Return the start of a file, or None if it cannot be read."""
        try:
            with open(self.path(path), "rb") as file:
                return file.read(_LARGEST)
        except (OSError, ValueError):
            return None

    def names(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted; none if it cannot be read."""
        try:
            return tuple(sorted(os.listdir(self.path(path))))
        except (OSError, ValueError):
            return ()


def this_host(environ: Mapping[str, str] | None = None) -> Host:
    """Return the host of this process; a `UsageError` if one of this program's variables has a wrong name or value."""
    settings = os.environ if environ is None else environ
    variables.check_names(settings)
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform, sys.platform)
    uname = os.uname() if hasattr(os, "uname") else None
    return Host(
        root=f"{settings.get('SystemDrive', 'C:')}\\" if system == "windows" else "/",
        environ=dict(settings),
        system=system,
        machine=uname.machine if uname else settings.get("PROCESSOR_ARCHITECTURE", ""),
        kernel=uname.release if uname else "",
        libc=_libc(),
        python_path=tuple(sys.path),
        timeout=variables.read_timeout(settings, Host.timeout),
    )


def _libc() -> str | None:
    """Return the C library that this Python runs on; None when it does not say."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return "musl" if any(name.startswith("ld-musl-") for name in Host().names("lib")) else None


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
    """Return whether this Linux is one on Windows (WSL2)."""
    return "microsoft" in host.kernel.lower() or (host.exists("/dev/dxg") and host.exists("/usr/lib/wsl/lib"))


def is_tegra(host: Host) -> bool:
    """Return whether the kernel of Linux, NVIDIA's release file or the device tree says that this is a Tegra chip."""
    if "-tegra" in host.kernel or host.exists("/etc/nv_tegra_release"):
        return True
    return "nvidia,tegra" in (host.read("/proc/device-tree/compatible") or "")


def container(host: Host) -> str | None:
    """Return what runs this container of Linux; None outside of containers."""
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
    """Return a file that the dynamic linker may take for a library, without loading it; None if it is nowhere."""
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
