# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The GPU kernels that go with a plugin: extension modules for one Python, which JAX imports itself."""

from __future__ import annotations

import importlib
import importlib.machinery
import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .errors import KernelsMissingError, TakeOverError, VersionMismatchError
from .installed import installed_version, is_free_threaded, kernels_of, package_directory, pip_command

logger = logging.getLogger(__name__)

# What extension modules are named after that only one version of CPython can import (PEP 3149).
_PYTHON = re.compile(r"\.cpython-(3)(\d+)(t?)-")


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels of a backend.

    Attributes:
        package: The package in which JAX looks for them, such as `jax_cuda12_plugin`.
        extension: The module that registers targets with the plugin, such as `cuda_plugin_extension`.
    """

    package: str
    extension: str


@dataclass(frozen=True, slots=True)
class InstalledKernels:
    """The kernels that are there.

    Attributes:
        package: The package in which JAX looks for them.
        location: Its folder; None if there is none.
        modules: Those for this Python.
        pythons: Every Python that there are some for, such as `3.12` or `3.14t`.
    """

    package: str
    location: Path | None
    modules: tuple[str, ...]
    pythons: tuple[str, ...]


def find_kernels(kernels: Kernels) -> InstalledKernels:
    """Return the kernels that are there."""
    location = package_directory(kernels.package)
    names = [entry.name for entry in location.iterdir()] if location is not None else []
    found = {(int(match[1]), int(match[2]), match[3]) for match in map(_PYTHON.search, names) if match is not None}
    return InstalledKernels(
        package=kernels.package,
        location=location,
        modules=tuple(fitting(names, importlib.machinery.EXTENSION_SUFFIXES)),
        pythons=tuple(f"{major}.{minor}{flag}" for major, minor, flag in sorted(found)),
    )


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


def check_kernels(kernels: Kernels, distribution: str, release: str, version: str | None) -> None:
    """Check that no other kernels, of another release, are installed: jaxlib would take neither.

    Others are installed if a distribution has the name of the kernels' package; `version` is its version.

    Raises:
        VersionMismatchError: They are.
    """
    if version is not None and version != release:
        other = kernels.package.replace("_", "-")
        raise VersionMismatchError(
            f"{other} {version} is installed in addition to {distribution} {release}, which has kernels of its own",
            cause="jaxlib takes kernels of exactly its own version, and finds the version of the other ones",
            remedy=pip_command(f"uninstall {other}"),
        )


def check_precedence(
    kernels: Kernels,
    distribution: str,
    release: str,
    packages: Sequence[str],
    owners: Callable[[str], Mapping[str, str]],
) -> None:
    """Check that jaxlib takes these kernels, and not leftovers for another version of the vendor's libraries.

    It takes the first of its `packages` for the platform, unless that is upstream's and of another release; `owners`
    returns the distributions that have files in one, with their versions.

    Raises:
        TakeOverError: It takes others.
    """
    before = packages[: packages.index(kernels.package)] if kernels.package in packages else []
    found = {owner: package.replace("_", "-") for package in before for owner in owners(package).items()}
    others = [name for (name, version), upstream in found.items() if name != upstream or version == release]
    if others:
        raise TakeOverError(
            f"jaxlib takes the kernels of {' and '.join(others)} before those of {distribution}",
            cause="they are made for another version of the vendor's libraries, and would run with this plugin",
            remedy=pip_command(f"uninstall {' '.join(others)}"),
        )


def import_module(kernels: Kernels, name: str) -> ModuleType | None:
    """Return one of the kernel modules, or None if there is none for this Python."""
    try:
        return importlib.import_module(f"{kernels.package}.{name}")
    except ImportError:
        return None


def check_python(distribution: str, kernels: InstalledKernels) -> None:
    """Check that there are kernels for this Python.

    Raises:
        KernelsMissingError: There are none.
    """
    if not kernels.modules:
        python = ".".join(map(str, sys.version_info[:2])) + ("t" if is_free_threaded() else "")
        wanted = "==".join(filter(None, (kernels_of(distribution), installed_version(distribution))))
        raise KernelsMissingError(
            f"{distribution} has no GPU kernels for Python {python}: JAX runs, but solvers, sparse matrices, Mosaic "
            "and host callbacks fail on the GPU",
            remedy=pip_command(f"install --force-reinstall --no-deps {wanted}"),
        )


def find_extension(distribution: str, kernels: Kernels) -> ModuleType | None:
    """Return the module that registers targets; where it cannot be imported, say why and return None."""
    try:
        return importlib.import_module(f"{kernels.package}.{kernels.extension}")
    except ImportError as error:
        try:
            check_python(distribution, find_kernels(kernels))
        except KernelsMissingError as absence:
            logger.warning("%s; %s", absence.what, absence.remedy)
        else:
            logger.warning("%s cannot import its GPU kernels, JAX runs without them: %s", distribution, error)
        return None
