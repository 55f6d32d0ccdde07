# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `cuda`: NVIDIA's driver, GPUs and libraries on this machine."""

from __future__ import annotations

import functools
import logging
import os
from pathlib import Path

from ..pjrt.accelerator import Accelerator
from ..pjrt.errors import DriverError, NoDeviceError, PluginError, VendorLibraryError
from ..pjrt.kernels import Kernels
from ..pjrt.lock import pin
from ..pjrt.plugin import Plugin
from ..pjrt.status import read_gpu_code, row
from .coverage import uncovered
from .driver import LIBRARY, Driver, ask_driver
from .inventory import Inventory
from .toolkit import Toolkit
from .versions import COMPONENTS, as_text, find_warnings

logger = logging.getLogger(__name__)

# The same that JAX looks for; without any of them it does not try CUDA.
DEVICE_NODES = ("dev/nvidia0", "dev/nvidiactl", "dev/dxg")

SKIP_CHECKS = "JAX_SKIP_CUDA_CONSTRAINTS_CHECK"


class Cuda:
    """One wheel for CUDA on this machine; the driver is asked once."""

    def __init__(self, plugin: Plugin, kernels: Kernels, toolkit: Toolkit) -> None:
        """Look at nothing yet.

        Args:
            plugin: The plugin.
            kernels: Its kernels.
            toolkit: The CUDA it was built for.
        """
        self._plugin = plugin
        self._kernels = kernels
        self._toolkit = toolkit
        self._inventory = Inventory(toolkit, kernels)

    def accelerator(self) -> Accelerator:
        """Return what JAX needs to know."""
        return Accelerator(
            plugin=self._plugin,
            platform="CUDA",
            client_platform="cuda",
            kernels=self._kernels,
            rivals=r"jax_plugins\.xla_cuda\d*|jaxlib_cuda_\d+",
            find_device=self.find_device,
            preload=self.open_libraries,
            check=self.check,
            environment={"MOSAIC_GPU_RUNTIME_LIB_PATH": "libmosaic_gpu_runtime.so"},
            status=self.status,
        )

    @functools.cached_property
    def driver(self) -> Driver:
        """What the driver says.

        Raises:
            PluginError: It says nothing.
        """
        return ask_driver(LIBRARY, os.environ.get("CUDA_VISIBLE_DEVICES"))

    def find_device(self) -> None:
        """Look for a GPU and for a driver that can run this CUDA.

        Raises:
            PluginError: There is none.
        """
        if not has_device_node(Path("/")):
            raise NoDeviceError(f"no NVIDIA GPU found (looked for {', '.join(f'/{node}' for node in DEVICE_NODES)})")
        check_driver(self.driver, self._toolkit, self._plugin.distribution)

    def open_libraries(self) -> None:
        """Open NVIDIA's libraries, so that the plugin finds these when it looks for any."""
        logger.debug("%s opened %s", self._plugin.distribution, self._inventory.preloaded.opened)

    def check(self) -> None:
        """Check that programs can be run with NVIDIA's libraries.

        Raises:
            VendorLibraryError: One is missing, too old or known to be broken; the text has all of them.
        """
        if os.environ.get(SKIP_CHECKS):
            logger.debug("%s is set: NVIDIA's libraries are not checked", SKIP_CHECKS)
            return
        problems = self._inventory.find_problems(self._devices_in_use())
        if problems:
            raise VendorLibraryError(
                "; ".join(problem.text for problem in problems),
                cause=f"looked in {self._inventory.looked_in()}",
                remedy=self._remedy(self._inventory.projects(problems)),
            )
        self._warn()

    def status(self) -> list[str]:
        """Return the libraries with their versions, and the GPUs, for `python -m`."""
        found = self._inventory.versions().found
        texts = {item.stem: as_text(item, found[item.name]) for item in COMPONENTS if item.name in found}
        opened = self._inventory.preloaded.opened.items()
        lines = [row("", f"{soname} {texts.get(soname.partition('.so')[0], '')} {path}") for soname, path in opened]
        lines = [row("libraries", f"{len(lines)} of NVIDIA's opened"), *lines]
        lines.append(row("missing", " ".join(self._inventory.preloaded.failed) or "none"))
        try:
            gpus = " ".join(_dotted(capability) for capability in self.driver.capabilities)
        except PluginError as error:
            return [*lines, row("driver", error.what)]
        return [*lines, row("driver", f"CUDA {_cuda(self.driver)}"), row("GPUs", f"compute capability {gpus}")]

    def _warn(self) -> None:
        """Say what may go wrong although everything is there."""
        capabilities = self.driver.capabilities
        versions = self._inventory.versions()
        warnings = [*versions.silent, *find_warnings(versions.found, capabilities)]
        missing = uncovered(read_gpu_code(self._plugin.package), capabilities)
        warnings += [f"no code for GPUs of compute capability {_dotted(capability)}" for capability in missing]
        for warning in warnings:
            logger.warning("%s: %s", self._plugin.distribution, warning)

    def _remedy(self, projects: list[str]) -> str:
        everything = f"{self._plugin.distribution}[with-cuda]{pin(self._plugin.package)}"
        return (
            f"pip install --upgrade {' '.join(projects)} (or all of NVIDIA's: pip install '{everything}'); "
            f"{SKIP_CHECKS}=1 tries it as it is"
        )

    def _devices_in_use(self) -> int:
        """Return the number of GPUs of this process, as JAX's own setting limits them."""
        from jax._src import xla_bridge

        chosen = xla_bridge.CUDA_VISIBLE_DEVICES.value
        return len(self.driver.capabilities) if chosen == "all" else len(chosen.split(","))


def has_device_node(root: Path) -> bool:
    """Return whether NVIDIA's kernel module, or Windows below WSL, offers a device.

    Args:
        root: The root of the file system.
    """
    return any((root / node).exists() for node in DEVICE_NODES)


def check_driver(driver: Driver, toolkit: Toolkit, distribution: str) -> None:
    """Check that a driver can run programs of this CUDA.

    Raises:
        DriverError: It is too old.
    """
    if driver.version < toolkit.major * 1000:
        served = [major for major in toolkit.older if driver.version >= major * 1000]
        raise DriverError(
            f"NVIDIA's driver runs CUDA up to {_cuda(driver)}, and {distribution} needs CUDA {toolkit.major}.0",
            remedy=f"update the driver to {toolkit.driver} or newer"
            + (f", or use the wheel for CUDA {max(served)}" if served else ""),
        )


def _cuda(driver: Driver) -> str:
    return f"{driver.version // 1000}.{driver.version % 1000 // 10}"


def _dotted(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"
