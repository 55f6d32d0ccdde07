# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed here, without importing it: packages, their versions, and whether Python and JAX suit a plugin."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import re
import sys
from pathlib import Path

from .errors import InterpreterError, JaxMissingError, VersionMismatchError

_GIL_ONLY = re.compile(r"\.abi3[.-]")  # the stable ABI of PEP 384; `.abi3t.` is that of PEP 803

_PROJECT = re.compile(r"[\w.-]+")


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def kernels_of(distribution: str) -> str:
    """Return the distribution that the kernels of a plugin of ours come in."""
    return f"{distribution}-kernels"


def wheels_of(distribution: str) -> tuple[str, ...]:
    """Return a plugin's distribution, and that of its kernels if it is installed."""
    kernels = kernels_of(distribution)
    return (distribution, kernels) if installed_version(kernels) is not None else (distribution,)


def owners_of(package: str) -> dict[str, str]:
    """Return the distributions that have files in a package, with their versions; none if there is no such package."""
    # Without the package, all metadata would be read for nothing.
    found = importlib.metadata.packages_distributions() if package_directory(package) is not None else {}
    return {name: importlib.metadata.version(name) for name in found.get(package, [])}


def find_own_plugins() -> frozenset[str] | None:
    """Return the distributions that the extras of the installed jaxlib ask for: the plugins of its set.

    None where that is not known: jaxlib has no metadata, as a folder on PYTHONPATH, or no extras.
    """
    try:
        requires = importlib.metadata.requires("jaxlib") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (_PROJECT.match(line) for line in requires if "extra ==" in line)
    return frozenset(re.sub(r"[-_.]+", "-", match[0]).lower() for match in found if match is not None) or None


def package_directory(package: str) -> Path | None:
    """Return the directory of a package that is or would be imported, without importing it; None if there is none."""
    return next(iter(find_folders(package)), None)


def pip_command(arguments: str) -> str:
    """Return a command of pip's for this environment, to be shown to the user.

    Where it has no pip, as those that uv makes, the `pip` that a shell finds is another environment's.
    """
    return f"pip {arguments}" if package_directory("pip") is not None else f"uv pip {arguments}"


def find_folders(package: str) -> list[Path]:
    """Return every directory of a package: a namespace package may have several, and one that is absent has none."""
    imported = sys.modules.get(package)
    spec = imported.__spec__ if imported is not None else importlib.machinery.PathFinder.find_spec(package)
    return [Path(location) for location in (spec.submodule_search_locations or ())] if spec is not None else []


def is_free_threaded() -> bool:
    """Whether this Python is one without the GIL (PEP 703), even if the GIL was switched on again."""
    return "t" in getattr(sys, "abiflags", "")  # which Windows does not have


def find_extension() -> Path | None:
    """Return the file that this Python imports the extension from: the first one by the order of its suffixes."""
    files = (Path(__file__).with_name(f"_pjrt{suffix}") for suffix in importlib.machinery.EXTENSION_SUFFIXES)
    return next((file for file in files if file.is_file()), None)


def check_interpreter(distribution: str) -> None:
    """Check that the plugin's extension is made for the ABI of this Python.

    Installers see to that, but a copied folder or PYTHONPATH goes past them. A free-threaded Python before 3.15 takes
    the file for Pythons with the GIL where it has none of its own, and finds no module in it: SystemError, if not a
    crash.

    Raises:
        InterpreterError: It is not.
    """
    file = find_extension()
    if is_free_threaded() and file is not None and _GIL_ONLY.search(file.name):
        python = ".".join(map(str, sys.version_info[:2]))
        raise InterpreterError(
            f"{distribution} cannot be loaded by this free-threaded Python ({python}{sys.abiflags})",
            cause=f"of its extension, only {file.name} would be imported, which is for Pythons with the GIL",
            remedy=f"use python{python} in place of python{python}{sys.abiflags}, or a newer free-threaded one",
        )


def check_jax(release: str, installed: str | None) -> None:
    """Check that there is a JAX that takes the jaxlib of a release, which is empty where it is not known.

    Raises:
        JaxMissingError: There is none.
        VersionMismatchError: It is older than the release; JAX refuses a jaxlib that is newer than itself.
    """
    remedy = pip_command(f"install jax=={release}" if release else "install jax")
    if installed is None:
        raise JaxMissingError("JAX itself is not installed", remedy=remedy)
    if release and _numbers(installed) < _numbers(release):
        raise VersionMismatchError(f"jax {installed} refuses the newer jaxlib {release}", remedy=remedy)


def is_between(oldest: str, version: str, newest: str) -> bool:
    """Return whether a version, whatever its label, is one of these two or between them.

    >>> [is_between("0.11.2", version, "0.12.0") for version in ("0.11.1", "0.11.2+split.1", "0.12.0", "0.12.0.1")]
    [False, True, True, False]
    """
    return _numbers(oldest) <= _numbers(version) <= _numbers(newest)


def _numbers(version: str) -> list[int]:
    """Return the numbers that a version begins with.

    >>> _numbers("0.11.2"), _numbers("0.11.2.dev20260101")
    ([0, 11, 2], [0, 11, 2])
    """
    match = re.match(r"\d+(\.\d+)*", version)
    return [int(part) for part in match.group().split(".")] if match is not None else []
