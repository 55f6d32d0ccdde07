# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check, before anything is opened, that a plugin and jaxlib were built for each other."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

from .errors import JaxlibMissingError, LockMismatchError, LockMissingError, VersionMismatchError
from .installed import check_interpreter, installed_version

LOCK_FILENAME = "release_lock.json"


@dataclass(frozen=True, slots=True)
class Lock:
    """The lock document of one wheel.

    Attributes:
        release: The JAX release the wheel belongs to.
        build: Build tag of the jaxlib of the same set.
        provider: Where the plugin library comes from.
        lock_id: Identity of all inputs of the set.
    """

    release: str
    build: int
    provider: str
    lock_id: str


@dataclass(frozen=True, slots=True)
class Installed:
    """A package that is installed here.

    Attributes:
        version: Version of its distribution; None if that is not installed.
        location: Its folder; None if there is none.
        lock: Its release lock; None if it has none that can be read.
    """

    version: str | None
    location: Path | None = None
    lock: Lock | None = None


def _read_lock(package: Path) -> Lock:
    """Return the release lock of the package in a folder.

    Raises:
        OSError, ValueError: There is none that can be read.
    """
    try:
        table = json.loads((package / LOCK_FILENAME).read_text("utf-8"))
        return Lock(
            release=str(table["release"]),
            build=int(table["build"]),
            provider=str(table["provider"]),
            lock_id=str(table["lock_id"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no release lock: {error!r}") from error


def _find_lock(package: Path | None) -> Lock | None:
    """Return the release lock of the package in a folder; None if there is none that can be read.

    It lies in the package itself, and is there even where the distribution's metadata is not.
    """
    with contextlib.suppress(OSError, ValueError):
        return _read_lock(package) if package is not None else None
    return None


def read_installed(distribution: str, location: Path | None) -> Installed:
    """Return what is installed of a distribution whose package lies in a folder, if it has one."""
    return Installed(installed_version(distribution), location, _find_lock(location))


def install_command(distribution: str, release: str) -> str:
    """Return the command that installs a matching pair."""
    return (
        f"pip install --force-reinstall --no-deps jaxlib=={release} {distribution}=={release} "
        "(with the --find-links or --index-url that both wheels came from)"
    )


def pin(package: Path) -> str:
    """Return what pins a requirement to the release of the plugin in `package`; empty if its lock is unreadable."""
    lock = _find_lock(package)
    return f"=={lock.release}" if lock is not None else ""


def check_locks(distribution: str, plugin: Lock, jaxlib: Lock) -> None:
    """Compare the locks of a plugin and of jaxlib.

    Raises:
        VersionMismatchError: They belong to different releases.
        LockMismatchError: They belong to one release, but to different builds of it.
    """
    remedy = f"install a matching pair: {install_command(distribution, plugin.release)}"
    if plugin.release != jaxlib.release:
        raise VersionMismatchError(
            f"{distribution} {plugin.release} cannot run with jaxlib {jaxlib.release}",
            cause="a plugin works only with the jaxlib of exactly its own version",
            remedy=remedy,
        )
    if plugin.lock_id != jaxlib.lock_id:
        raise LockMismatchError(
            f"{distribution} {plugin.release} (lock {plugin.lock_id}, {plugin.provider}) and jaxlib "
            f"{jaxlib.release} (lock {jaxlib.lock_id}, {jaxlib.provider}) are not of one build",
            cause="the versions are equal, but the two wheels were built from different inputs",
            remedy=remedy,
        )


def _require_lock(owner: str, package: Path, cause: str, remedy: str) -> Lock:
    try:
        return _read_lock(package)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise LockMissingError(
            f"{owner} has no readable release lock: {package / LOCK_FILENAME} ({reason})", cause=cause, remedy=remedy
        ) from error


def check_release(distribution: str, package: Path, jaxlib: Path | None) -> Lock:
    """Check that the plugin and the jaxlib in these folders are of one build, and return their lock.

    Raises:
        InterpreterError: This Python can load no plugin.
        JaxlibMissingError: There is no jaxlib.
        LockMissingError: One of the two has no lock.
        VersionMismatchError: They belong to different releases.
        LockMismatchError: They belong to different builds of one release.
    """
    check_interpreter(distribution)
    command = install_command(distribution, installed_version(distribution) or "VERSION")
    incomplete = "the installation is incomplete"
    plugin = _require_lock(distribution, package, incomplete, f"install a matching pair: {command}")
    command = install_command(distribution, plugin.release)
    if jaxlib is None:
        raise JaxlibMissingError(
            f"{distribution} {plugin.release} needs jaxlib {plugin.release}, which is not installed",
            remedy=f"install it: {command}",
        )
    other = installed_version("jaxlib")
    if other is not None and other != plugin.release and not (jaxlib / LOCK_FILENAME).exists():
        check_locks(distribution, plugin, Lock(other, 0, "", ""))
    foreign = "this jaxlib was not built together with the plugin; the one of the package index carries no lock"
    check_locks(distribution, plugin, _require_lock("jaxlib", jaxlib, foreign, f"install a matching pair: {command}"))
    return plugin
