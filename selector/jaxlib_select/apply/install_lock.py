# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Install from a lock file with whatever installer is there: old versions of pip get it as a requirements file."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from jaxlib_select.apply.formats import only_about, write_requirements
from jaxlib_select.apply.installer import Installer
from jaxlib_select.apply.locations import local_file, sources_in
from jaxlib_select.apply.lock_file import LockFile
from jaxlib_select.apply.plan import has_foreign_jaxlib, is_ours
from jaxlib_select.apply.pylock import Table
from jaxlib_select.errors import UsageError
from jaxlib_select.installed.environment import Environment
from jaxlib_select.names import normalize, squeeze
from jaxlib_select.versions import read_version

# The first version of pip that takes a dependency group from pylock.toml.
_PIP_WITH_GROUPS = (26, 3)


class Preparation(NamedTuple):
    """What it takes to install a group.

    Attributes:
        commands: The commands.
        made: Files that they read, which are there only as long as the block of `apply_lock` lasts.
    """

    commands: tuple[tuple[str, ...], ...]
    made: tuple[Path, ...] = ()


def choose_group(lock: LockFile, asked: str | None) -> str:
    """Return the group to install; a `UsageError` if the lock has none of that name."""
    wanted = asked if asked is not None else lock.default
    group = next((name for name in lock.groups if squeeze(name) == squeeze(wanted)), None)
    if group is None:
        raise UsageError(f"{lock.path} has no group {wanted!r}", remedy=f"it has: {', '.join(lock.groups)}")
    return group


def versions_of(lock: LockFile, group: str) -> dict[str, str]:
    """Return the distributions that a group installs, with their versions."""
    if lock.document:
        return {normalize(package["name"]): package["version"] for package in lock.groups[group].packages}
    pinned = re.findall(r"(?m)^([A-Za-z0-9._-]+)==(\S+)", lock.path.read_text("utf-8"))
    return {normalize(name): version for name, version in pinned}


@contextlib.contextmanager
def apply_lock(
    lock: LockFile,
    group: str,
    environment: Environment,
    installer: Installer,
    options: Sequence[str],
) -> Iterator[Preparation]:
    """Return the commands that install a group; what they need is there as long as the block lasts."""
    versions = versions_of(lock, group)
    again = any(map(is_ours, versions)) and has_foreign_jaxlib(environment, versions.get("jaxlib", ""))
    if installer.kind == "uv":
        named = ("--group", group) if lock.document and group != lock.default else ()
        forced = ("--reinstall-package", "jaxlib") if again else ()
        yield Preparation((installer.install(("-r", str(lock.path), *named), options=(*forced, *options)),))
        return
    with tempfile.TemporaryDirectory(prefix="jaxlib-select-") as name:
        folder = Path(name)
        exchange = (_exchange_jaxlib(lock, group, installer, options, folder),) if again else ()
        commands = (*exchange, _with_pip(lock, group, environment, installer, options, folder))
        yield Preparation(commands, tuple(sorted(folder.iterdir())))


def _with_pip(
    lock: LockFile, group: str, environment: Environment, installer: Installer, options: Sequence[str], folder: Path
) -> tuple[str, ...]:
    """Return the command of pip that installs a group, as a requirements file if it is too old for groups."""
    path = str(lock.path)
    if not lock.document:
        return installer.install(("-r", path), options=options)
    if (read_version(environment.version_of("pip") or "") or ()) >= _PIP_WITH_GROUPS:
        named = ("-r", path) if group == lock.default else ("--group", f"{path}:{group}")
        return installer.install(named, options=options)
    file = folder / "requirements.txt"
    file.write_text(_as_requirements(lock, group, options), "utf-8")
    return installer.install(("-r", str(file)), options=("--no-deps",))


def _exchange_jaxlib(
    lock: LockFile, group: str, installer: Installer, options: Sequence[str], folder: Path
) -> tuple[str, ...]:
    """Return the command of pip that installs the jaxlib of a lock over another one of the same version."""
    text = _as_requirements(lock, group, options) if lock.document else lock.path.read_text("utf-8")
    file = folder / "jaxlib.txt"
    file.write_text(only_about("jaxlib", text), "utf-8")
    more = () if lock.document else tuple(options)
    return installer.install(("-r", str(file)), options=("--force-reinstall", "--no-deps", *more))


def _as_requirements(lock: LockFile, group: str, options: Sequence[str]) -> str:
    packages = lock.groups[group].packages
    found = [*(options or sources_in(lock.evidence.arguments)), *_link_options(packages, lock.path.absolute().parent)]
    plain = [{key: value for key, value in package.items() if key != "marker"} for package in packages]
    return write_requirements(replace(lock.groups[group], packages=tuple(plain)), None, found)


def _link_options(packages: Sequence[Table], home: Path) -> list[str]:
    wheels = [wheel for package in packages for wheel in package.get("wheels", [])]
    places = [home / wheel["path"] if "path" in wheel else local_file(wheel.get("url", "")) for wheel in wheels]
    folders = dict.fromkeys(str(place.parent) for place in places if place is not None)
    return [text for folder in folders for text in ("--find-links", folder)]
