# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU kernels that come with a plugin: extension modules for some Pythons, which JAX imports itself."""

from __future__ import annotations

import importlib
import importlib.machinery
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .errors import TakeOverError, VersionMismatchError

logger = logging.getLogger(__name__)

OTHER_PYTHON = "use a Python that the wheel's description names"


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels of a backend.

    Attributes:
        package: The package in which JAX looks for them, such as `jax_cuda12_plugin`.
        extension: The module that registers targets with the plugin, such as `cuda_plugin_extension`.
    """

    package: str
    extension: str


def folder(kernels: Kernels) -> Path | None:
    """Return the folder of the kernels; None if there is none."""
    spec = importlib.machinery.PathFinder.find_spec(kernels.package)
    locations = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(locations))) if locations else None


def fitting(names: list[str], suffixes: list[str]) -> list[str]:
    """Return which modules a Python can import.

    Args:
        names: File names.
        suffixes: What that Python's extension modules end in, the most specific one first.

    >>> fitting(["_prng.cpython-312-x.so", "_prng.cpython-313-x.so"], [".cpython-312-x.so", ".abi3.so", ".so"])
    ['_prng']
    """
    specific = suffixes[0]
    return sorted(name.removesuffix(specific) for name in names if name.endswith(specific))


def modules(kernels: Kernels) -> list[str]:
    """Return the kernel modules that are there for this Python."""
    found = folder(kernels)
    if found is None:
        return []
    return fitting([entry.name for entry in found.iterdir()], importlib.machinery.EXTENSION_SUFFIXES)


def check_kernels(kernels: Kernels, distribution: str, release: str, version: str | None) -> None:
    """Check that nobody else's kernels of another release lie among those of a plugin: jaxlib would take neither.

    Args:
        kernels: The kernels.
        distribution: Name of the plugin's distribution.
        release: The release it belongs to.
        version: Version of the distribution that has the name of the kernels' package, if it is installed.

    Raises:
        VersionMismatchError: They do.
    """
    if version is not None and version != release:
        other = kernels.package.replace("_", "-")
        raise VersionMismatchError(
            f"{other} {version} is installed beside {distribution} {release}, which has kernels of its own",
            cause="jaxlib takes kernels of exactly its own version, and finds the version of the other ones",
            remedy=f"pip uninstall {other}",
        )


def check_precedence(
    kernels: Kernels,
    distribution: str,
    release: str,
    packages: Sequence[str],
    installed: Callable[[str], str | None],
) -> None:
    """Check that jaxlib takes these kernels, and not those that somebody else left for another version of the vendor's.

    Args:
        kernels: The kernels.
        distribution: Name of the plugin's distribution.
        release: The release it belongs to; jaxlib passes over kernels of others.
        packages: The packages in which jaxlib looks for kernels of the platform, in its order.
        installed: Gives the version of an installed distribution.

    Raises:
        TakeOverError: It takes others.
    """
    before = packages[: packages.index(kernels.package)] if kernels.package in packages else []
    others = [name for name in (package.replace("_", "-") for package in before) if installed(name) == release]
    if others:
        raise TakeOverError(
            f"jaxlib takes the kernels of {' and '.join(others)} before those of {distribution}",
            cause="they are made for another version of the vendor's libraries, and would run with this plugin",
            remedy=f"pip uninstall {' '.join(others)}",
        )


def import_module(kernels: Kernels, name: str) -> ModuleType | None:
    """Return one of the kernel modules, or None if this Python has it not."""
    try:
        return importlib.import_module(f"{kernels.package}.{name}")
    except ImportError:
        return None


def describe_absence(distribution: str, version: tuple[int, int]) -> str:
    """Return what to tell users of a Python for which there are no kernels."""
    python = ".".join(map(str, version))
    return (
        f"{distribution} has no GPU kernels for Python {python}: JAX runs, but solvers, sparse matrices, Mosaic and "
        "host callbacks fail on the GPU"
    )


def find_extension(distribution: str, kernels: Kernels) -> ModuleType | None:
    """Return the module that registers targets; where it cannot be imported, say why and return None."""
    try:
        return importlib.import_module(f"{kernels.package}.{kernels.extension}")
    except ImportError as error:
        if modules(kernels):
            logger.warning("%s cannot import its GPU kernels, JAX runs without them: %s", distribution, error)
        else:
            logger.warning("%s; %s", describe_absence(distribution, sys.version_info[:2]), OTHER_PYTHON)
        return None
