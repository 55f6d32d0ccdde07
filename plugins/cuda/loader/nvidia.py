# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `cuda`: NVIDIA's driver, GPUs and libraries on this machine."""

from __future__ import annotations

import functools
import logging
import os
from pathlib import Path

from ..pjrt import private
from ..pjrt.accelerator import Accelerator, read_gpu_code
from ..pjrt.errors import DriverError, GpuCodeError, PluginError, Remedy, VendorLibraryError, VendorLibraryGapError
from ..pjrt.installed import pip_command
from ..pjrt.kernels import Kernels
from ..pjrt.lock import pin_set
from ..pjrt.plugin import Plugin
from ..pjrt.vendor import Vendor
from .driver import LIBRARY, Driver, ask_driver
from .hardware import describe_absence, device_nodes, insist, uncovered
from .inventory import Inventory
from .toolkit import Toolkit, read_toolkit
from .versions import Problem, find_warnings

logger = logging.getLogger(__name__)

ROOT = Path("/")

_SKIP_CHECKS = "JAX_SKIP_CUDA_CONSTRAINTS_CHECK"


class Cuda:
    """One wheel for CUDA on this machine; the driver is asked once."""

    def __init__(self, plugin: Plugin, kernels: Kernels) -> None:
        """Look at nothing yet."""
        self._plugin = plugin
        self._kernels = kernels

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
            survey=self.survey,
            find_node=self.find_node,
            examine=self.examine,
            passed_over=lambda: not device_nodes(ROOT),
            insist=insist,
        )

    @functools.cached_property
    def _toolkit(self) -> Toolkit:
        return read_toolkit(self._plugin.package)

    @functools.cached_property
    def _inventory(self) -> Inventory:
        return Inventory(self._toolkit, self._kernels, lambda: bool(self._capabilities()))

    @functools.cached_property
    def driver(self) -> Driver:
        """What the driver says.

        Raises:
            PluginError: It says nothing.
        """
        return ask_driver(LIBRARY, os.environ.get("CUDA_VISIBLE_DEVICES"))

    def find_node(self) -> None:
        """Look for a device node of the driver.

        Raises:
            NoDeviceError: There is none.
        """
        if not device_nodes(ROOT):
            raise describe_absence(ROOT, self._toolkit.driver)

    def find_device(self) -> None:
        """Look for a GPU and for a driver that can run this CUDA.

        Raises:
            PluginError: There is none.
        """
        self.find_node()
        check_driver(self.driver, self._toolkit, self._plugin.distribution)

    def open_libraries(self) -> None:
        """Open NVIDIA's libraries, so that the plugin finds these when it looks for any."""
        logger.debug("%s opened %s", self._plugin.distribution, self._inventory.preloaded.opened)

    def check(self) -> None:
        """Check that programs can be run with NVIDIA's libraries.

        Raises:
            VendorLibraryError: One is missing, too old or known to be broken; the text has all of them.
        """
        if os.environ.get(_SKIP_CHECKS):
            logger.debug("%s is set: NVIDIA's libraries are not checked", _SKIP_CHECKS)
            return
        self._refuse(self._inventory.find_problems(self._devices_in_use()))
        for warning in [*self._inventory.preloaded.rejected, *self._warnings(), *self._uncovered()]:
            logger.warning("%s: %s", self._plugin.distribution, warning)

    def examine(self) -> None:
        """Check what `check` does, and what is missing although JAX starts without it.

        Raises:
            VendorLibraryError: A library is missing, too old or known to be broken.
            GpuCodeError: The plugin has no code for a GPU that is here.
        """
        devices = self._devices_in_use()
        if not os.environ.get(_SKIP_CHECKS):
            problems, gaps = self._inventory.find_problems(devices), self._inventory.find_gaps(devices)
            self._refuse([*problems, *gaps], VendorLibraryError if problems else VendorLibraryGapError)
        if missing := self._uncovered():
            older = f"use the wheel for CUDA {max(self._toolkit.older)}, or " if self._toolkit.older else ""
            raise GpuCodeError("; ".join(missing), remedy=f"{older}leave these GPUs out of CUDA_VISIBLE_DEVICES")

    def _refuse(self, problems: list[Problem], kind: type[PluginError] = VendorLibraryError) -> None:
        if problems:
            raise kind(
                "; ".join(problem.text for problem in problems),
                cause=f"looked in {self._inventory.looked_in()}",
                remedy=self._remedy(self._inventory.projects(problems)),
            )

    def survey(self, opening: bool) -> Vendor:  # noqa: FBT001
        """Return the libraries with their versions, and the GPUs, for `python -m`; without opening, what files show."""
        nodes = tuple(device_nodes(ROOT))
        if not opening:
            return Vendor(libraries=self._inventory.survey(None), nodes=nodes)
        skipped = [f"{_SKIP_CHECKS} is set: versions are not checked"] if os.environ.get(_SKIP_CHECKS) else []
        return Vendor(
            libraries=self._inventory.survey(self._devices_in_use()),
            rejected=self._inventory.preloaded.rejected,
            warnings=(*self._warnings(), *skipped),
            nodes=nodes,
            driver=f"CUDA {_cuda(self.driver)}" if self._driver_problem is None else None,
            driver_problem=self._driver_problem,
            devices=tuple(f"compute capability {_dotted(capability)}" for capability in self._capabilities()),
        )

    def _warnings(self) -> list[str]:
        """Return what may go wrong although everything is there."""
        versions = self._inventory.versions()
        doubtful = [*self._inventory.find_mixture(), *find_warnings(versions.found, self._capabilities())]
        return [*versions.silent, *doubtful]

    def _uncovered(self) -> list[str]:
        missing = uncovered(read_gpu_code(self._plugin.package), self._capabilities())
        return [f"no code for GPUs of compute capability {_dotted(capability)}" for capability in missing]

    def _capabilities(self) -> tuple[int, ...]:
        """Return the compute capabilities of all GPUs; none where the driver says nothing."""
        return self.driver.capabilities if self._driver_problem is None else ()

    @functools.cached_property
    def _driver_problem(self) -> PluginError | None:
        """Why the driver says nothing; None if it answers."""
        try:
            _ = self.driver
        except PluginError as error:
            return error
        return None

    def _remedy(self, projects: list[str]) -> Remedy:
        everything = pip_command(f"install '{self._plugin.distribution}[with-cuda]{pin_set(self._plugin.package)}'")
        return Remedy(
            pip_command(f"install --upgrade {' '.join(projects)}"),
            f"all of NVIDIA's: {everything}; {_SKIP_CHECKS}=1 tries it as it is",
        )

    def _devices_in_use(self) -> int:
        """Return the number of GPUs of this process, as JAX's own setting limits them."""
        found = len(self._capabilities())
        chosen = private.visible_devices() if found else "all"
        return found if chosen == "all" else len(chosen.split(","))


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
