# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Install from a lock with whatever installer is there: old versions of pip get it as a requirements file."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jaxlib_select.doctor.environment import Environment, normalize
from jaxlib_select.errors import UsageError
from jaxlib_select.install.commands import Installer
from jaxlib_select.lock.check import Lock
from jaxlib_select.lock.document import Table
from jaxlib_select.lock.forms import write_requirements
from jaxlib_select.lock.places import local_file
from jaxlib_select.versions import read_version

# The first version of pip that takes a dependency group from pylock.toml.
_PIP_WITH_GROUPS = (26, 3)


def choose_group(lock: Lock, asked: str | None) -> str:
    """Return the group to install.

    Raises:
        UsageError: The lock has no such group.
    """
    group = asked if asked is not None else lock.default
    if group not in lock.groups:
        raise UsageError(f"{lock.path} has no group {group!r}", remedy=f"it has: {', '.join(lock.groups)}")
    return group


def names_of(lock: Lock, group: str) -> set[str]:
    """Return the distributions that a group installs."""
    if lock.document:
        return {normalize(package["name"]) for package in lock.groups[group].packages}
    return {normalize(name) for name in re.findall(r"(?m)^([A-Za-z0-9._-]+)==", lock.path.read_text("utf-8"))}


@contextlib.contextmanager
def apply_lock(
    lock: Lock, group: str, environment: Environment, installer: Installer, options: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Return the command that installs a group of a lock; what it needs is there as long as the block lasts.

    Args:
        lock: The lock.
        group: The group.
        environment: The environment.
        installer: What installs.
        options: Further options of the installer.
    """
    path = str(lock.path)
    if not lock.document:
        yield installer.install(("-r", path), options=options)
    elif installer.kind == "uv":
        yield installer.install(("-r", path, *(("--group", group) if group != lock.default else ())), options=options)
    elif (read_version(environment.version_of("pip") or "") or ()) >= _PIP_WITH_GROUPS:
        yield installer.install(
            ("-r", path) if group == lock.default else ("--group", f"{path}:{group}"), options=options
        )
    else:
        packages = lock.groups[group].packages
        with tempfile.TemporaryDirectory(prefix="jaxlib-select-") as folder:
            file = Path(folder) / "requirements.txt"
            found = [*options, *_link_options(packages, lock.path.absolute().parent)]
            plain = [{key: value for key, value in package.items() if key != "marker"} for package in packages]
            file.write_text(write_requirements(replace(lock.groups[group], packages=tuple(plain)), {}, found), "utf-8")
            yield installer.install(("-r", str(file)), options=("--no-deps",))


def _link_options(packages: Sequence[Table], home: Path) -> list[str]:
    """Return where the files lie that are on this machine."""
    folders: dict[str, None] = {}
    for package in packages:
        for wheel in package.get("wheels", []):
            place = _local_file(wheel, home)
            if place is not None:
                folders[str(place.parent)] = None
    return [text for folder in folders for text in ("--find-links", folder)]


def _local_file(wheel: Mapping[str, object], home: Path) -> Path | None:
    if "path" in wheel:
        return home / str(wheel["path"])
    return local_file(str(wheel.get("url", "")))
