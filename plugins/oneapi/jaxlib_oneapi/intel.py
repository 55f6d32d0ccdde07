# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `oneapi`: Intel's GPUs and libraries on this machine."""

from __future__ import annotations

import functools
import logging
import os
import site
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from .pjrt.accelerator import Accelerator
from .pjrt.errors import DriverError, NoDeviceError
from .pjrt.kernels import Kernels
from .pjrt.lock import pin
from .pjrt.needed import describe_libraries, preload_needed
from .pjrt.plugin import Plugin
from .pjrt.preload import Preloaded
from .pjrt.status import row

logger = logging.getLogger(__name__)

ROOT = Path("/")

# Render nodes of the kernel's graphics drivers, and Windows' GPUs below WSL.
NODES = "sys/class/drm"
WSL = "dev/dxg"
INTEL = "0x8086"

# Parts of Intel's toolkit that hold libraries the plugin needs, for those who do not use Intel's wheels.
TOOLKIT_PARTS = ("compiler", "mkl", "mpi", "umf", "tcm")


class OneApi:
    """The wheel for oneAPI on this machine."""

    def __init__(self, plugin: Plugin) -> None:
        """Look at nothing yet.

        Args:
            plugin: The plugin.
        """
        self._plugin = plugin

    def accelerator(self) -> Accelerator:
        """Return what JAX needs to know."""
        return Accelerator(
            plugin=self._plugin,
            platform="ONEAPI",
            client_platform="SYCL",
            kernels=Kernels("jax_oneapi_plugin", "oneapi_plugin_extension"),
            rivals=r"jax_plugins\.xla_oneapi|jaxlib_oneapi",
            find_device=find_device,
            preload=self.open_libraries,
            check=lambda: None,
            status=self.status,
        )

    @functools.cached_property
    def preloaded(self) -> Preloaded:
        """Intel's libraries, open for all others: parts of MKL use each other without naming each other.

        Raises:
            VendorLibraryError: Some cannot be opened.
        """
        first = wheel_folders(sysconfig.get_path("data"), site.getuserbase(), self._plugin.package)
        last = toolkit_folders(os.environ, ROOT)
        return preload_needed(self._plugin, first=first, last=last, everywhere=True, remedy=self._remedy())

    def open_libraries(self) -> None:
        """Open Intel's libraries, which the plugin needs.

        Raises:
            VendorLibraryError: Some cannot be opened.
        """
        logger.debug("%s opened %s", self._plugin.distribution, self.preloaded.opened)

    def status(self) -> list[str]:
        """Return the libraries and the GPUs, for `python -m`."""
        nodes = " ".join(f"/dev/dri/{node}" for node in render_nodes(ROOT))
        return [*describe_libraries(self.preloaded), row("GPUs", nodes or "none")]

    def _remedy(self) -> str:
        return (
            f"pip install '{self._plugin.distribution}[with-oneapi]{pin(self._plugin.package)}'; libze_loader.so.1 and "
            "libze_tracing_layer.so.1 are Level Zero, a package of the system (Debian, Ubuntu: apt-get install libze1)"
        )


def render_nodes(root: Path) -> list[str]:
    """Return the names of the render nodes of Intel's GPUs, such as `renderD128`.

    Args:
        root: The root of the file system.
    """
    vendors = sorted((root / NODES).glob("renderD*/device/vendor"))
    return [vendor.parent.parent.name for vendor in vendors if _read(vendor) == INTEL]


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
            remedy=f"sudo usermod --append --groups render $USER, and log in again; in Docker: --device {devices[0]}",
        )


def wheel_folders(data: str, user: str, package: Path) -> list[Path]:
    """Return where Intel's wheels put their libraries: into `lib` of the environment, not into `site-packages`.

    Args:
        data: Where this Python installs data files.
        user: The same for packages of one user.
        package: Directory of the plugin's package, which may be in yet another environment.
    """
    folders = [Path(data) / "lib", Path(user) / "lib", *(parent / "lib" for parent in package.parents[3:4])]
    return list(dict.fromkeys(folders))


def toolkit_folders(environ: Mapping[str, str], root: Path) -> list[Path]:
    """Return where Intel's installers put them.

    Args:
        environ: Environment, for `ONEAPI_ROOT`.
        root: The root of the file system.
    """
    home = Path(environ.get("ONEAPI_ROOT") or root / "opt/intel/oneapi")
    return [home / part / "latest/lib" for part in TOOLKIT_PARTS]


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
