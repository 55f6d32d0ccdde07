# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `oneapi`: Intel's GPUs and libraries on this machine."""

from __future__ import annotations

import os
import site
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from .pjrt.accelerator import Accelerator
from .pjrt.errors import DriverError, NoDeviceError, Remedy
from .pjrt.installed import pip_command
from .pjrt.kernels import Kernels
from .pjrt.lock import pin_set
from .pjrt.needed import NeededLibraries
from .pjrt.plugin import Plugin
from .pjrt.vendor import read_attribute

ROOT = Path("/")

# Render nodes of the kernel's graphics drivers, and Windows' GPUs below WSL.
NODES = "sys/class/drm"
WSL = "dev/dxg"
_INTEL = "0x8086"

# Parts of Intel's toolkit that hold libraries the plugin needs, for those who do not use Intel's wheels.
_TOOLKIT_PARTS = ("compiler", "mkl", "mpi", "umf", "tcm")


def describe(plugin: Plugin, kernels: Kernels) -> Accelerator:
    """Return what JAX needs to know of the wheel for oneAPI on this machine."""
    # Parts of MKL use each other without naming each other, so they must be open for all others.
    libraries = NeededLibraries(
        plugin, lambda: library_folders(plugin), lambda: describe_remedy(plugin), everywhere=True
    )
    return Accelerator(
        plugin=plugin,
        platform="ONEAPI",
        client_platform="SYCL",
        kernels=kernels,
        rivals=r"jax_plugins\.xla_oneapi|jaxlib_oneapi",
        find_device=find_device,
        preload=libraries.open,
        find_node=find_device,
        survey=lambda opening: libraries.survey(device_nodes(ROOT), device_nodes(ROOT), opening=opening),
    )


def device_nodes(root: Path) -> list[str]:
    """Return the devices of Intel's GPUs, such as `/dev/dri/renderD128`; below WSL one stands for any number."""
    nodes = [f"/dev/dri/{node}" for node in render_nodes(root)]
    return [*nodes, *([f"/{WSL}"] if (root / WSL).exists() else [])]


def render_nodes(root: Path) -> list[str]:
    """Return the names of the render nodes of Intel's GPUs, such as `renderD128`."""
    vendors = sorted((root / NODES).glob("renderD*/device/vendor"))
    return [vendor.parent.parent.name for vendor in vendors if read_attribute(vendor) == _INTEL]


def find_device() -> None:
    """Look for a GPU that this user may use.

    Raises:
        PluginError: There is none.
    """
    nodes = render_nodes(ROOT)
    if not nodes and not (ROOT / WSL).exists():
        raise NoDeviceError(f"no Intel GPU found (looked in /{NODES} and for /{WSL})")
    devices = [ROOT / "dev/dri" / node for node in nodes]
    if devices and not any(os.access(device, os.R_OK | os.W_OK) for device in devices):
        raise DriverError(
            f"there is an Intel GPU, but {devices[0]} may not be opened",
            cause="this user is not in the group it belongs to, or the device was not given to this container",
            remedy=Remedy(
                "sudo usermod --append --groups render $USER",
                f"afterwards log in again; in Docker: --device {devices[0]}",
            ),
        )


def wheel_folders(data: str, user: str, package: Path) -> list[Path]:
    """Return where Intel's wheels put their libraries: into `lib` of the environment, not into `site-packages`.

    That is the environment's, the user's, or that of the plugin's own package, which may be another one.
    """
    folders = [Path(data) / "lib", Path(user) / "lib", *(parent / "lib" for parent in package.parents[3:4])]
    return list(dict.fromkeys(folders))


def toolkit_folders(environ: Mapping[str, str], root: Path) -> list[Path]:
    """Return where Intel's installers put them."""
    home = Path(environ.get("ONEAPI_ROOT") or root / "opt/intel/oneapi")
    return [home / part / "latest/lib" for part in _TOOLKIT_PARTS]


def library_folders(plugin: Plugin) -> tuple[list[Path], list[Path]]:
    """Return where Intel's libraries may be, before and after what the dynamic linker finds itself."""
    wheels = wheel_folders(sysconfig.get_path("data"), site.getuserbase(), plugin.package)
    return wheels, toolkit_folders(os.environ, ROOT)


def describe_remedy(plugin: Plugin) -> Remedy:
    """Return what installs Intel's libraries."""
    return Remedy(
        pip_command(f"install '{plugin.distribution}[with-oneapi]{pin_set(plugin.package)}'"),
        "libze_loader.so.1 and libze_tracing_layer.so.1 are Level Zero, a package of the system (Debian, Ubuntu: "
        "apt-get install libze1)",
    )
