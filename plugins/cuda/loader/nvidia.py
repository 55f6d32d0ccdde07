# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `cuda`: NVIDIA's libraries, driver and GPUs on this machine."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from ..pjrt.accelerator import Accelerator
from ..pjrt.errors import DriverError, NoDeviceError, PluginError, VendorLibraryError
from ..pjrt.kernels import Kernels, import_module
from ..pjrt.lock import pin
from ..pjrt.plugin import Plugin, import_extension
from ..pjrt.preload import Preloaded, preload, shadowed
from ..pjrt.status import read_gpu_code, row
from .coverage import uncovered
from .driver import LIBRARY, Driver, ask_driver
from .toolkit import Toolkit, project_of, toolkit_homes, wanted_libraries, wheel_roots
from .versions import (
    COMPONENTS,
    Component,
    Problem,
    as_number,
    as_text,
    find_problems,
    find_warnings,
    rounded_to_minor,
)

logger = logging.getLogger(__name__)

# The same that JAX looks for; without any of them it does not try CUDA.
DEVICE_NODES = ("dev/nvidia0", "dev/nvidiactl", "dev/dxg")

SKIP_CHECKS = "JAX_SKIP_CUDA_CONSTRAINTS_CHECK"


class Cuda:
    """One wheel for CUDA on this machine; each question is asked once.

    Attributes:
        plugin: The plugin.
        kernels: Its kernels.
        toolkit: The CUDA it was built for.
    """

    def __init__(self, plugin: Plugin, kernels: Kernels, toolkit: Toolkit) -> None:
        """Look at nothing yet."""
        self.plugin = plugin
        self.kernels = kernels
        self.toolkit = toolkit

    def accelerator(self) -> Accelerator:
        """Return what JAX needs to know."""
        return Accelerator(
            plugin=self.plugin,
            platform="CUDA",
            client_platform="cuda",
            kernels=self.kernels,
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

    @functools.cached_property
    def preloaded(self) -> Preloaded:
        """NVIDIA's libraries, open. That some are missing matters only to those who run programs."""
        extension = import_extension()
        roots = wheel_roots()
        homes = toolkit_homes(self.toolkit.major, os.environ)
        wanted = wanted_libraries(self.toolkit, roots, homes)
        folders = sorted({folder for library in wanted for folder in library.first})
        wanted += shadowed(folders, os.environ.get("LD_LIBRARY_PATH", ""), wanted)
        return preload(wanted, lambda path: extension.preload(path, False))

    def open_libraries(self) -> None:
        """Open NVIDIA's libraries, so that the plugin finds these when it looks for any."""
        logger.debug("%s opened %s", self.plugin.distribution, self.preloaded.opened)

    def find_device(self) -> None:
        """Look for a GPU and for a driver that can run this CUDA.

        Raises:
            PluginError: There is none.
        """
        if not has_device_node(Path("/")):
            raise NoDeviceError(f"no NVIDIA GPU found (looked for {', '.join(f'/{node}' for node in DEVICE_NODES)})")
        try:
            check_driver(self.driver, self.toolkit, self.plugin.distribution)
        except NoDeviceError as error:
            error.told_by_jax = True
            raise

    def check(self) -> None:
        """Check NVIDIA's libraries.

        Raises:
            VendorLibraryError: One is missing, too old or known to be broken; the text has all of them.
        """
        if os.environ.get(SKIP_CHECKS):
            logger.debug("%s is set: NVIDIA's libraries are not checked", SKIP_CHECKS)
            return
        found, failures = self.versions()
        capabilities = self.driver.capabilities
        problems = [*failures, *find_problems(found, self.minimum(), self.built(), self._devices_in_use())]
        if problems:
            raise describe_problems(problems, self.toolkit, self.plugin)
        for warning in find_warnings(found, capabilities):
            logger.warning("%s: %s", self.plugin.distribution, warning)
        for capability in uncovered(read_gpu_code(self.plugin.package), capabilities):
            text = f"{capability // 10}.{capability % 10}"
            logger.warning("%s holds no code for GPUs of compute capability %s", self.plugin.distribution, text)

    def versions(self) -> tuple[dict[str, int], list[Problem]]:
        """Return the version of each component, and which of them cannot be used at all."""
        found, failures = {}, []
        for component in COMPONENTS:
            try:
                found[component.name] = self._ask(component)
            except (OSError, RuntimeError) as error:
                failures.append(Problem(f"{component.name} cannot be used: {error}", component.name))
        return found, failures

    def built(self) -> dict[str, int]:
        """Return the versions the plugin was built with: those its kernels tell, else those of the toolkit's table."""
        module = import_module(self.kernels, "_versions")
        told = {
            component.name: getattr(module, f"{component.built}_build_version")()
            for component in COMPONENTS
            if hasattr(module, f"{component.built}_build_version")
        }
        return {**self.toolkit.built, **told}

    def minimum(self) -> Mapping[str, int]:
        """Return the oldest version of each component that works; cuDNN must be that of the build, patches aside."""
        (cudnn,) = (component for component in COMPONENTS if component.name == "cuDNN")
        return {**self.toolkit.minimum, cudnn.name: rounded_to_minor(cudnn, self.built()[cudnn.name])}

    def status(self) -> list[str]:
        """Return the libraries with their versions, and the GPUs, for `python -m`."""
        found, failures = self.versions()
        names = {
            component.stem: as_text(component, found[component.name])
            for component in COMPONENTS
            if component.name in found
        }
        opened = [
            row("", f"{soname} {names.get(soname.partition('.so')[0], '')} {path}")
            for soname, path in self.preloaded.opened.items()
        ]
        lines = [row("libraries", f"{len(opened)} of NVIDIA's opened"), *opened]
        lines += [row("", failure.text) for failure in failures]
        try:
            gpus = [f"{capability // 10}.{capability % 10}" for capability in self.driver.capabilities]
            cuda = f"CUDA {self.driver.version // 1000}.{self.driver.version % 1000 // 10}"
            return [*lines, row("driver", cuda), row("GPUs", f"compute capability {', '.join(gpus)}")]
        except PluginError as error:
            return [*lines, row("driver", error.what)]

    def _ask(self, component: Component) -> int:
        (soname,) = (library.soname for library in self.toolkit.libraries if _stem(library.soname) == component.stem)
        if soname not in self.preloaded.opened:
            raise OSError(self.preloaded.failed[soname])
        answer = import_extension().library_version(self.preloaded.opened[soname], component.symbol, component.form)
        return as_number(component, answer)

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
        version = f"{driver.version // 1000}.{driver.version % 1000 // 10}"
        raise DriverError(
            f"NVIDIA's driver runs CUDA up to {version}, and {distribution} needs CUDA {toolkit.major}.0",
            remedy=f"update the driver to {toolkit.driver} or newer, or use the wheel for CUDA {driver.version // 1000}",
        )


def describe_problems(problems: list[Problem], toolkit: Toolkit, plugin: Plugin) -> VendorLibraryError:
    """Return one error about all problems, with the command that mends them."""
    stems = {component.name: component.stem for component in COMPONENTS}
    sonames = {_stem(library.soname): library.soname for library in toolkit.libraries}
    projects = {project_of(toolkit, sonames[stems[problem.component]]): None for problem in problems}
    return VendorLibraryError(
        "; ".join(problem.text for problem in problems),
        cause="a library is not installed, or an older one hides it",
        remedy=(
            f"pip install --upgrade {' '.join(projects)} "
            f"(or all of NVIDIA's: pip install '{plugin.distribution}[with-cuda]{pin(plugin.package)}'); "
            f"{SKIP_CHECKS}=1 tries it as it is"
        ),
    )


def _stem(soname: str) -> str:
    return soname.partition(".so")[0]
