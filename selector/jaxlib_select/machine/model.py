# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A machine as far as the choice of an accelerator package depends on it; the annotations say what its file holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jaxlib_select.tables import Form, column

Version = tuple[int, ...]

LIBCUDA = ("ok", "absent", "hung", "crashed", "odd")  # how the driver's library behaves

NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
STUB = 34  # CUDA_ERROR_STUB_LIBRARY: the library to link with, not the one to run with


def _read_numbers(text: str) -> Version:
    """Return a version that is all numbers and dots.

    >>> _read_numbers("13.0")
    (13, 0)
    """
    return tuple(map(int, text.split(".")))


def format_version(version: Version | None) -> str | None:
    """Return a version with dots.

    >>> format_version((13, 0))
    '13.0'
    """
    return None if version is None else ".".join(map(str, version))


VERSION = Form(r"\d{1,4}(\.\d{1,4}){0,3}", "a version such as '13.0'", _read_numbers, format_version)
_CAPABILITY = Form(r"\d{1,2}\.\d", "a compute capability such as '9.0'", _read_numbers, format_version)
_LIBCUDA = Form("|".join(LIBCUDA), f"one of {', '.join(map(repr, LIBCUDA))}")
_PCI = Form(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{4}", "PCI vendor and device such as '8086:0bd5'", str.lower)
# rocminfo adds features, as in gfx90a:sramecc+:xnack-
_GFX = Form(r"gfx[0-9a-f]{3,5}(:[a-z]+[+-])*", "an architecture such as 'gfx942'", lambda text: text.partition(":")[0])


@dataclass(frozen=True)
class NvidiaGpu:
    """One visible NVIDIA GPU.

    Attributes:
        compute_capability: Such as (9, 0); None when the GPU was seen, but not asked.
        name: The driver's name of it.
    """

    compute_capability: tuple[int, int] | None = column(form=_CAPABILITY, default=None)
    name: str | None = None


@dataclass(frozen=True)
class Nvidia:
    """What the NVIDIA driver says.

    Attributes:
        cuda: The newest CUDA version that the user-mode driver (libcuda) serves.
        driver: Version of the kernel module, for messages only.
        cuinit: What `cuInit` returned; None when it was not called or did not return.
        gpus: The GPUs that a CUDA program will see, in the driver's order.
        source: Who said so: `libcuda` or `nvml`.
        libcuda: One of `LIBCUDA`; None when nobody looked.
        pci: Vendor and device of each NVIDIA GPU on the bus, whether a driver serves it or not.
    """

    cuda: Version | None = column(form=VERSION, default=None)  # noqa: RUF009  # `field` of dataclasses
    driver: str | None = None
    cuinit: int | None = None
    gpus: tuple[NvidiaGpu, ...] = ()
    source: str | None = None
    libcuda: str | None = column(form=_LIBCUDA, default=None)
    pci: tuple[str, ...] = column(form=_PCI, default=())


@dataclass(frozen=True)
class Amd:
    """What the AMD kernel driver and the file system say.

    Attributes:
        rocm: Version of the ROCm that is installed; None when none is.
        gpus: Architecture of each GPU, such as `gfx942`.
        accessible: Whether this user may open the devices; None when nobody looked.
    """

    rocm: str | None = None
    gpus: tuple[str, ...] = column(form=_GFX, default=())
    accessible: bool | None = None


@dataclass(frozen=True)
class Intel:
    """Intel display devices.

    Attributes:
        pci: Vendor and device of each, such as `8086:0bd5`.
        level_zero: Whether Level Zero's loader is installed.
    """

    pci: tuple[str, ...] = column(form=_PCI, default=())
    level_zero: bool = False


@dataclass(frozen=True)
class Devices:
    """Accelerators of a vendor, with what is known of any vendor.

    Attributes:
        pci: Vendor and device of each, such as `1ae0:0063`; other devices of the vendor may be among them.
        devices: Device nodes, such as `/dev/vfio/0`.
        driver: Version of the vendor's driver or runtime; None when none was found.
    """

    pci: tuple[str, ...] = column(form=_PCI, default=())
    devices: tuple[str, ...] = ()
    driver: str | None = column(omit_default=True, default=None)


@dataclass(frozen=True)
class Machine:
    """Everything that decisions are made from.

    Attributes:
        os: `linux`, `darwin` or `windows`; empty when unknown.
        arch: `x86_64`, `aarch64` or `arm64`; empty when unknown.
        wsl: Whether this is Linux on Windows (WSL2).
        tegra: Whether the GPU is part of a Tegra (Jetson) chip.
        nvidia: What the NVIDIA driver says.
        amd: What the AMD driver says.
        intel: Intel display devices.
        tpu: Google's devices, a network card of the cloud among them.
        container: What runs this container, such as `docker`; None outside of containers.
        libc: C library and version, such as `glibc 2.36`; None when unknown.
        visible: Variables that hide devices, as they are set.
        notes: What was odd while looking, one sentence each; they become warnings.
        others: Devices of further vendors, by the key of their detector.
    """

    os: str = ""
    arch: str = ""
    wsl: bool = False
    tegra: bool = False
    nvidia: Nvidia = Nvidia()
    amd: Amd = Amd()
    intel: Intel = Intel()
    tpu: Devices = Devices()
    container: str | None = None
    libc: str | None = None
    visible: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    others: Mapping[str, Devices] = column(omit_default=True, default_factory=dict)

    @property
    def platform(self) -> str:
        """Name of the platform as the build spells it, such as `linux_x86_64` or `macos_arm64`."""
        return f"{'macos' if self.os == 'darwin' else self.os}_{self.arch}"
