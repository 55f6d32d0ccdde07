# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `rocm`: AMD's GPUs and libraries on this machine.

The GPUs are found without waking ROCm: its profiler must be the first to use it.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..pjrt.accelerator import Accelerator
from ..pjrt.errors import DriverError, NoDeviceError, Remedy
from ..pjrt.kernels import Kernels
from ..pjrt.needed import NeededLibraries
from ..pjrt.plugin import Plugin
from ..pjrt.vendor import read_attribute

logger = logging.getLogger(__name__)

ROOT = Path("/")

_TOPOLOGY = "sys/class/kfd/kfd/topology/nodes"
KFD = "dev/kfd"
WSL = "dev/dxg"

_SIMDS = re.compile(r"^simd_count\s+(\d+)$", re.MULTILINE)

# RCCL's collectives need more between several GPUs; 64 MiB is what containers have by default.
_SMALL_SHARED_MEMORY = 64 * 2**20

# Below a folder of libraries: what ROCm uses of Linux, built for ROCm. Plugins since 0.12.0 need some of it themselves.
_SYSTEM = "rocm_sysdeps/lib"


def describe(plugin: Plugin, kernels: Kernels, rocm: str) -> Accelerator:
    """Return what JAX needs to know of the wheel for ROCm on this machine, with the ROCm that it was made with."""
    remedy = Remedy(f"install ROCm {rocm} (https://rocm.docs.amd.com), and set ROCM_PATH if it is not in /opt/rocm")
    major = rocm.partition(".")[0]
    libraries = NeededLibraries(plugin, lambda: library_folders(os.environ, sys.path, ROOT, major), lambda: remedy)
    return Accelerator(
        plugin=plugin,
        platform="ROCM",
        client_platform="ROCM",
        kernels=kernels,
        rivals=r"jax_plugins\.xla_rocm\d*|jaxlib_rocm_\d+",
        find_device=find_device,
        preload=libraries.open,
        check=lambda: _check_shared_memory(plugin.distribution),
        find_node=find_device,
        survey=lambda opening: libraries.survey(device_nodes(ROOT), gpus(ROOT), opening=opening),
    )


def _check_shared_memory(distribution: str) -> None:
    """Warn if several GPUs have little memory to exchange data through."""
    size = shared_memory(ROOT)
    if len(gpus(ROOT)) > 1 and size <= _SMALL_SHARED_MEMORY:
        logger.warning(
            "%s: /dev/shm has %d MiB, which RCCL may exhaust between several GPUs; in Docker: --shm-size=64g",
            distribution,
            size // 2**20,
        )


def find_device() -> None:
    """Look for a GPU that this user may use.

    Raises:
        PluginError: There is none.
    """
    if not gpus(ROOT):
        raise NoDeviceError(f"no AMD GPU found (looked in /{_TOPOLOGY} and for /{WSL})")
    if not device_nodes(ROOT):
        raise NoDeviceError(
            f"there is an AMD GPU, but no /{KFD}",
            cause="the device was not given to this container",
            remedy=f"in Docker: --device /{KFD} --device /dev/dri",
            hidden=True,
        )
    if (ROOT / KFD).exists() and not os.access(ROOT / KFD, os.R_OK | os.W_OK):
        raise DriverError(
            f"there is an AMD GPU, but /{KFD} may not be opened",
            cause="this user is not in the group it belongs to",
            remedy=Remedy(
                "sudo usermod --append --groups render,video $USER",
                f"afterwards log in again; ls -l /{KFD} shows the group",
            ),
        )


def library_folders(
    environ: Mapping[str, str], search_path: Sequence[str], root: Path, major: str
) -> tuple[list[Path], list[Path]]:
    """Return where the libraries of a ROCm may be, before and after what the dynamic linker finds itself."""
    named = [Path(environ["ROCM_PATH"]) / "lib"] if environ.get("ROCM_PATH") else []
    wheels = [folder for entry in search_path if entry for folder in sorted(Path(entry).glob("_rocm_sdk_*/lib"))]
    installed = [*root.glob(f"opt/rocm/core-{major}*/lib"), *root.glob(f"opt/rocm-{major}*/lib")]
    return _with_system([*named, *wheels]), _with_system(
        [root / "opt/rocm/lib", *sorted(installed, key=_version, reverse=True)]
    )


def _version(folder: Path) -> list[int]:
    """Return the version in the name of an installation, such as 7.14.0 of `opt/rocm-7.14.0/lib`."""
    return [int(number) for number in re.findall(r"\d+", folder.parent.name)]


def _with_system(folders: Sequence[Path]) -> list[Path]:
    return [*folders, *(folder / _SYSTEM for folder in folders if (folder / _SYSTEM).is_dir())]


def gpus(root: Path) -> list[str]:
    """Return the AMD GPUs, as the driver numbers them; below WSL, where Windows has them, one stands for any number.

    The kernel driver lists processors as nodes too; a GPU is one with SIMD units (amdkfd, `kfd_topology.c`).
    """
    if (root / WSL).exists():
        return [f"/{WSL}"]
    nodes = (root / _TOPOLOGY).glob("*")
    return sorted(f"/{_TOPOLOGY}/{node.name}" for node in nodes if _has_simds(node / "properties"))


def device_nodes(root: Path) -> list[str]:
    """Return the devices of the driver, or of Windows below WSL, that exist."""
    return [f"/{node}" for node in (KFD, WSL) if (root / node).exists()]


def shared_memory(root: Path) -> int:
    """Return the size of `/dev/shm` in bytes; 0 if there is none."""
    try:
        status = os.statvfs(root / "dev/shm")
    except OSError:
        return 0
    return status.f_blocks * status.f_frsize


def _has_simds(properties: Path) -> bool:
    match = _SIMDS.search(read_attribute(properties))
    return match is not None and int(match[1]) > 0
