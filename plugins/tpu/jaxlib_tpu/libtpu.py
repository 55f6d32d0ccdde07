# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the installed libtpu with the one this wheel requires."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .pjrt.errors import LibraryMissingError, VersionMismatchError
from .pjrt.lock import installed_version

logger = logging.getLogger(__name__)

PROJECT = "libtpu"

# JAX takes the library this names instead of the installed one.
OWN_LIBRARY = "TPU_LIBRARY_PATH"


def required_version(requirements: Sequence[str]) -> str:
    """Return the version that is required of libtpu; empty if none is.

    Args:
        requirements: Requirements in the form of PEP 508.

    >>> required_version(["jaxlib==0.11.2", "libtpu==0.0.48.1"])
    '0.0.48.1'
    """
    found = (re.fullmatch(rf"{PROJECT}\s*==\s*([^\s;]+).*", requirement) for requirement in requirements)
    return next((match[1] for match in found if match is not None), "")


def check_versions(distribution: str, required: str, installed: str | None) -> None:
    """Check that libtpu is there, in the version that was tested with this release.

    Raises:
        LibraryMissingError: It is not installed.
        VersionMismatchError: Another version is.
    """
    remedy = f"pip install {PROJECT}=={required}"
    if installed is None:
        raise LibraryMissingError(f"{distribution} needs {PROJECT} {required}, which is not installed", remedy=remedy)
    if installed != required:
        raise VersionMismatchError(
            f"{distribution} needs {PROJECT} {required}, and {installed} is installed",
            cause="a libtpu works only with the JAX release it was made for",
            remedy=remedy,
        )


def own_library(environ: Mapping[str, str], installed: Path | None) -> Path | None:
    """Return the library that the user named; None if that is the installed one.

    The package `libtpu` names itself in the same variable as soon as it is imported, which JAX does early.

    Args:
        environ: Environment, for `TPU_LIBRARY_PATH`.
        installed: The library in the installed package.
    """
    named = environ.get(OWN_LIBRARY)
    return Path(named) if named and Path(named) != installed else None


def check_libtpu(distribution: str, environ: Mapping[str, str]) -> None:
    """Check the libtpu that JAX will use, unless the user named another.

    Raises:
        PluginError: It is missing, or of another version.
    """
    if own_library(environ, installed_library()) is not None:
        logger.debug("%s is set: the version of libtpu is not checked", OWN_LIBRARY)
        return
    required = required_version(importlib.metadata.requires(distribution) or ())
    check_versions(distribution, required, installed_libtpu())


def describe_remedy(distribution: str) -> str:
    """Return what to do about a library that cannot be opened."""
    required = required_version(importlib.metadata.requires(distribution) or ())
    return f"pip install --force-reinstall {PROJECT}=={required}, or correct {OWN_LIBRARY} where it is set"


def installed_libtpu() -> str | None:
    """Return the version of the installed libtpu, or None."""
    version: str | None = installed_version(PROJECT)
    return version


def installed_library() -> Path | None:
    """Return the library of the installed libtpu, without importing the package that it lies in."""
    spec = importlib.machinery.PathFinder.find_spec(PROJECT)
    locations = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(locations))) / "libtpu.so" if locations else None


def library_path(environ: Mapping[str, str]) -> Path:
    """Return the library that JAX will use.

    Raises:
        LibraryMissingError: There is none.
    """
    installed = installed_library()
    path = own_library(environ, installed) or installed
    if path is None:
        raise LibraryMissingError(f"there is no package {PROJECT}", remedy=f"pip install --force-reinstall {PROJECT}")
    return path
