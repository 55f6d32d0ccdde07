# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's platform `rocm`: AMD's GPUs and libraries on this machine."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .hardware import KFD, TOPOLOGY, WSL, count_gpus, is_accessible, shared_memory
from .pjrt.accelerator import Accelerator
from .pjrt.errors import DriverError, NoDeviceError
from .pjrt.kernels import Kernels
from .pjrt.needed import describe_libraries, preload_needed
from .pjrt.plugin import Plugin
from .pjrt.preload import Preloaded
from .pjrt.status import row

logger = logging.getLogger(__name__)

ROOT = Path("/")

# RCCL's collectives need more between several GPUs; it is what containers have unless they are told otherwise.
SMALL_SHARED_MEMORY = 64 * 2**20

REMEDY = "install ROCm 7 (https://rocm.docs.amd.com), and set ROCM_PATH if it is not in /opt/rocm"


class Rocm:
    """The wheel for ROCm on this machine."""

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
            platform="ROCM",
            client_platform="ROCM",
            kernels=Kernels("jax_rocm7_plugin", "rocm_plugin_extension"),
            rivals=r"jax_plugins\.xla_rocm\d*|jaxlib_rocm_\d+",
            find_device=find_device,
            preload=self.open_libraries,
            check=self.check,
            status=self.status,
        )

    @functools.cached_property
    def preloaded(self) -> Preloaded:
        """AMD's libraries, open.

        Raises:
            VendorLibraryError: Some cannot be opened.
        """
        first, last = library_folders(os.environ, sys.path, ROOT)
        return preload_needed(self._plugin, first=first, last=last, everywhere=False, remedy=REMEDY)

    def open_libraries(self) -> None:
        """Open AMD's libraries, which the plugin needs.

        Raises:
            VendorLibraryError: Some cannot be opened.
        """
        logger.debug("%s opened %s", self._plugin.distribution, self.preloaded.opened)

    def check(self) -> None:
        """Say so if several GPUs have little memory to exchange data through."""
        size = shared_memory(ROOT)
        if count_gpus(ROOT) > 1 and size <= SMALL_SHARED_MEMORY:
            logger.warning(
                "%s: /dev/shm has %d MiB, which RCCL may exhaust between several GPUs; in Docker: --shm-size=64g",
                self._plugin.distribution,
                size // 2**20,
            )

    def status(self) -> list[str]:
        """Return the libraries and the number of GPUs, for `python -m`."""
        return [*describe_libraries(self.preloaded), row("GPUs", str(count_gpus(ROOT)))]


def find_device() -> None:
    """Look for a GPU that this user may use.

    Raises:
        PluginError: There is none.
    """
    if count_gpus(ROOT) == 0:
        raise NoDeviceError(f"no AMD GPU found (looked in /{TOPOLOGY} and for /{WSL})")
    if not is_accessible(ROOT):
        raise DriverError(
            f"there is an AMD GPU, but /{KFD} may not be opened",
            cause="this user is not in the group it belongs to",
            remedy=f"sudo usermod --append --groups render,video $USER, and log in again (see ls -l /{KFD})",
        )


def library_folders(
    environ: Mapping[str, str], search_path: Sequence[str], root: Path
) -> tuple[list[Path], list[Path]]:
    """Return where ROCm's libraries may be, before and after what the dynamic linker finds itself.

    Args:
        environ: Environment, for `ROCM_PATH`.
        search_path: Python's search path, for AMD's wheels (`_rocm_sdk_core`, `_rocm_sdk_libraries_...`).
        root: The root of the file system.
    """
    named = [Path(environ["ROCM_PATH"]) / "lib"] if environ.get("ROCM_PATH") else []
    wheels = [folder for entry in search_path if entry for folder in sorted(Path(entry).glob("_rocm_sdk_*/lib"))]
    return [*named, *wheels], [root / "opt/rocm/lib", *sorted(root.glob("opt/rocm-7*/lib"), reverse=True)]
