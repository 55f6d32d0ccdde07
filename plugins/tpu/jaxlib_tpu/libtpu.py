# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the installed libtpu with the one this wheel requires."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from .pjrt.errors import LibraryMissingError, Remedy, VersionMismatchError
from .pjrt.installed import installed_version, package_directory, pip_command
from .pjrt.plugin import Plugin

logger = logging.getLogger(__name__)

PROJECT = "libtpu"

# In the package: which libtpu the wheel was built for.
_PROVENANCE_FILENAME = "provenance.json"

# JAX takes the library this names instead of the installed one.
_OWN_LIBRARY = "TPU_LIBRARY_PATH"


def required_version(plugin: Plugin) -> str:
    """Return the version of libtpu that belongs to a wheel.

    The wheel says so in the package itself, which is there even where the distribution's metadata is not.
    """
    return str(json.loads((plugin.package / _PROVENANCE_FILENAME).read_text("utf-8"))["version"])


def check_versions(distribution: str, required: str, installed: str | None) -> None:
    """Check that libtpu is there, in the version that was tested with this release.

    Raises:
        LibraryMissingError: It is not installed.
        VersionMismatchError: Another version is.
    """
    remedy = pip_command(f"install {PROJECT}=={required}")
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
    """
    named = environ.get(_OWN_LIBRARY)
    return Path(named) if named and Path(named) != installed else None


def check_libtpu(plugin: Plugin, environ: Mapping[str, str]) -> None:
    """Check the libtpu that JAX will use, unless the user named another.

    Raises:
        PluginError: It is missing, or of another version.
    """
    if own_library(environ, _installed_library()) is not None:
        logger.debug("%s is set: the version of libtpu is not checked", _OWN_LIBRARY)
        return
    check_versions(plugin.distribution, required_version(plugin), installed_version(PROJECT))


def describe_remedy(plugin: Plugin) -> Remedy:
    """Return what to do about a library that cannot be opened."""
    required = required_version(plugin)
    note = f"where {_OWN_LIBRARY} is set, correct it instead"
    return Remedy(pip_command(f"install --force-reinstall {PROJECT}=={required}"), note)


def _installed_library() -> Path | None:
    """Return the library of the installed libtpu, without importing the package that it lies in."""
    folder = package_directory(PROJECT)
    return folder / "libtpu.so" if folder is not None else None


def library_path(environ: Mapping[str, str]) -> Path | None:
    """Return the library that JAX will use; None if there is none."""
    installed = _installed_library()
    return own_library(environ, installed) or installed
