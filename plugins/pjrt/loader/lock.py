# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check, before anything is opened, that a plugin and jaxlib were built for each other."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, fields
from pathlib import Path

from . import installed
from .errors import (
    JaxlibMissingError,
    LockMismatchError,
    LockMissingError,
    OtherSetError,
    Remedy,
    VersionMismatchError,
)
from .installed import check_interpreter, find_own_plugins, installed_version, pip_command, wheels_of

LOCK_FILENAME = "release_lock.json"


@dataclass(frozen=True, slots=True)
class Lock:
    """The lock document of one wheel.

    Attributes:
        release: The JAX release the wheel belongs to; the oldest one where it is for upstream's jaxlib.
        build: Number of the set; where its version says nothing of it, the build tag of its jaxlib.
        provider: Where the plugin library comes from.
        lock_id: Identity of all inputs of the set; empty in a plugin for upstream's jaxlib.
        version: Version of every wheel of the set, such as `0.11.2+split.1`; the newest jaxlib without a set.
    """

    release: str
    build: int
    provider: str
    lock_id: str
    version: str


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
        return Lock(**{item.name: table[item.name] for item in fields(Lock)})
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


def reinstall_pair(distribution: str, version: str, *, upstream: bool = False) -> Remedy:
    """Return what installs a matching pair, with the plugin's kernels if it has any here.

    A plugin for upstream's jaxlib stays as it is: only JAX is of another release.
    """
    if upstream:
        return Remedy(pip_command(f"install jax=={version} jaxlib=={version}"))
    return Remedy(
        pip_command(f"install --force-reinstall --no-deps jaxlib=={version} {_exactly(distribution, version)}"),
        "add the --find-links or --index-url that both wheels came from",
    )


def _exactly(distribution: str, version: str) -> str:
    return " ".join(f"{name}=={version}" for name in wheels_of(distribution))


def pin(package: Path) -> str:
    """Return what pins JAX to the release of the plugin in `package`; empty if its lock is unreadable."""
    lock = _find_lock(package)
    return f"=={lock.release}" if lock is not None else ""


def pin_set(package: Path) -> str:
    """Return what pins a wheel of ours to the set of the plugin in `package`; empty if its lock is unreadable."""
    lock = _find_lock(package)
    return f"=={lock.version}" if lock is not None else ""


def check_locks(distribution: str, plugin: Lock, jaxlib: Lock, *, own: bool = True, name: str = "jaxlib") -> None:
    """Compare the locks of a plugin and of jaxlib, or of its kernels, whose `name` is that of their distribution.

    `own`: the set of that jaxlib has a plugin of this name.

    Raises:
        OtherSetError: They belong to different sets, and that of the jaxlib has no such plugin.
        VersionMismatchError: They belong to different releases.
        LockMismatchError: They belong to one release, but to different builds of it.
    """
    if plugin.lock_id != jaxlib.lock_id and not own:
        raise OtherSetError(
            f"{distribution} {plugin.version} was built for another jaxlib than the installed {jaxlib.version}",
            cause=f"it has the lock {plugin.lock_id}, jaxlib has {jaxlib.lock_id}",
            remedy=Remedy(
                pip_command(f"install --force-reinstall --no-deps {_exactly(distribution, jaxlib.version)}"),
                "add the --find-links or --index-url that it came from; or remove it: "
                + pip_command(f"uninstall {' '.join(wheels_of(distribution))}"),
            ),
        )
    remedy = reinstall_pair(distribution, plugin.version, upstream=not plugin.lock_id)
    if plugin.release != jaxlib.release:
        raise VersionMismatchError(
            f"{distribution} {plugin.version} cannot run with {name} {jaxlib.version}",
            cause=f"a plugin works only with the {name} that it was made for",
            remedy=remedy,
        )
    if plugin.lock_id != jaxlib.lock_id:
        raise LockMismatchError(
            f"{distribution} {plugin.version} (lock {plugin.lock_id}, {plugin.provider}) and {name} "
            f"{jaxlib.version} (lock {jaxlib.lock_id}, {jaxlib.provider}) are not of one build",
            cause="the versions are equal, but the two wheels were built from different inputs"
            if plugin.version == jaxlib.version
            else "they are of one release, but of different sets of wheels",
            remedy=remedy,
        )


def _require_lock(owner: str, package: Path, cause: str, remedy: Remedy) -> Lock:
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
        OtherSetError: They belong to different sets, and that of the jaxlib has no such plugin.
        VersionMismatchError: They belong to different releases.
        LockMismatchError: They belong to different builds of one release.

    A plugin for upstream's jaxlib takes any jaxlib of its releases: ours has the same bindings.
    """
    check_interpreter(distribution)
    remedy = reinstall_pair(distribution, installed_version(distribution) or "VERSION")
    incomplete = "the installation is incomplete"
    plugin = _require_lock(distribution, package, incomplete, remedy)
    remedy = reinstall_pair(distribution, plugin.version, upstream=not plugin.lock_id)
    if jaxlib is None:
        raise JaxlibMissingError(
            f"{distribution} {plugin.version} needs jaxlib {plugin.version}, which is not installed",
            remedy=remedy,
        )
    other = installed_version("jaxlib")
    if not plugin.lock_id:
        if other is not None and not installed.is_between(plugin.release, other, plugin.version):
            check_locks(distribution, plugin, Lock(other, 0, "", "", other))
        return plugin
    if other is not None and other != plugin.release and not (jaxlib / LOCK_FILENAME).exists():
        check_locks(distribution, plugin, Lock(other, 0, "", "", other))
    foreign = "this jaxlib was not built together with the plugin; the one of the package index carries no lock"
    found = _require_lock("jaxlib", jaxlib, foreign, remedy)
    plugins = find_own_plugins()
    check_locks(distribution, plugin, found, own=plugins is None or distribution in plugins)
    return plugin
